// Stacks of recurrent layers, forward and backward: the native kernel. reference.h has the plain
// one.
//
// Each layer and direction is one product over all steps (x·Wᵀ), then step by step h·Rᵀ and the
// cell's arithmetic. Threads split the samples of the batch and both directions, and synchronise
// only between layers.
#pragma once

#include <cstdint>

#include "kernels/rnn/io.h"

namespace symbind::rnn {

template <class T>
void forward(const Sizes& s, const Forward<T>& io);
/// Elements of `scratch`.
std::int64_t forward_scratch(const Sizes& s);

/// All weights in the order in which products read them, for parameters that do not change. Without
/// this form `forward` packs the h2h weights at every call.
std::int64_t packed_elements(const Sizes& s);
void pack(const Sizes& s, const float* parameters, float* packed);

template <class T>
void backward(const Sizes& s, const Backward<T>& io);
std::int64_t backward_scratch(const Sizes& s);

/// The least rows of a batch per thread: fewer make the products slow.
inline constexpr std::int64_t kFewestRows = 8;

/// Where the h of the previous step is.
template <class T>
struct Rows {
  const T* data;
  std::int64_t step;
};

/// Rows [begin, end) of h before step t of a direction: the output of the previous step, or h0.
/// With lengths they are gathered in `buffer`.
template <class T>
Rows<T> previous_rows(const Sizes& s, std::int64_t d, std::int64_t t, std::int64_t begin,
                      std::int64_t end, const T* h0, const T* out, const std::int64_t* lengths,
                      T* buffer) {
  const std::int64_t before = d == 0 ? t - 1 : t + 1, width = s.width(),
                     step = s.directions * width;
  const bool first = before < 0 || before >= s.steps;
  const T* rows = first ? nullptr : out + before * s.batch * step + d * width;
  if (!lengths)
    return first ? Rows<T>{h0 + begin * width, width} : Rows<T>{rows + begin * step, step};
  for (std::int64_t n = begin; n < end; ++n) {
    const T* from = first || before >= lengths[n] ? h0 + n * width : rows + n * step;
    for (std::int64_t i = 0; i < width; ++i) buffer[n * width + i] = from[i];
  }
  return {buffer + begin * width, width};
}

}  // namespace symbind::rnn
