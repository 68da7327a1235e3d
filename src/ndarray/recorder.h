#pragma once
// The mode in which a thread runs operators, and the recorder it reports them to.
//
// Decided here: the recorder (autograd, a higher layer) is an interface in this layer, so that
// views, copies and writes of arrays can report to it as operators do. Internal copies (executors,
// kernels, stores) run under Unrecorded.

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <symbind/attr_dict.h>
#include <symbind/ndarray.h>

namespace symbind {

struct OpDef;

/// An operator that ran.
struct RanOp {
  const OpDef* op = nullptr;
  const AttrDict* attrs = nullptr;  ///< as written
  std::shared_ptr<const void> parsed;
  std::span<const NDArray> in = {};  ///< the caller's handles: the tape is noted on them
  std::span<const NDArray> out = {};
  std::vector<NDArray> hidden;             ///< outputs after the visible ones; undefined if unread
  std::string_view kernel;                 ///< that wrote the opaque ones among them
  std::vector<bool> opaque;                ///< by output
  std::vector<bool> reads_in, reads_out;   ///< what the gradient reads
  std::shared_ptr<const void> state = {};  ///< what user code keeps from forward to backward
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Notes it on the tape, and on the handles of the outputs and of what the gradient reads.
  virtual void ran(const RanOp& call) = 0;
  /// `result` is what operator `op` would have made of the inputs.
  virtual void derived(std::string_view op, const AttrDict& attrs,
                       const std::vector<NDArray>& inputs, const NDArray& result) = 0;
  /// Whether the array is on the tape.
  virtual bool is_recorded(const NDArray& array) const = 0;
  /// Throws: the gradient of the contents of `target` would be lost or wrong.
  [[noreturn]] virtual void refuse_write(const NDArray& target) const = 0;
};

struct ThreadMode {
  Recorder* recorder = nullptr;  ///< null where nothing is recorded
  bool training = false;
};
/// Of the calling thread.
ThreadMode& thread_mode();

/// Whether a view or copy of `source` must be recorded.
inline bool should_record(const NDArray& source) {
  return source.tape().node != nullptr && thread_mode().recorder != nullptr;
}
/// Calls Recorder::derived if this thread records.
void record_derived(std::string_view op, const AttrDict& attrs, const std::vector<NDArray>& inputs,
                    const NDArray& result);
/// If this thread records, refuses to overwrite a recorded array.
void check_write(const NDArray& target);
/// Refuses to write `value` into a part of `target` if either was recorded: the result would depend
/// on both.
void check_partial_write(const NDArray& target, const NDArray& value);

/// A block in which nothing is recorded.
class Unrecorded {
 public:
  Unrecorded() : before_(std::exchange(thread_mode().recorder, nullptr)) {}
  ~Unrecorded() { thread_mode().recorder = before_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;
  /// The recorder before the block.
  Recorder* recorder() const { return before_; }

 private:
  Recorder* before_;
};

}  // namespace symbind
