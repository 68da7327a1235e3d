#pragma once
// The place of this process in a job of several processes, as the environment describes it.

#include <optional>
#include <string>

namespace symbind::net {

enum class Role { kWorker, kServer, kScheduler };
/// "worker", "server" or "scheduler".
const char* role_name(Role role);

struct Job {
  Role role = Role::kWorker;
  int rank = -1;  ///< within its role; -1: the scheduler assigns one
  int workers = 1;
  int servers = 0;
  std::string host = "127.0.0.1";  ///< where the scheduler listens
  int port = 0;
  bool runs_scheduler = false;     ///< this worker also runs the scheduler's service
  std::string bind = "127.0.0.1";  ///< the address this process listens at
  std::string token;               ///< the secret of the job, empty on loopback only
  int generation = 0;              ///< how often the job was restarted
  double dead_after = 3;           ///< seconds of silence after which a process counts as lost
  double join_wait = 10;           ///< seconds to wait for the next process to join
  std::string source;              ///< the variables this comes from, for messages
  std::string tls_certificate, tls_key, tls_authority;  ///< files; all three or none

  std::string scheduler_address() const;
};

/// The job that the environment describes; nothing if it describes none. An incomplete or
/// contradictory description is an Error that names the variable.
std::optional<Job> job_of_environment();

/// Whether only this machine reaches the address.
bool is_loopback(const std::string& address);

}  // namespace symbind::net
