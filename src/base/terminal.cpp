#include <symbind/terminal.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace symbind {
namespace {

constexpr std::string_view kClear = "\r\033[K";

std::atomic<bool> status_shown{false};

// Never destroyed: lines may come from destructors while the process ends.
std::mutex& output_guard() {
  static std::mutex* const guard = new std::mutex;
  return *guard;
}

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // stderr is closed or full: there is no place to report it
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool has_status() { return status_shown; }

void draw_status(std::string_view text) {
  if (text.empty() ? !status_shown : !is_terminal()) return;
  const std::lock_guard lock(output_guard());
  status_shown = !text.empty();
  write_all(std::string(kClear).append(text));
}

void write_line(std::string_view line) noexcept {
  try {
    const std::lock_guard lock(output_guard());
    std::string text(status_shown.exchange(false) ? kClear : "");
    write_all(text.append(line).append("\n"));
  } catch (const std::exception&) {  // no memory: in pieces
    write_all(line);
    write_all("\n");
  }
}

}  // namespace symbind
