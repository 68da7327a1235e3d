// The bar is put together from parts, the most important first, as far as the terminal is wide; the
// drawing takes what is left.

#include "module/progress.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include <symbind/terminal.h>

namespace symbind {
namespace {

/// "1:02:03", "0:07".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds + 0.5, 0.0, 1e9));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

/// Resident memory of this process: "312 MB"; empty where it is not known.
std::string memory_text() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  if (!(file >> total >> resident)) return {};
  const double bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6)
                     : fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace

std::string values_text(const std::vector<NameValue>& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : "  ", name, value);
  return text;
}

void Progress::begin(int epoch, int batches) {
  epoch_ = epoch;
  first_ = batches;
  measuring_ = false;
  begin_ = Clock::now();
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

double Progress::samples_per_second(int batches) const {
  const double time = seconds();
  if (!measuring_ || batches <= first_ || time <= 0) return 0;
  return static_cast<double>(batches - first_) * static_cast<double>(o_.batch_size) / time;
}

bool Progress::is_due(int batches) {
  using namespace std::chrono_literals;
  if (!measuring_) {
    measuring_ = true;
    first_ = batches;
    begin_ = Clock::now();
  }
  return o_.bar && Clock::now() - drawn_ >= 100ms;
}

void Progress::draw(int batches, const std::vector<NameValue>& values) {
  drawn_ = Clock::now();
  draw_status(status(batches, values));
}

std::string Progress::status(int batches, const std::vector<NameValue>& values) const {
  const auto width = static_cast<std::size_t>(std::max(8, terminal_width() - 1));
  std::string line = fmt::format("{}/{}", epoch_ + 1, o_.epochs);
  double done = 0;
  if (o_.batches && *o_.batches > 0) {
    done = std::min(1.0, static_cast<double>(batches) / static_cast<double>(*o_.batches));
    line += fmt::format(" {:3.0f}%", 100 * done);
  } else {
    line += fmt::format(" batch {}", batches);
  }
  const std::size_t begin = line.size();
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} {:.4f}", name, value));
  std::vector<std::string> speed;
  if (const double rate = samples_per_second(batches); rate > 0) {
    if (o_.batches) {
      const auto left = static_cast<double>((o_.epochs - epoch_) * *o_.batches - batches);
      speed.push_back(clock_text(left * static_cast<double>(o_.batch_size) / rate) + " left");
    }
    speed.push_back(fmt::format("{:.0f}/s", rate));
  }
  parts.insert(parts.begin() + std::min<std::ptrdiff_t>(1, std::ssize(parts)), speed.begin(),
               speed.end());
  if (const std::string memory = memory_text(); !memory.empty()) parts.push_back(memory);
  constexpr std::size_t kLeast = 8, kMost = 30, kWide = 50;
  const bool has_bar = o_.batches.has_value();
  const std::size_t reserved = has_bar && width >= kWide ? kLeast + 3 : 0;
  for (const std::string& part : parts)
    if (line.size() + 2 + part.size() + reserved <= width) line += "  " + part;
  if (has_bar && line.size() + kLeast + 3 <= width) {
    const std::size_t cells = std::min(kMost, width - line.size() - 3);
    const auto full = static_cast<std::size_t>(done * static_cast<double>(cells));
    line.insert(begin, " [" + std::string(full, '#') + std::string(cells - full, '.') + "]");
  }
  return line.substr(0, width);
}

void Progress::trained(int batches, const std::vector<NameValue>& values) {
  trained_seconds_ = seconds();
  speed_ = samples_per_second(batches);
  values_ = values;
  if (!o_.batches) o_.batches = batches;
}

void Progress::done(const std::vector<NameValue>& validation) {
  if (!o_.lines) return;
  std::string line = fmt::format("epoch {}/{}  {}", epoch_ + 1, o_.epochs, values_text(values_));
  if (!validation.empty()) line += "  validation " + values_text(validation);
  if (speed_ > 0) line += fmt::format("  {:.0f} samples/s", speed_);
  write_line(line + "  " + clock_text(trained_seconds_));
}

void Progress::end() {
  if (o_.bar) draw_status("");
}

}  // namespace symbind
