#pragma once
// Work that was recorded once and runs again as a whole: a CUDA graph.

namespace symbind {

class Recording {
 public:
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Enqueues everything once more, behind what the device's stream holds already. Pointers are
  /// those of the time of recording; what they point to may have changed.
  virtual void replay() = 0;

 protected:
  Recording() = default;
};

}  // namespace symbind
