// An image mirrored, always or with probability one half.
//
// Decided here: a random flip draws one number per call; the image is unchanged if that is below
// one half, as in MXNet. MXNet leaves the middle row or column of an odd extent unset; here it is
// copied from the image. No gradient.
#include <algorithm>

#include <symbind/operator.h>

#include "ndarray/dtype_dispatch.h"
#include "ops/image/images.h"
#include "ops/random/stream.h"

namespace symbind {
namespace {

void infer(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (in.rank_known()) check_image_rank(in, "an image flip", false);
}

template <class T>
void flip(const Images& of, bool rows, const T* x, T* y) {
  for (std::int64_t j = 0; j < of.height; ++j)
    for (std::int64_t i = 0; i < of.width; ++i) {
      const std::int64_t from =
          rows ? (of.height - 1 - j) * of.width + i : j * of.width + of.width - 1 - i;
      y = std::copy_n(x + from * of.channels, of.channels, y);
    }
}

template <bool kRows, bool kRandom>
Prepared prepare(const NoAttrs&, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [of = Images(r.in[0].shape)](const Args& args) {
      if (kRandom && RandomStream(*args.run, 0).unit() < 0.5)
        std::copy_n(args.in<T>(0), of.size(), args.out<T>(0));
      else
        flip(of, kRows, args.in<T>(0), args.out<T>(0));
    };
  });
}

}  // namespace

void register_image_flip(OpRegistry& r) {
  const auto add = [&](const char* name, const char* doc) -> OpBuilder<NoAttrs> {
    return r.add<NoAttrs>(name).inputs(std::vector<std::string>{"data"}).doc(doc).infer(infer);
  };
  add("_image_flip_left_right", "An image mirrored left to right.")
      .reference(prepare<false, false>);
  add("_image_flip_top_bottom", "An image mirrored top to bottom.").reference(prepare<true, false>);
  add("_image_random_flip_left_right", "An image mirrored left to right, or not, at random.")
      .random()
      .reference(prepare<false, true>);
  add("_image_random_flip_top_bottom", "An image mirrored top to bottom, or not, at random.")
      .random()
      .reference(prepare<true, true>);
}

}  // namespace symbind
