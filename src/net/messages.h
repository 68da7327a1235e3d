#pragma once
// What a scheduler and the members of a job say to each other.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "net/job.h"

namespace symbind::net {

/// A process of the job, as the others know it.
struct Member {
  Role role = Role::kWorker;
  int rank = -1;
  std::string host;
  std::int64_t pid = 0;
  std::string address;  ///< where its links or its service listen

  /// "worker 2 (host, pid 1234)"
  std::string str() const;
};

// From a member.
struct Join {
  Member member;
  int workers = 0, servers = 0, generation = 0;
  bool asynchronous = false;  ///< a worker of dist_async: it may be lost and join again
  std::string version;
};
struct Beat {
  std::int64_t updates = 0;  ///< complete updates of the weights
  std::string waits_for;     ///< what the process waits for; empty if it does not wait
  std::int64_t heard = 0;    ///< the number of the last Alive that arrived
};
struct Gather {
  std::string name, part;
};
struct Leave {
  std::string error;  ///< why, if the process does not leave in order
};
using FromMember = std::variant<Join, Beat, Gather, Leave>;

// To a member.
struct Welcome {
  int rank = 0;
  bool rejoined = false;        ///< the job runs: an asynchronous worker comes back
  std::vector<Member> members;  ///< workers by rank, then servers by rank
};
struct Gathered {
  std::string name;
  std::vector<std::string> parts;  ///< of the workers, by rank
};
struct Alive {
  std::int64_t number = 0;  ///< a member that does not answer with it hears nothing
};
struct Failed {
  std::string reason;
  bool lost = false;  ///< a process is gone: to start the job again may help
};
struct Ended {};
using ToMember = std::variant<Welcome, Gathered, Alive, Failed, Ended>;

}  // namespace symbind::net
