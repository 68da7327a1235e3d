#include "support/peer.h"

#include <chrono>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace symbind::bench {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

Peer::Peer(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  std::vector<std::string> variables = environment;
  for (char** e = environ; *e != nullptr; ++e) variables.emplace_back(*e);
  const int failed = posix_spawnp(&child_, command.front().c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0) throw std::runtime_error("cannot start " + command.front());
  greeting_ = read_line();
}

Peer::~Peer() {
  close(to_);  // the child reads the end of its input and stops
  close(from_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

std::string Peer::read_line() {
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const ssize_t got = read(from_, chunk, sizeof chunk);
    if (got <= 0) throw std::runtime_error("the peer ended");
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

std::string Peer::ask(const std::string& line) {
  const std::string text = line + "\n";
  if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the peer ended");
  return read_line();
}

double time_command(const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, command.front().c_str(), &actions, nullptr,
                                  pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) < 0 || status != 0) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace symbind::bench
