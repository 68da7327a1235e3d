// The terminal and its signals.
//
// Decided here: outside of a DeferInterrupts scope nothing that matters is under way, so Ctrl-C
// ends the process in the handler itself, whatever the library computes or reads.

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "program.h"

namespace symbind::program {
namespace {

std::atomic<int> g_deferred{0};
std::atomic<bool> g_recorded{false};
std::atomic<bool> g_status_drawn{false};
std::mutex g_stderr;

void write_bytes(const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, size);
    if (written <= 0) return;  // stderr is closed or full: there is no place to report it
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

extern "C" void handle_interrupt(int) {
  const int saved = errno;
  const int deferred = g_deferred.load();
  const bool again = g_recorded.exchange(true);
  if (deferred == DeferInterrupts::kWrite || (deferred == DeferInterrupts::kSave && !again)) {
    errno = saved;
    return;
  }
  constexpr char kText[] = "\nsymbind: interrupted\n";
  const int skip = g_status_drawn ? 0 : 1;
  write_bytes(kText + skip, sizeof(kText) - 1 - static_cast<std::size_t>(skip));
  ::_exit(kInterrupted);
}

void clear_status() {
  if (g_status_drawn.exchange(false)) write_bytes("\r\033[K", 4);
}

}  // namespace

void install_interrupts() {
  struct sigaction action {};
  action.sa_handler = handle_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

DeferInterrupts::DeferInterrupts(Why why) : before_(g_deferred.exchange(why)) {}
DeferInterrupts::~DeferInterrupts() { g_deferred = before_; }

bool interrupt_recorded() { return g_recorded; }

bool is_terminal() {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return terminal;
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void draw_status(const std::string& text) {
  if (!is_terminal()) return;
  const std::lock_guard lock(g_stderr);
  if (text.empty()) return clear_status();
  const std::string line = "\r\033[K" + text;
  g_status_drawn = true;
  write_bytes(line.data(), line.size());
}

void say(std::string_view line) {
  const std::lock_guard lock(g_stderr);
  clear_status();
  const std::string text = std::string(line) + "\n";
  write_bytes(text.data(), text.size());
}

}  // namespace symbind::program
