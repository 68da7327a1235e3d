#pragma once
// Event files, as TensorBoard reads them: numbers and histograms by tag and step.
//
// A record is on disk when a call returns, so a run that dies loses nothing. Every writer makes its
// own file; TensorBoard joins those of one folder, so a resumed run continues its curves.

#include <cstdint>
#include <memory>
#include <string>

#include <symbind/ndarray.h>

namespace symbind {

class EventFile {
 public:
  /// Makes `events.out.tfevents.<time>.<host>.<process>.<count>` in `folder`, and the folder if
  /// there is none.
  explicit EventFile(const std::string& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add_scalar(const std::string& tag, double value, std::int64_t step);
  /// The distribution of an array's numbers; NaN and infinity are skipped.
  void add_histogram(const std::string& tag, const NDArray& values, std::int64_t step);
  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace symbind
