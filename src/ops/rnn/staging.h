// The memory of an RNN node: copies of 16-bit tensors in float, then the rest that the arithmetic
// needs.
#pragma once

#include <symbind/kernel.h>

#include <vector>

#include "ndarray/convert.h"

namespace symbind {

/// The offsets of everything, in bytes of the workspace.
struct Staging {
  struct Tensor {
    bool used = true;
    DType dtype = DType::kFloat32;
    std::int64_t size = 0;
    std::size_t copy = 0;
  };
  std::vector<Tensor> in, out;
  bool narrow = false;
  std::size_t tape = 0, scratch = 0, lengths = 0, total = 0;

  /// `floats` marks the inputs that are converted; the others are unchanged.
  Staging(const KernelRequest& r, DType t, const std::vector<bool>& floats, std::size_t outputs)
      : narrow(t == DType::kFloat16 || t == DType::kBFloat16) {
    const auto add = [&](std::vector<Tensor>& to, const TensorDesc& desc, bool used) {
      Tensor tensor{used, desc.dtype, used ? desc.shape.size() : 0, 0};
      if (used && narrow) tensor.copy = take(tensor.size, sizeof(float));
      to.push_back(tensor);
    };
    for (std::size_t i = 0; i < r.in.size(); ++i) add(in, r.in[i], floats[i]);
    for (std::size_t i = 0; i < outputs; ++i) add(out, r.out[i], r.wanted[i]);
  }
  std::size_t take(std::int64_t elements, std::size_t size) {
    const std::size_t at = total;
    total += (static_cast<std::size_t>(elements) * size + 63) / 64 * 64;
    return at;
  }

  static char* at(const Args& a, std::size_t offset) {
    return static_cast<char*>(a.workspace) + offset;
  }
  void load(const Args& a) const {
    if (!narrow) return;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i].used)
        convert(at(a, in[i].copy), DType::kFloat32, a.inputs[i].data, in[i].dtype, in[i].size);
  }
  void store(const Args& a) const {
    if (!narrow) return;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (a.wants(static_cast<int>(i)))
        convert(a.outputs[i].data, out[i].dtype, at(a, out[i].copy), DType::kFloat32, out[i].size);
  }
  template <class T>
  const T* input(const Args& a, int i) const {
    return narrow ? reinterpret_cast<const T*>(at(a, in[static_cast<std::size_t>(i)].copy))
                  : a.in<T>(i);
  }
  template <class T>
  T* output(const Args& a, int i) const {
    if (!a.wants(i)) return nullptr;
    return narrow ? reinterpret_cast<T*>(at(a, out[static_cast<std::size_t>(i)].copy))
                  : a.out<T>(i);
  }
};

}  // namespace symbind
