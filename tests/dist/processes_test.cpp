// Jobs of several processes, all C++: this program starts itself once per process of a job. The
// thread sanitizer sees the stores, the links and the overlap of a training here as they run in a
// job.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/detail/remote_updates.h>
#include <symbind/dist.h>
#include <symbind/symbind.h>

#include "net/tcp/connect.h"

#ifdef __SANITIZE_THREAD__
// gRPC is not compiled with the thread sanitizer, which therefore does not see how gRPC orders its
// threads: what happens within it, and to what it calls back with, looks like a race.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libgrpc\nrace:libgpr\nrace:libabsl\nrace:libupb\nrace:grpc::\n"
         "race:symbind::dist::\nrace:ld-linux\n";
}
// The sanitizer records what sendmsg reads after the call has returned. The answer to the message
// may have arrived by then, and the memory may belong to the next message.
extern "C" const char* __tsan_default_options() { return "intercept_send=0"; }
#endif

namespace symbind {
namespace {

using testing::HasSubstr;
using Floats = std::vector<float>;

constexpr const char* kPart = "SYMBIND_TEST_PART";  // what a process of a job does

NDArray floats(std::size_t n, const std::function<float(std::size_t)>& value) {
  Floats all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = value(i);
  return NDArray::from_vector(all, {static_cast<std::int64_t>(n)});
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorKind::kState, "not so: " + what);
}

/// Whole numbers: sums are exact.
void push_and_pull() {
  const auto store = create_kvstore("dist_sync");
  const int n = store->num_workers(), rank = store->rank();
  const std::size_t sizes[] = {1, 1000, 300001};
  for (std::size_t k = 0; k < 3; ++k)
    store->init(static_cast<std::int64_t>(k),
                NDArray::zeros({static_cast<std::int64_t>(sizes[k])}));
  for (int step = 1; step <= 10; ++step) {
    for (std::size_t k = 0; k < 3; ++k)  // in another order on each worker
      store->push(static_cast<std::int64_t>((k + static_cast<std::size_t>(rank)) % 3),
                  {floats(sizes[(k + static_cast<std::size_t>(rank)) % 3], [&](std::size_t i) {
                    return static_cast<float>(step * (rank + 1) + static_cast<int>(i % 100));
                  })});
    for (std::size_t k = 0; k < 3; ++k) {
      NDArray out = NDArray::zeros({static_cast<std::int64_t>(sizes[k])});
      store->pull(static_cast<std::int64_t>(k), {out});
      const Floats got = out.to_vector<float>();
      for (std::size_t i = 0; i < got.size(); ++i)
        expect(got[i] == static_cast<float>(step * n * (n + 1) / 2 + n * static_cast<int>(i % 100)),
               "a sum");
    }
  }
  store->barrier();
}

/// A training whose sums overlap with computing; worker 0 writes its parameters.
void train() {
  const bool job = std::getenv("DMLC_ROLE") != nullptr;
  const auto store = create_kvstore(job ? "dist_sync" : "local");
  const int contexts = job ? 1 : 3, parts = job ? store->num_workers() : 1, rank = store->rank();
  constexpr std::int64_t kRows = 240, kBatch = 24, kColumns = 40;
  Floats x, y;
  for (std::int64_t row = 0; row < kRows; ++row) {
    // Worker r has the rows that device r has in one process.
    const std::int64_t within = row % kBatch / (kBatch / parts);
    if (within != rank) continue;
    for (std::int64_t c = 0; c < kColumns; ++c)
      x.push_back(static_cast<float>((row * 31 + c * 17) % 101) / 101);
    y.push_back(static_cast<float>(row % 10));
  }
  NDArrayIter data(NDArray::from_vector(x, {kRows / parts, kColumns}),
                   NDArray::from_vector(y, {kRows / parts}), {.batch_size = kBatch / parts});
  Symbol net = Variable("data");
  net = Activation("t1", FullyConnected("fc1", net, {.num_hidden = 600}), {.act_type = "tanh"});
  net = Activation("t2", FullyConnected("fc2", net, {.num_hidden = 500}), {.act_type = "tanh"});
  net = SoftmaxOutput("softmax", FullyConnected("fc3", net, {.num_hidden = 10}));
  seed(5);
  std::vector<Context> devices;
  for (int i = 0; i < contexts; ++i) devices.push_back(cpu(i));
  Module module(net, {.context = devices});
  module.fit(data, {.kvstore = store,
                    .optimizer = "adam",
                    .optimizer_params = {{"learning_rate", 0.01}},
                    .initializer = Xavier(),
                    .num_epoch = 2,
                    .progress = false});
  std::ofstream file(std::getenv("SYMBIND_TEST_OUT") + std::string(".") + std::to_string(rank));
  for (const auto& [name, array] : module.get_params().args)
    for (const float v : array.to_vector<float>()) file << std::hexfloat << v << '\n';
}

/// Every worker pushes ones; the servers add them up.
void push_at_own_speed() {
  constexpr int kPushes = 50;
  const auto store = create_kvstore("dist_async");
  const int n = store->num_workers();
  const std::int64_t sizes[] = {1000, 1200001};  // the second is divided over the servers
  const Key keys[] = {"small", "large"};
  for (int k = 0; k < 2; ++k) store->init(keys[k], NDArray::zeros({sizes[k]}));
  store->remote()->set_optimizer({.text = "2", .custom = "adds"});
  for (int i = 0; i < kPushes; ++i)
    for (int k = 0; k < 2; ++k)
      if (k == 0 || i < 3) store->push(keys[k], {NDArray::ones({sizes[k]})});
  store->barrier();
  for (int k = 0; k < 2; ++k) {
    NDArray out = NDArray::zeros({sizes[k]});
    store->pull(keys[k], {out});
    for (const float v : out.to_vector<float>())
      expect(v == static_cast<float>(2 * n * (k == 0 ? kPushes : 3)),
             "all pushes are in the value");
  }
}

/// Worker 1 is killed in the middle of its pushes.
void lose_a_worker() {
  const auto store = create_kvstore("dist_sync");
  store->init("w", NDArray::zeros({100000}));
  NDArray out = NDArray::zeros({100000});
  for (int step = 0;; ++step) {
    if (store->rank() == 1 && step == 5) kill(getpid(), SIGKILL);
    store->pushpull("w", {NDArray::ones({100000})}, {out});
  }
}

/// Adds the gradient, multiplied by the number that was sent.
ServerUpdate adding_update(const std::string& custom, const std::string& text) {
  expect(custom == "adds", "the name of the update");
  return {.update = [factor = std::stof(text)](const Key&, const NDArray& gradient,
                                               NDArray& value) { value += gradient * factor; },
          .states = [] { return std::string(); },
          .set_states = [](const std::string&) {}};
}

int run_part(const std::string& part) {
  const std::map<std::string, std::function<void()>> parts = {{"sums", push_and_pull},
                                                              {"train", train},
                                                              {"async", push_at_own_speed},
                                                              {"lose", lose_a_worker}};
  try {
    if (const auto status = serve_role([] { return MakeServerUpdate(adding_update); }))
      return *status;
    parts.at(part)();
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    leave_job(e.what());
    return e.kind() == ErrorKind::kLost ? kExitLost : 1;
  }
}

/// A process of a job does its part instead of the tests.
class Part : public testing::Environment {
 public:
  void SetUp() override {
    if (const char* part = std::getenv(kPart)) std::exit(run_part(part));
  }
};
[[maybe_unused]] testing::Environment* const kEnvironment =
    testing::AddGlobalTestEnvironment(new Part);

struct Ended {
  int status = 0;  ///< of exit, or 128 + the signal
  std::string text;
};

/// Starts this program once per process of a job, waits for all, and returns how the workers ended.
class Job {
 public:
  explicit Job(const std::string& part) : part_(part) {
    folder_ = std::filesystem::temp_directory_path() /
              ("symbind_processes_" + part + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~Job() { std::filesystem::remove_all(folder_); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::vector<Ended> run(int workers, int servers = 0) {
    port_ = free_port();
    workers_ = workers;
    servers_ = servers;
    std::vector<pid_t> all = {start("scheduler", 0)};
    for (int i = 0; i < servers; ++i) all.push_back(start("server", i));
    for (int i = 0; i < workers; ++i) all.push_back(start("worker", i));
    std::vector<Ended> ended;
    for (const pid_t pid : all) ended.push_back({wait_for(pid), ""});
    ended.erase(ended.begin(), ended.begin() + 1 + servers);
    for (int i = 0; i < workers; ++i)
      ended[static_cast<std::size_t>(i)].text = read("worker" + std::to_string(i));
    return ended;
  }

  /// What the part writes without a job.
  std::string alone() {
    EXPECT_EQ(wait_for(start("", 0)), 0) << read("0");
    return read("out.0");
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  static int free_port() {
    const net::Listener probe("127.0.0.1");
    return std::stoi(probe.address().substr(probe.address().find(':') + 1));
  }

  pid_t start(const std::string& role, int rank) {
    std::vector<std::string> settings = {std::string(kPart) + "=" + part_,
                                         "SYMBIND_TEST_OUT=" + (folder_ / "out").string(),
                                         "OMP_NUM_THREADS=1"};
    if (!role.empty())
      for (const std::string& one :
           {"DMLC_ROLE=" + role, "SYMBIND_DIST_RANK=" + std::to_string(rank),
            "DMLC_NUM_WORKER=" + std::to_string(workers_),
            "DMLC_NUM_SERVER=" + std::to_string(servers_),
            std::string("DMLC_PS_ROOT_URI=127.0.0.1"),
            "DMLC_PS_ROOT_PORT=" + std::to_string(port_)})
        settings.push_back(one);
    for (char** one = environ; *one != nullptr; ++one)
      if (!std::string_view(*one).starts_with("OMP_NUM_THREADS=")) settings.emplace_back(*one);
    std::vector<char*> environment;
    for (std::string& one : settings) environment.push_back(one.data());
    environment.push_back(nullptr);
    const std::string output = folder_ / (role + std::to_string(rank));
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    std::string name = "tests_dist";
    char* arguments[] = {name.data(), nullptr};
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, "/proc/self/exe", &files, nullptr, arguments, environment.data()),
              0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
  }

  /// The status; a process that does not end is killed.
  static int wait_for(pid_t pid) {
    int status = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > until) {
        ADD_FAILURE() << "a process did not end";
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string part_;
  std::filesystem::path folder_;
  int port_ = 0, workers_ = 0, servers_ = 0;
};

TEST(Processes, sums_of_pushes_in_any_order) {
  for (const Ended& worker : Job("sums").run(3)) EXPECT_EQ(worker.status, 0) << worker.text;
}

TEST(Processes, a_training_has_the_bits_of_one_process_with_as_many_contexts) {
  Job job("train");
  const std::string alone = job.alone();
  ASSERT_GT(alone.size(), 300000u * 5);
  for (const Ended& worker : job.run(3)) EXPECT_EQ(worker.status, 0) << worker.text;
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(job.read("out." + std::to_string(rank)) == alone) << "worker " << rank;
}

TEST(Processes, every_asynchronous_push_counts) {
  for (const Ended& worker : Job("async").run(3, 2)) EXPECT_EQ(worker.status, 0) << worker.text;
}

TEST(Processes, a_killed_worker_is_named_on_all_others) {
  const std::vector<Ended> ended = Job("lose").run(3);
  EXPECT_EQ(ended[1].status, 128 + SIGKILL);
  for (const std::size_t other : {0, 2}) {
    EXPECT_EQ(ended[other].status, kExitLost);
    EXPECT_THAT(ended[other].text, HasSubstr("worker 1 ("));
    EXPECT_THAT(ended[other].text, HasSubstr("lost"));
  }
}

}  // namespace
}  // namespace symbind
