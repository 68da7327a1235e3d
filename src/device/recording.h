#pragma once
// Work that was recorded once and runs again as a whole: a CUDA graph.

namespace symbind {

class Recording {
 public:
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Enqueues everything once more, after the work already in the device's stream. Pointers are
  /// those recorded; the data they point to may have changed.
  virtual void replay() = 0;

 protected:
  Recording() = default;
};

}  // namespace symbind
