// The operations of an epilogue that oneDNN applies while it writes the output.
#pragma once

#include "kernels/epilogue.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

/// A run of operations as attributes of a primitive.
struct PostOps {
  dnnl::primitive_attr attr;
  int sum = -1;  ///< the input that the output must hold before the run; -1: none
  struct Operand {
    int argument, input;
    MemoryDesc desc;
  };
  std::vector<Operand> operands;  ///< further arguments of the primitive
};

/// Operations [first, last) of `epilogue` for an output of this rank and `channels`; nothing if one
/// of them is none of oneDNN's.
std::optional<PostOps> post_ops(const EpiloguePass& epilogue, std::size_t first, std::size_t last,
                                int rank, std::int64_t channels);

}  // namespace symbind::onednn
