// The job that the environment describes.

#include "net/job.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/error.h>

#include "base/settings.h"

namespace symbind::net {
namespace {

using testing::HasSubstr;
using Set = settings::override_for_test;

std::string error_of_environment() {
  try {
    job_of_environment();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct Dmlc {
  Set role{"DMLC_ROLE", "worker"}, host{"DMLC_PS_ROOT_URI", "127.0.0.1"},
      port{"DMLC_PS_ROOT_PORT", "9091"}, workers{"DMLC_NUM_WORKER", "4"},
      servers{"DMLC_NUM_SERVER", "2"};
};

const std::string kToken(64, 'a');

TEST(Job, none_without_variables) { EXPECT_FALSE(job_of_environment().has_value()); }

TEST(Job, of_dmlc_variables) {
  const Dmlc dmlc;
  const Set rank("SYMBIND_DIST_RANK", "3");
  const Job job = *job_of_environment();
  EXPECT_EQ(job.role, Role::kWorker);
  EXPECT_EQ(job.rank, 3);
  EXPECT_EQ(job.workers, 4);
  EXPECT_EQ(job.servers, 2);
  EXPECT_EQ(job.scheduler_address(), "127.0.0.1:9091");
  EXPECT_FALSE(job.runs_scheduler);
}

TEST(Job, of_torchrun_takes_the_next_port) {
  const Set rank("RANK", "0"), size("WORLD_SIZE", "2"), host("MASTER_ADDR", "localhost"),
      port("MASTER_PORT", "29500"), run("TORCHELASTIC_RUN_ID", "none");
  const Job job = *job_of_environment();
  EXPECT_EQ(job.port, 29501);
  EXPECT_TRUE(job.runs_scheduler);
}

TEST(Job, of_slurm_on_one_machine_needs_no_address) {
  const Set rank("SLURM_PROCID", "1"), size("SLURM_NTASKS", "2"), id("SLURM_JOB_ID", "77");
  {
    const Set nodes("SLURM_NNODES", "1");
    const Job job = *job_of_environment();
    EXPECT_EQ(job.scheduler_address(), "127.0.0.1:20077");
    EXPECT_EQ(job.rank, 1);
    EXPECT_FALSE(job.runs_scheduler);
  }
  const Set nodes("SLURM_NNODES", "2");
  EXPECT_THAT(error_of_environment(), HasSubstr("MASTER_ADDR"));
}

TEST(Job, an_incomplete_description_names_the_variable) {
  const Set role("DMLC_ROLE", "worker"), host("DMLC_PS_ROOT_URI", "127.0.0.1");
  EXPECT_THAT(error_of_environment(), HasSubstr("DMLC_PS_ROOT_PORT is not"));
}

TEST(Job, bad_values_are_errors_that_name_them) {
  const Dmlc dmlc;
  for (const auto& [name, value, text] :
       {std::tuple("DMLC_ROLE", "boss", "neither worker, server nor scheduler"),
        std::tuple("DMLC_PS_ROOT_PORT", "70000", "DMLC_PS_ROOT_PORT"),
        std::tuple("DMLC_NUM_WORKER", "0", "DMLC_NUM_WORKER"),
        std::tuple("SYMBIND_DIST_RANK", "4", "SYMBIND_DIST_RANK"),
        std::tuple("SYMBIND_DIST_DEAD_AFTER", "soon", "SYMBIND_DIST_DEAD_AFTER='soon'"),
        std::tuple("SYMBIND_DIST_TOKEN", "1234", "64 hexadecimal digits"),
        std::tuple("SYMBIND_DIST_TLS_CERT", "x.pem", "SYMBIND_DIST_TLS_KEY")}) {
    const Set set(name, value);
    EXPECT_THAT(error_of_environment(), HasSubstr(text)) << name;
  }
}

TEST(Job, an_address_that_others_reach_needs_a_token) {
  const Dmlc dmlc;
  const Set bind("SYMBIND_DIST_BIND", "10.0.0.5");
  EXPECT_THAT(error_of_environment(), HasSubstr("has no token"));
  const Set token("SYMBIND_DIST_TOKEN", kToken);
  EXPECT_EQ(job_of_environment()->token, kToken);
}

TEST(Job, a_token_file_must_be_private) {
  const Dmlc dmlc;
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "job_token";
  std::ofstream(path) << kToken << "\n";
  const Set file("SYMBIND_DIST_TOKEN_FILE", path.string());
  chmod(path.c_str(), 0644);
  EXPECT_THAT(error_of_environment(), HasSubstr("chmod 600"));
  chmod(path.c_str(), 0600);
  EXPECT_EQ(job_of_environment()->token, kToken);
  const Set both("SYMBIND_DIST_TOKEN", kToken);
  EXPECT_THAT(error_of_environment(), HasSubstr("both set"));
}

}  // namespace
}  // namespace symbind::net
