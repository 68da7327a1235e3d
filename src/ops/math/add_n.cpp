// y = x0 + x1 + … for any number of arrays of one shape.
//
// Decided here: the sum runs left to right in the elements' type (float for 16-bit floats, rounded
// once at the end), and may be formed in the memory of x0.
#include <algorithm>
#include <cstring>

#include <symbind/operator.h>

#include "base/build.h"
#include "base/parallel.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"
#include "kernels/elementwise.h"

namespace symbind {
namespace {

struct AddNAttrs {
  int num_args = 1;
  void describe(AttrVisitor& v) {
    v.field("num_args", num_args, "Number of arrays.").required().at_least(1);
  }
};

void infer(const AddNAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient(const AddNAttrs& a, GradientBuilder& g) {
  return NodeEntries(static_cast<std::size_t>(a.num_args), g.head(0));
}

Prepared prepare(const AddNAttrs& attrs, const KernelRequest& request, const Offer&) {
  const TensorDesc& out = request.out[0];
  const ElementType type = element_type(out.dtype);
  const BinaryLoop add = binary_function("add").loops[static_cast<int>(type.compute)][0];
  return [count = attrs.num_args, n = out.shape.size(), type, add](const Args& args) {
    const auto size = static_cast<std::int64_t>(type.size);
    auto* y = static_cast<char*>(args.outputs[0].data);
    const auto x = [&](int k, std::int64_t i) {
      return static_cast<const char*>(args.inputs[k].data) + i * size;
    };
    const auto range = [&](std::int64_t begin, std::int64_t end) {
      alignas(64) char sum[kChunk * 8], next[kChunk * 8];
      for (std::int64_t i = begin; i < end; i += kChunk) {
        const std::int64_t m = std::min(kChunk, end - i);
        char* to = y + i * size;
        if (type.load != nullptr) {
          type.load(x(0, i), sum, m);
          for (int k = 1; k < count; ++k) {
            type.load(x(k, i), next, m);
            add(sum, next, sum, m);
          }
          type.store(sum, to, m);
        } else if (count == 1) {
          if (to != x(0, i)) std::memcpy(to, x(0, i), static_cast<std::size_t>(m * size));
        } else {
          add(x(0, i), x(1, i), to, m);
          for (int k = 2; k < count; ++k) add(to, x(k, i), to, m);
        }
      }
    };
    parallel_for(n, 16384, range);
  };
}

}  // namespace

void register_add_n(OpRegistry& r) {
  r.add<AddNAttrs>("add_n")
      .slices(Slices::kElementwise)
      .precision(Precision::kAsStored)
      .as_epilogue([](const AddNAttrs& a) -> std::optional<EpilogueItem> {
        if (a.num_args != 2) return std::nullopt;
        return EpilogueItem{EpilogueItem::Kind::kSum};
      })
      .adds_up()
      .flops(1, Per::kInputs)
      .doc("The sum of its inputs.")
      .alias("ElementWiseSum")
      .variadic("num_args", &AddNAttrs::num_args)
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "native",
          [](const AddNAttrs&, const KernelRequest& q) { return accept_same_layout(q); }, prepare)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda",
          [](const AddNAttrs&, const KernelRequest& q) { return cuda::offer_floats(q); },
          [](const AddNAttrs& attrs, const KernelRequest& q, const Offer&) -> Prepared {
            return [count = attrs.num_args, number = cuda::number_of(q.out[0].dtype),
                    n = q.out[0].shape.size(), bytes = q.out[0].bytes()](const Args& a) {
              void *stream = a.run->stream, *y = a.outputs[0].data;
              if (count == 1)
                cuda::check_launch(cuda::copy(stream, a.inputs[0].data, y, bytes), "copy");
              for (int k = 1; k < count; ++k)
                cuda::check_launch(cuda::add(stream, number, k == 1 ? a.inputs[0].data : y,
                                             a.inputs[k].data, y, n),
                                   "add");
            };
          });
}

}  // namespace symbind
