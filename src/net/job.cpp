// Decided here: DMLC_* (MXNet's launcher and ours) comes first, then torchrun, Open MPI and Slurm,
// whose processes are all workers; the worker of rank 0 then runs the scheduler's service. An
// address other machines reach needs a token.

#include "net/job.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/files.h"
#include "base/settings.h"

namespace symbind::net {
namespace {

constexpr int kMostProcesses = 65536;

std::string text(const char* name) { return settings::text(name); }

int count(const char* name, int least, int most) {
  return static_cast<int>(settings::number(name, least, most));
}

double seconds(const char* name) {
  const std::string given = text(name);
  char* end = nullptr;
  const double value = std::strtod(given.c_str(), &end);
  check(!given.empty() && *end == '\0' && value >= 0.1 && value <= 86400,
        "{}='{}' is not a number of seconds between 0.1 and 86400", name, given);
  return value;
}

std::string read_token_file(const std::string& path) {
  struct stat facts {};
  check(stat(path.c_str(), &facts) == 0, ErrorKind::kIo,
        "SYMBIND_DIST_TOKEN_FILE names {}, which cannot be read", path);
  check((facts.st_mode & 077) == 0, ErrorKind::kIo,
        "the token file {} can be read by others (mode {:o})\n  fix:  chmod 600 {}", path,
        facts.st_mode & 0777, path);
  const std::vector<std::byte> bytes = read_file(path);
  std::string token(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!token.empty() && (token.back() == '\n' || token.back() == ' ')) token.pop_back();
  return token;
}

std::string read_token() {
  std::string token = text("SYMBIND_DIST_TOKEN");
  const std::string file = text("SYMBIND_DIST_TOKEN_FILE");
  check(token.empty() || file.empty(), ErrorKind::kState,
        "SYMBIND_DIST_TOKEN and SYMBIND_DIST_TOKEN_FILE are both set\n  fix:  unset one of them");
  if (!file.empty()) token = read_token_file(file);
  if (token.empty()) return token;
  check(token.size() == 64 && token.find_first_not_of("0123456789abcdefABCDEF") == token.npos,
        "the job token must have 64 hexadecimal digits (256 bits); it has {} characters\n  fix:  "
        "openssl rand -hex 32",
        token.size());
  return token;
}

Role role_of(const std::string& name) {
  for (const Role role : {Role::kWorker, Role::kServer, Role::kScheduler})
    if (name == role_name(role)) return role;
  fail(ErrorKind::kName, "DMLC_ROLE='{}' is neither worker, server nor scheduler", name);
}

Job dmlc_job() {
  Job job;
  job.source = "DMLC_ROLE";
  job.role = role_of(text("DMLC_ROLE"));
  for (const char* name : {"DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER"})
    check(!text(name).empty(), ErrorKind::kState,
          "DMLC_ROLE is set but {} is not\n  fix:  start the job with python -m symbind.launch",
          name);
  job.workers = count("DMLC_NUM_WORKER", 1, kMostProcesses);
  if (!text("DMLC_NUM_SERVER").empty()) job.servers = count("DMLC_NUM_SERVER", 0, kMostProcesses);
  job.host = text("DMLC_PS_ROOT_URI");
  job.port = count("DMLC_PS_ROOT_PORT", 1, 65535);
  if (!text("SYMBIND_DIST_RANK").empty())
    job.rank =
        count("SYMBIND_DIST_RANK", 0, (job.role == Role::kServer ? job.servers : job.workers) - 1);
  return job;
}

/// A program that starts one process per worker and numbers them.
struct Starter {
  const char* name;
  const char* rank;
  const char* size;
  const char* job;  ///< a number that differs between the jobs of a machine
};

constexpr Starter kStarters[] = {
    {"torchrun", "RANK", "WORLD_SIZE", ""},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
};

void set_address(Job& job, const Starter& starter) {
  if (!text("MASTER_ADDR").empty()) {
    job.host = text("MASTER_ADDR");
    job.port = count("MASTER_PORT", 1, 65534);
    // torchrun listens at the port itself.
    if (!text("TORCHELASTIC_RUN_ID").empty()) ++job.port;
    return;
  }
  const bool one_machine = std::string(starter.name) == "Slurm"
                               ? text("SLURM_NNODES") == "1"
                               : text("OMPI_COMM_WORLD_LOCAL_SIZE") == text(starter.size);
  check(one_machine, ErrorKind::kState,
        "{} starts this job on several machines, and MASTER_ADDR does not name the machine of rank "
        "0\n  fix:  set MASTER_ADDR and MASTER_PORT for all processes",
        starter.name);
  const std::string number = text(starter.job);
  job.port = 20000 + static_cast<int>(std::strtoull(number.c_str(), nullptr, 10) % 20000);
}

std::optional<Job> started_job() {
  for (const Starter& starter : kStarters) {
    if (text(starter.rank).empty() || text(starter.size).empty()) continue;
    Job job;
    job.source = starter.rank;
    job.workers = count(starter.size, 1, kMostProcesses);
    job.rank = count(starter.rank, 0, job.workers - 1);
    job.runs_scheduler = job.rank == 0;
    set_address(job, starter);
    return job;
  }
  return std::nullopt;
}

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::kWorker: return "worker";
    case Role::kServer: return "server";
    case Role::kScheduler: return "scheduler";
  }
  return "?";
}

std::string Job::scheduler_address() const {
  const bool v6 = host.find(':') != host.npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

std::optional<Job> job_of_environment() {
  settings::refresh();
  std::optional<Job> job;
  if (!text("DMLC_ROLE").empty())
    job = dmlc_job();
  else
    job = started_job();
  if (!job) return job;
  job->bind = text("SYMBIND_DIST_BIND");
  job->token = read_token();
  for (const std::string* address : {&job->bind, &job->host})
    check(is_loopback(*address) || !job->token.empty(), ErrorKind::kState,
          "the job uses the address {}, which other machines reach, and has no token\n  fix:  set "
          "SYMBIND_DIST_TOKEN_FILE to a file of mode 600 with 64 hexadecimal digits",
          *address);
  job->generation = count("SYMBIND_DIST_GENERATION", 0, 1 << 30);
  job->dead_after = seconds("SYMBIND_DIST_DEAD_AFTER");
  job->join_wait = seconds("SYMBIND_DIST_JOIN_WAIT");
  job->tls_certificate = text("SYMBIND_DIST_TLS_CERT");
  job->tls_key = text("SYMBIND_DIST_TLS_KEY");
  job->tls_authority = text("SYMBIND_DIST_TLS_CA");
  const bool some =
      !job->tls_certificate.empty() || !job->tls_key.empty() || !job->tls_authority.empty();
  const bool all =
      !job->tls_certificate.empty() && !job->tls_key.empty() && !job->tls_authority.empty();
  check(some == all, ErrorKind::kState,
        "TLS needs SYMBIND_DIST_TLS_CERT, SYMBIND_DIST_TLS_KEY and SYMBIND_DIST_TLS_CA, each the "
        "path of a PEM file");
  return job;
}

}  // namespace symbind::net
