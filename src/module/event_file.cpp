// Event files: TFRecord frames around Event messages.
//
//   frame           length (uint64), masked CRC-32C of the length,
//                   the message, masked CRC-32C of the message
//   Event           1 wall_time (double)  2 step (varint)  3 file_version (text)  5 Summary
//   Summary         1 Value: 1 tag (text)  2 simple_value (float)  5 HistogramProto
//   HistogramProto  1 min  2 max  3 num  4 sum  5 sum_squares (doubles)
//                   6 bucket_limit  7 bucket (packed doubles)
//
// Decided here: the few messages are encoded by hand, since a Protocol Buffers library would be a
// large dependency for a small feature. Buckets are TensorBoard's: limits that grow by 10 %.

#include <symbind/event_file.h>

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/append_file.h"
#include "base/check.h"
#include "base/crc32c.h"

namespace symbind {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class T>
void put_bytes(std::string& into, T value) {
  static_assert(std::endian::native == std::endian::little);
  into.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// A Protocol Buffers message under construction.
class Message {
 public:
  Message& varint(int field, std::uint64_t value) {
    put_varint(static_cast<std::uint64_t>(field) << 3);
    put_varint(value);
    return *this;
  }
  Message& number(int field, double value) {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 1);
    put_bytes(bytes_, value);
    return *this;
  }
  Message& short_number(int field, float value) {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 5);
    put_bytes(bytes_, value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 2);
    put_varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& inner) { return text(field, inner.bytes_); }
  Message& packed(int field, const std::vector<double>& values) {
    return text(field,
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

std::string framed(const std::string& message) {
  std::string record;
  put_bytes(record, static_cast<std::uint64_t>(message.size()));
  put_bytes(record, masked_crc(record));
  record += message;
  put_bytes(record, masked_crc(message));
  return record;
}

/// Upper limits of the buckets: 0 in the middle, from 1e-12 by tenths to 1e20, on both sides.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (auto it = positive.rbegin(); it != positive.rend(); ++it) all.push_back(-*it);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

Message histogram(const std::vector<double>& numbers) {
  const std::vector<double>& limits = bucket_limits();
  std::vector<double> counts(limits.size());
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, squares = 0,
         count = 0;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
    squares += x * x;
    ++count;
    ++counts[static_cast<std::size_t>(std::lower_bound(limits.begin(), limits.end(), x) -
                                      limits.begin())];
  }
  std::vector<double> shown_limits, shown_counts;  // runs of empty buckets are one
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const bool next_empty = i + 1 < limits.size() && counts[i + 1] == 0;
    if (counts[i] == 0 && next_empty) continue;
    shown_limits.push_back(limits[i]);
    shown_counts.push_back(counts[i]);
  }
  if (count == 0) low = high = 0;
  return Message()
      .number(1, low)
      .number(2, high)
      .number(3, count)
      .number(4, sum)
      .number(5, squares)
      .packed(6, shown_limits)
      .packed(7, shown_counts);
}

/// A name that no other writer has.
std::string new_path(const std::string& folder) {
  static std::atomic<int> count{0};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  check(std::filesystem::is_directory(folder), ErrorKind::kIo,
        "{}: cannot make the folder for event files: {}", folder,
        failed ? failed.message() : "it is not a folder");
  char host[256] = "host";
  ::gethostname(host, sizeof(host) - 1);
  return fmt::format("{}/events.out.tfevents.{:010d}.{}.{}.{}", folder,
                     static_cast<std::int64_t>(now()), host, ::getpid(), count++);
}

}  // namespace

struct EventFile::State {
  explicit State(const std::string& folder)
      : file(new_path(folder), AppendFile::Open::kMustBeNew) {}
  AppendFile file;

  void add(const Message& value, std::int64_t step) {
    const Message event = Message()
                              .number(1, now())
                              .varint(2, static_cast<std::uint64_t>(step))
                              .message(5, Message().message(1, value));
    file.append(framed(event.bytes()));
  }
};

EventFile::EventFile(const std::string& folder) : state_(std::make_unique<State>(folder)) {
  state_->file.append(framed(Message().number(1, now()).text(3, "brain.Event:2").bytes()));
}
EventFile::~EventFile() = default;

void EventFile::add_scalar(const std::string& tag, double value, std::int64_t step) {
  state_->add(Message().text(1, tag).short_number(2, static_cast<float>(value)), step);
}

void EventFile::add_histogram(const std::string& tag, const NDArray& values, std::int64_t step) {
  state_->add(Message().text(1, tag).message(5, histogram(values.to_vector<double>())), step);
}

const std::string& EventFile::path() const { return state_->file.path(); }

}  // namespace symbind
