// Signals.
//
// Decided here: outside of a DeferInterrupts scope nothing that matters is under way, so Ctrl-C
// ends the process in the handler itself, whatever the library computes or reads.

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "program.h"

namespace symbind::program {
namespace {

std::atomic<int> g_deferred{0};
std::atomic<bool> g_recorded{false};

extern "C" void handle_interrupt(int) {
  const int saved = errno;
  const int deferred = g_deferred.load();
  const bool again = g_recorded.exchange(true);
  if (deferred == DeferInterrupts::kWrite || (deferred == DeferInterrupts::kSave && !again)) {
    errno = saved;
    return;
  }
  std::string_view text = "\nsymbind: interrupted\n";
  if (!has_status()) text.remove_prefix(1);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kInterrupted);
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

}  // namespace symbind::program
