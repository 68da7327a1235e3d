// How much a file, a graph or a setting may request. A limit stops a few hostile bytes from taking
// all memory or hours of time; each is far above what real networks need, and a variable raises it.
#pragma once

#include <cstdint>
#include <string_view>

#include "symbind/error.h"

namespace symbind {

enum class Limit {
  kFileBytes,    ///< of one file that is read into memory
  kFileArrays,   ///< arrays in one .params or .states file
  kSparseBytes,  ///< what the sparse arrays of one file may become when dense
  kNodeInputs,   ///< inputs of one node
  kNodeOutputs,  ///< outputs of one node
  kNameBytes,    ///< length of a name or key
  kNesting,      ///< levels of JSON, of a pickle or of attributes
  kThreads,      ///< threads of one operation
  kDeviceWait    ///< seconds for which a device waits for the others, inside a run
};

/// The limit as the setting gives it.
std::int64_t limit(Limit which);

/// Throws unless value ≤ limit(which). `owner` opens the message: "Concat 'c'", "the file
/// x.params".
void check_limit(Limit which, std::int64_t value, std::string_view owner,
                 ErrorKind kind = ErrorKind::kValue);

}  // namespace symbind
