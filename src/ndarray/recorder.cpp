#include "ndarray/recorder.h"

namespace symbind {

ThreadMode& thread_mode() {
  thread_local ThreadMode mode;
  return mode;
}

void record_derived(std::string_view op, const AttrDict& attrs, const std::vector<NDArray>& inputs,
                    const NDArray& result) {
  if (Recorder* recorder = thread_mode().recorder) recorder->derived(op, attrs, inputs, result);
}

void check_write(const NDArray& target) {
  const Recorder* recorder = thread_mode().recorder;
  if (recorder != nullptr && recorder->is_recorded(target)) recorder->refuse_write(target);
}

void check_partial_write(const NDArray& target, const NDArray& value) {
  const Recorder* recorder = thread_mode().recorder;
  if (recorder != nullptr && (recorder->is_recorded(target) || recorder->is_recorded(value)))
    recorder->refuse_write(target);
}

}  // namespace symbind
