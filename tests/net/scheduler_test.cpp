// The scheduler of a job, without network and clock: who joins, who is lost, who waits for what.

#include "net/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symbind::net {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Join joining(int rank, int workers = 2, int servers = 0) {
  return {.member = {.role = Role::kWorker,
                     .rank = rank,
                     .host = "box",
                     .pid = 100 + rank,
                     .address = "127.0.0.1:1"},
          .workers = workers,
          .servers = servers,
          .version = SYMBIND_VERSION};
}

Job job_of(int workers, int servers = 0) {
  Job job;
  job.workers = workers;
  job.servers = servers;
  return job;
}

/// The text of the only failure among the answers to a connection.
std::string failure(const Scheduler::Answers& answers, int connection) {
  for (const auto& [number, message] : answers)
    if (const auto* failed = std::get_if<Failed>(&message); failed && number == connection)
      return failed->reason;
  return "no failure";
}

/// A job of `n` workers that runs; connection i is worker i.
Scheduler running(int n) {
  Scheduler s(job_of(n));
  for (int i = 0; i < n; ++i) s.hear(i, joining(i, n), 0);
  return s;
}

/// What a member answers to the scheduler's beat at this time.
Beat answer_to_beat(Scheduler& s, double now, Beat beat = {}) {
  beat.heard = std::get<Alive>(s.beat(now).front().message).number;
  return beat;
}

Join joining_async(int rank) {
  Join join = joining(rank);
  join.asynchronous = true;
  return join;
}

TEST(Scheduler, all_are_welcomed_when_the_last_one_joins) {
  Scheduler s(job_of(3));
  EXPECT_TRUE(s.hear(10, joining(2, 3), 0).empty());
  EXPECT_TRUE(s.hear(11, joining(-1, 3), 0).empty());
  const Scheduler::Answers answers = s.hear(12, joining(-1, 3), 0);
  ASSERT_EQ(answers.size(), 3u);
  std::map<int, int> ranks;
  for (const auto& [connection, message] : answers) {
    const Welcome& welcome = std::get<Welcome>(message);
    ranks[connection] = welcome.rank;
    ASSERT_EQ(welcome.members.size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(welcome.members[static_cast<std::size_t>(i)].rank, i);
  }
  EXPECT_EQ(ranks, (std::map<int, int>{{10, 2}, {11, 0}, {12, 1}}));
}

TEST(Scheduler, refuses_what_does_not_belong_to_the_job) {
  Scheduler s(job_of(2));
  s.hear(0, joining(0), 0);
  EXPECT_THAT(failure(s.hear(1, joining(0), 0), 1), AllOf(HasSubstr("two processes have one rank"),
                                                          HasSubstr("worker 0 (box, pid 100)")));
  EXPECT_THAT(failure(s.hear(2, joining(1, 3), 0), 2), HasSubstr("expects 3 workers"));
  Join old = joining(1);
  old.generation = 4;
  EXPECT_THAT(failure(s.hear(3, old, 0), 3), HasSubstr("start 4 of the job; this is start 0"));
  Join other = joining(1);
  other.version = "0.0.1";
  EXPECT_THAT(failure(s.hear(4, other, 0), 4), HasSubstr("runs Symbind 0.0.1"));
  Join async = joining(1);
  async.asynchronous = true;
  EXPECT_THAT(failure(s.hear(5, async, 0), 5), HasSubstr("different kinds"));
  s.hear(6, joining(1), 0);
  EXPECT_THAT(failure(s.hear(7, joining(-1), 0), 7), HasSubstr("one too many"));
  EXPECT_TRUE(s.failure().empty()) << "a refused process does not harm the job: " << s.failure();
}

TEST(Scheduler, names_how_many_processes_did_not_join) {
  Scheduler s(job_of(3, 2));
  s.tick(0);
  s.hear(0, joining(0, 3, 2), 4);
  s.hear(0, answer_to_beat(s, 13.5), 13.5);
  EXPECT_TRUE(s.tick(13.9).empty());
  EXPECT_THAT(failure(s.tick(14.1), 0),
              HasSubstr("2 of 3 workers and 2 of 2 servers did not join within 10 s"));
}

TEST(Scheduler, gathers_by_rank_once_all_have_given) {
  Scheduler s = running(3);
  EXPECT_TRUE(s.hear(2, Gather{"epoch", "c"}, 1).empty());
  EXPECT_TRUE(s.hear(0, Gather{"other", "x"}, 1).empty());
  EXPECT_TRUE(s.hear(0, Gather{"epoch", "a"}, 1).empty());
  const Scheduler::Answers answers = s.hear(1, Gather{"epoch", "b"}, 1);
  ASSERT_EQ(answers.size(), 3u);
  for (const Scheduler::Answer& answer : answers)
    EXPECT_EQ(std::get<Gathered>(answer.message).parts, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Scheduler, a_closed_connection_fails_a_synchronous_job_with_name_and_update) {
  Scheduler s = running(3);
  s.hear(2, Beat{.updates = 1234, .waits_for = ""}, 1);
  const Scheduler::Answers answers = s.closed(2, 2);
  ASSERT_EQ(answers.size(), 2u);
  for (const int other : {0, 1})
    EXPECT_THAT(failure(answers, other),
                HasSubstr("worker 2 (box, pid 102) lost at update 1234: its connection is closed"));
}

TEST(Scheduler, silence_counts_as_loss_after_dead_after) {
  Scheduler s = running(2);
  s.hear(0, answer_to_beat(s, 3), 3);
  EXPECT_TRUE(s.tick(3).empty());
  const Scheduler::Answers answers = s.tick(3.1);
  EXPECT_THAT(failure(answers, 0), HasSubstr("worker 1 (box, pid 101) lost at update 0: it is "
                                             "silent for 3.1 s"));
  EXPECT_THAT(failure(answers, 1), HasSubstr("worker 1 (box, pid 101) lost: it is silent"))
      << "it may still hear";
}

TEST(Scheduler, a_member_that_speaks_but_hears_nothing_is_silent) {
  Scheduler s = running(2);
  const Beat first = answer_to_beat(s, 1);
  for (double t = 1; t < 4; t += 0.5) {
    s.hear(0, answer_to_beat(s, t), t);
    s.hear(1, first, t);
    EXPECT_TRUE(s.tick(t).empty());
  }
  s.hear(1, first, 4.1);
  EXPECT_THAT(failure(s.tick(4.1), 0), HasSubstr("worker 1 (box, pid 101) lost at update 0"));
}

TEST(Scheduler, an_asynchronous_worker_may_be_lost_and_join_again) {
  Scheduler s(job_of(2));
  for (const int i : {0, 1}) s.hear(i, joining_async(i), 0);
  EXPECT_TRUE(s.hear(0, Gather{"barrier", ""}, 1).empty());
  const Scheduler::Answers answers = s.closed(1, 2);
  ASSERT_EQ(answers.size(), 1u) << "the others do not wait for a lost worker";
  EXPECT_EQ(std::get<Gathered>(answers.front().message).parts.size(), 1u);
  EXPECT_TRUE(s.failure().empty());
  const Scheduler::Answers back = s.hear(7, joining_async(1), 3);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(std::get<Welcome>(back.front().message).rank, 1);
  EXPECT_TRUE(std::get<Welcome>(back.front().message).rejoined);
}

TEST(Scheduler, an_asynchronous_worker_that_ends_with_an_error_may_join_again) {
  Scheduler s(job_of(2));
  for (const int i : {0, 1}) s.hear(i, joining_async(i), 0);
  EXPECT_TRUE(s.hear(1, Leave{"ValueError: no such file"}, 1).empty());
  EXPECT_TRUE(s.failure().empty());
  EXPECT_EQ(s.hear(8, joining_async(1), 2).size(), 1u);
}

TEST(Scheduler, a_barrier_does_not_wait_for_an_asynchronous_worker_that_left) {
  Scheduler s(job_of(2));
  for (const int i : {0, 1}) s.hear(i, joining_async(i), 0);
  EXPECT_TRUE(s.hear(0, Gather{"barrier", ""}, 1).empty());
  const Scheduler::Answers answers = s.hear(1, Leave{}, 2);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Gathered>(answers.front().message));
}

TEST(Scheduler, an_asynchronous_job_ends_after_a_lost_worker_could_have_returned) {
  for (const bool returns : {false, true}) {
    Scheduler s(job_of(2));
    for (const int i : {0, 1}) s.hear(i, joining_async(i), 0);
    s.tick(1);
    s.closed(1, 2);
    s.tick(2.5);
    EXPECT_TRUE(s.hear(0, Leave{}, 3).empty());
    EXPECT_FALSE(s.is_over());
    if (returns) {
      EXPECT_EQ(s.hear(7, joining_async(1), 4).size(), 1u);
      s.hear(7, Leave{}, 5);
    } else {
      s.tick(12);
      EXPECT_FALSE(s.is_over());
      s.tick(12.6);
    }
    EXPECT_TRUE(s.is_over());
    EXPECT_TRUE(s.failure().empty());
  }
}

TEST(Scheduler, an_asynchronous_job_without_workers_fails_after_join_wait) {
  Scheduler s(job_of(1, 1));
  Join join = joining(0, 1, 1), server = joining(0, 1, 1);
  join.asynchronous = true;
  server.member.role = Role::kServer;
  s.hear(0, join, 0);
  s.hear(1, server, 0);
  s.tick(1);
  s.closed(0, 2);
  for (double t = 2; t < 11; t += 0.5) {
    s.hear(1, answer_to_beat(s, t), t);
    EXPECT_TRUE(s.tick(t).empty()) << t;
  }
  s.hear(1, answer_to_beat(s, 11.5), 11.5);
  EXPECT_THAT(failure(s.tick(11.5), 1), HasSubstr("no worker is left"));
}

TEST(Scheduler, workers_that_wait_for_different_things_are_named) {
  Scheduler s = running(2);
  s.hear(0, Beat{.updates = 58, .waits_for = "the sum of key fc1_weight (push 58)"}, 1);
  s.hear(1, Beat{.updates = 57, .waits_for = "the end of epoch 0 (1)"}, 1);
  for (double t = 1; t < 3; t += 0.5) {
    s.hear(0, answer_to_beat(s, t, {58, "the sum of key fc1_weight (push 58)"}), t);
    s.hear(1, answer_to_beat(s, t, {57, "the end of epoch 0 (1)"}), t);
    EXPECT_TRUE(s.tick(t).empty());
  }
  EXPECT_THAT(failure(s.tick(3.1), 1),
              AllOf(HasSubstr("worker 0 (box, pid 100) waits for the sum of key fc1_weight"),
                    HasSubstr("worker 1 (box, pid 101) waits for the end of epoch 0"),
                    HasSubstr("as many batches per epoch")));
}

TEST(Scheduler, equal_waits_are_no_failure) {
  Scheduler s = running(2);
  for (double t = 1; t < 60; t += 0.5) {
    for (const int i : {0, 1}) s.hear(i, answer_to_beat(s, t, {3, "the sum of key 0"}), t);
    EXPECT_TRUE(s.tick(t).empty());
  }
}

TEST(Scheduler, a_wait_for_a_worker_that_left_fails) {
  Scheduler s = running(2);
  s.hear(1, Beat{.updates = 10, .waits_for = ""}, 1);
  EXPECT_TRUE(s.hear(1, Leave{}, 1).empty());
  s.closed(1, 1);
  for (double t = 1; t < 4; t += 0.5) s.hear(0, answer_to_beat(s, t, {11, "the sum of key 0"}), t);
  EXPECT_THAT(failure(s.tick(4), 0), HasSubstr("worker 1 (box, pid 101) has left after update 10"));
}

TEST(Scheduler, the_job_is_over_when_all_workers_have_left) {
  Scheduler s(job_of(1, 1));
  s.hear(0, joining(0, 1, 1), 0);
  Join server = joining(0, 1, 1);
  server.member.role = Role::kServer;
  s.hear(1, server, 0);
  EXPECT_FALSE(s.is_over());
  const Scheduler::Answers answers = s.hear(0, Leave{}, 1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers.front().connection, 1);
  EXPECT_TRUE(std::holds_alternative<Ended>(answers.front().message));
  s.closed(1, 2);
  EXPECT_TRUE(s.is_over());
  EXPECT_TRUE(s.failure().empty());
}

TEST(Scheduler, the_error_of_a_worker_reaches_the_others) {
  Scheduler s = running(2);
  const Scheduler::Answers answers = s.hear(1, Leave{"ValueError: no such file"}, 1);
  EXPECT_THAT(failure(answers, 0),
              HasSubstr("worker 1 (box, pid 101) ended at update 0: ValueError: no such file"));
}

}  // namespace
}  // namespace symbind::net
