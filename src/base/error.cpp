#include "symbind/error.h"

namespace symbind {

const char* kind_name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kValue: return "ValueError";
    case ErrorKind::kType: return "TypeError";
    case ErrorKind::kIndex: return "IndexError";
    case ErrorKind::kShape: return "ShapeError";
    case ErrorKind::kNotImplemented: return "NotImplementedError";
    case ErrorKind::kMemory: return "MemoryError";
    case ErrorKind::kIo: return "IOError";
    case ErrorKind::kName: return "NameError";
    case ErrorKind::kLost: return "WorkerLostError";
    case ErrorKind::kState: return "StateError";
  }
  return "Error";
}

Error Error::with_context(std::string_view line) const {
  std::string text = what();
  text += '\n';
  text += line;
  return Error(kind_, text);
}

}  // namespace symbind
