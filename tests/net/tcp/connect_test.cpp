// Connections between the processes of a job: who is accepted, and what is said of others.

#include "net/tcp/connect.h"

#include <fcntl.h>

#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/error.h>

#include "net/tcp/sockets.h"

namespace symbind::net {
namespace {

using testing::HasSubstr;

struct Worker {
  Job job;
  Listener listener{"127.0.0.1"};
  std::vector<Socket> sockets;
  std::string error;
};

/// Connects workers, each with its own idea of the job, on a thread each. `meanwhile` runs beside
/// them.
std::vector<Worker> connect_jobs(const std::vector<Job>& jobs,
                                 const std::function<void(const Worker&)>& meanwhile = {},
                                 const std::string& failure = "") {
  std::vector<Worker> workers(jobs.size());
  std::vector<Member> members;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    workers[i].job = jobs[i];
    members.push_back({.role = Role::kWorker,
                       .rank = static_cast<int>(i),
                       .host = "here",
                       .pid = 100 + static_cast<int>(i),
                       .address = workers[i].listener.address()});
  }
  std::vector<std::thread> threads;
  if (meanwhile) threads.emplace_back([&] { meanwhile(workers.front()); });
  for (std::size_t i = 0; i < jobs.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        workers[i].sockets = connect_workers(workers[i].job, static_cast<int>(i), members,
                                             workers[i].listener, [&] { return failure; });
      } catch (const Error& e) {
        workers[i].error = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  return workers;
}

Job job_with(const std::string& token, int generation = 0, double join_wait = 10) {
  Job job;
  job.workers = 3;
  job.token = token;
  job.generation = generation;
  job.join_wait = join_wait;
  return job;
}

const std::string kOne(64, 'a'), kOther(64, 'b');

/// What one end writes arrives at the other.
void expect_connected(const Socket& a, const Socket& b, char mark) {
  ASSERT_TRUE(a && b);
  ASSERT_EQ(send(a.fd(), &mark, 1, 0), 1);
  for (const Socket* s : {&a, &b}) fcntl(s->fd(), F_SETFL, 0);  // from now on reading waits
  char got = 0;
  ASSERT_EQ(recv(b.fd(), &got, 1, 0), 1);
  EXPECT_EQ(got, mark);
}

TEST(TcpConnect, every_worker_is_connected_with_every_other) {
  const auto workers = connect_jobs({3, job_with(kOne)});
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(workers[i].error, "");
    EXPECT_FALSE(workers[i].sockets[i]);
    for (std::size_t j = 0; j < 3; ++j)
      if (i != j)
        expect_connected(workers[i].sockets[j], workers[j].sockets[i],
                         static_cast<char>(10 * i + j));
  }
}

TEST(TcpConnect, strangers_do_not_disturb) {
  const auto workers = connect_jobs({3, job_with(kOne)}, [](const Worker& first) {
    const std::string port =
        first.listener.address().substr(first.listener.address().find(':') + 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 300; ++i) {  // more than are kept
      const Socket stranger(::socket(AF_INET, SOCK_STREAM, 0));
      if (connect(stranger.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return;
      const Bytes noise = bytes_of_size(static_cast<std::size_t>(i), static_cast<unsigned>(i));
      (void)send(stranger.fd(), noise.data(), noise.size(), MSG_NOSIGNAL);
    }
  });
  for (const Worker& worker : workers) EXPECT_EQ(worker.error, "");
}

TEST(TcpConnect, a_worker_with_another_token_is_refused) {
  const auto workers = connect_jobs({job_with(kOne, 0, 1), job_with(kOther, 0, 1)});
  EXPECT_THAT(workers[0].error,
              HasSubstr("worker 1 (here, pid 101) did not connect to worker 0 at 127.0.0.1:"));
  EXPECT_THAT(workers[1].error, HasSubstr("worker 0 (here, pid 100) at 127.0.0.1:"));
  EXPECT_THAT(workers[1].error, HasSubstr("does not answer as a process of this job"));
}

TEST(TcpConnect, a_worker_of_another_start_of_the_job_is_refused) {
  const auto workers = connect_jobs({job_with(kOne, 1, 1), job_with(kOne, 0, 1)});
  EXPECT_THAT(workers[0].error, HasSubstr("did not connect to worker 0"));
  EXPECT_THAT(workers[1].error, HasSubstr("does not answer as a process of this job"));
}

// One that accepts without knowing the token.
TEST(TcpConnect, a_process_that_only_pretends_is_named) {
  const Listener listener("127.0.0.1");
  fcntl(listener.fd(), F_SETFL, 0);
  std::thread impostor([&] {
    RawEnd end(Socket(accept(listener.fd(), nullptr, nullptr)));
    end.write(bytes_of_size(32));
    end.read(32 + 12 + 32);
    end.write(bytes_of_size(32, 9));
  });
  const Member other{
      .role = Role::kServer, .rank = 2, .host = "here", .pid = 7, .address = listener.address()};
  try {
    connect_member(job_with(kOne), 0, other, number_of_server(2));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("server 2 (here, pid 7)"));
    EXPECT_THAT(e.what(), HasSubstr("does not know the job's token"));
  }
  impostor.join();
}

TEST(TcpConnect, a_job_that_fails_ends_the_wait) {
  const auto workers = connect_jobs({job_with(kOne), job_with(kOther, 0, 1)}, {}, "worker 2 lost");
  EXPECT_EQ(workers[0].error, "worker 2 lost");
}

TEST(TcpConnect, an_address_of_another_machine_is_an_error) {
  try {
    const Listener listener("203.0.113.9");
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot listen at 203.0.113.9 (SYMBIND_DIST_BIND)"));
  }
}

}  // namespace
}  // namespace symbind::net
