// The plain kernel of stacks of recurrent layers: loops that follow the definition. Read
// reference.cpp to learn what the operator RNN computes; rnn.h has the fast kernel.
#pragma once

#include "kernels/rnn/io.h"

namespace symbind::rnn::reference {

/// Keeps the values of all layers, whether a gradient follows or not: `io.tape` has the layout
/// Tape(s, true). It needs no scratch memory.
template <class T>
void forward(const Sizes& s, const Forward<T>& io);

template <class T>
void backward(const Sizes& s, const Backward<T>& io);
/// Elements of `scratch`.
std::int64_t backward_scratch(const Sizes& s);

}  // namespace symbind::rnn::reference
