#pragma once
// The scheduler of a job: who belongs to it, what all workers have said, who is lost.
//
// It knows neither sockets nor clocks: a service passes it what members say and what time it is,
// and sends the answers.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/messages.h"

namespace symbind::net {

class Scheduler {
 public:
  using Seconds = double;  ///< of a clock that never jumps
  struct Answer {
    int connection;
    ToMember message;
  };
  using Answers = std::vector<Answer>;

  explicit Scheduler(const Job& job) : job_(job) {}

  /// A connection said something. Connections are numbered by the service.
  Answers hear(int connection, const FromMember& message, Seconds now);
  /// A connection is closed.
  Answers closed(int connection, Seconds now);
  /// Time has passed: finds silent members, waits that cannot end and members that never join.
  Answers tick(Seconds now);
  /// Says to all members that the scheduler lives.
  Answers beat(Seconds now);

  /// The job is over: all workers left, or it failed and all connections are closed.
  bool is_over() const;
  const std::string& failure() const { return failure_; }

 private:
  struct Attendee {
    Member member;
    bool asynchronous = false;
    Seconds heard = 0;
    Beat beat;
    Seconds waits_since = 0;
    bool left = false, gone = false;
  };
  using Parts = std::map<int, std::string>;  ///< by rank

  Answers join(int connection, const Join& join, Seconds now);
  Answers welcome_all();
  Answers collect(int connection, const Gather& gather);
  Answers complete(const std::string& name);
  Answers complete_all();
  Answers leave(int connection, const Leave& leave);
  Answers end();
  Answers fail(const std::string& reason, bool lost = false);
  Answers lose(Attendee& lost, const std::string& how);
  std::optional<std::string> refusal(const Join& join) const;
  std::optional<std::string> stuck(Seconds now) const;
  std::string missing() const;
  Seconds time_of(std::int64_t number) const;
  bool belongs(const Attendee& a, Role role) const;
  bool has_workers() const;
  bool some_may_return() const;
  std::vector<Member> members() const;
  Answers to_all(const ToMember& message) const;

  Job job_;
  std::map<int, Attendee> attendees_;                   ///< by connection
  std::map<std::string, Parts> collections_;            ///< by name, incomplete ones
  std::deque<std::pair<std::int64_t, Seconds>> beats_;  ///< the last ones: number and time
  std::int64_t beat_ = 0;
  bool running_ = false;
  Seconds last_join_ = -1;
  Seconds worker_seen_ = 0;  ///< when the job had a worker
  std::string failure_;
  bool ended_ = false;
};

}  // namespace symbind::net
