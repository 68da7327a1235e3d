#pragma once
// A child process that answers each line with one line, so that its runs can alternate with ours.

#include <sys/types.h>
#include <string>
#include <vector>

namespace symbind::bench {

class Peer {
 public:
  /// Starts `command` and waits for its first line. Throws when it cannot be started.
  Peer(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Sends a line and returns the answer. Throws when the child has ended.
  std::string ask(const std::string& line);
  const std::string& greeting() const { return greeting_; }

 private:
  std::string read_line();

  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_, greeting_;
};

/// Runs a command to its end without its output; the seconds it took, or -1 when it failed.
double time_command(const std::vector<std::string>& command);

}  // namespace symbind::bench
