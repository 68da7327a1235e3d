// The status line is put together from parts, the most important first, as far as the terminal is
// wide; the bar takes what is left.

#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace symbind::program {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Resident memory of this process in bytes; 0 where it is not known.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string values_text(const std::vector<NameValue>& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : "  ", name, value);
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds + 0.5, 0.0, 1e9));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

void Progress::batch(int epoch, int number, const std::vector<NameValue>& values) {
  const auto now = Clock::now();
  if (epoch != epoch_) {  // the first batch may include binding: it is not measured
    epoch_ = epoch;
    begin_ = now;
    first_batch_ = number;
    has_line_ = true;
    validation_.clear();
  }
  const auto batches_seen = number - first_batch_;
  const double seconds = seconds_between(begin_, now);
  const auto samples = static_cast<double>(batches_seen * batch_size_);
  if (seconds > 0 && samples > 0) samples_per_second_ = samples / seconds;
  if (!is_terminal() || seconds_between(drawn_, now) < 0.1) return;
  drawn_ = now;
  draw_status(status(epoch, number, values));
}

std::string Progress::status(int epoch, int number, const std::vector<NameValue>& values) const {
  const auto width = static_cast<std::size_t>(std::max(8, terminal_width() - 1));
  const double done = static_cast<double>(number + 1) / static_cast<double>(batches_);
  std::string line = fmt::format("{}/{} {:3.0f}%", epoch + 1, epochs_, 100 * std::min(1.0, done));
  const std::size_t begin = line.size();
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} {:.4f}", name, value));
  const std::size_t at = std::min<std::size_t>(1, parts.size());
  if (samples_per_second_ > 0) {
    const auto batches = static_cast<double>((epochs_ - epoch) * batches_ - number - 1);
    const double left = batches * static_cast<double>(batch_size_) / samples_per_second_;
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at),
                 {clock_text(left) + " left", fmt::format("{:.0f}/s", samples_per_second_)});
  }
  parts.push_back(amount(resident_bytes(), "B"));
  constexpr std::size_t kLeast = 8, kMost = 30, kWide = 50;
  const std::size_t reserved = width >= kWide ? kLeast + 3 : 0;
  for (const std::string& part : parts)
    if (line.size() + 2 + part.size() + reserved <= width) line += "  " + part;
  if (line.size() + kLeast + 3 <= width) {
    const std::size_t cells = std::min(kMost, width - line.size() - 3);
    const auto full = static_cast<std::size_t>(std::min(1.0, done) * static_cast<double>(cells));
    line.insert(begin, " [" + std::string(full, '#') + std::string(cells - full, '.') + "]");
  }
  return line.substr(0, width);
}

void Progress::epoch_trained(int epoch, const std::vector<NameValue>& values) {
  epoch_ = epoch;
  epoch_seconds_ = seconds_between(begin_, Clock::now());
  train_ = values;
}

void Progress::epoch_validated(const std::vector<NameValue>& values) { validation_ = values; }

void Progress::epoch_done() {
  if (!has_line_) return;
  has_line_ = false;
  std::string line = fmt::format("epoch {}/{}  {}", epoch_ + 1, epochs_, values_text(train_));
  if (!validation_.empty()) line += "  validation " + values_text(validation_);
  line += fmt::format("  {:.0f} samples/s  {}", samples_per_second_, clock_text(epoch_seconds_));
  say(line);
}

}  // namespace symbind::program
