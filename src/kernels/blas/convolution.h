// Convolution as matrix products over unrolled patches (im2col), for builds without oneDNN and for
// float64. One image and one group at a time.
#pragma once

#include <cstddef>

#include "kernels/convolution_sizes.h"

namespace symbind::blas {

/// Elements of workspace: the unrolled patches of one image and group.
std::int64_t patch_elements(const ConvolutionSizes& s);

template <class T>
void convolution(const ConvolutionSizes& s, const T* x, const T* w, const T* bias, T* y,
                 T* patches);
template <class T>
void convolution_backward_data(const ConvolutionSizes& s, const T* dy, const T* w, T* dx,
                               T* patches);
template <class T>
void convolution_backward_weights(const ConvolutionSizes& s, const T* dy, const T* x, T* dw,
                                  T* patches);

}  // namespace symbind::blas
