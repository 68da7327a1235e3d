// A border around an image: _cvcopyMakeBorder, which mx.image.copyMakeBorder calls.
//
// Decided here: a border is filled from the image by OpenCV's rule for its type:
//   0 constant    iiiiii|abcdefgh|iiiiiii        1 replicate  aaaaaa|abcdefgh|hhhhhhh
//   2 reflect     fedcba|abcdefgh|hgfedcb        3 wrap       cdefgh|abcdefgh|abcdefg
//   4 reflect101  gfedcb|abcdefgh|gfedcba
// No gradient, as in MXNet.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <symbind/operator.h>

#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/image/images.h"

namespace symbind {
namespace {

enum Border { kConstant, kReplicate, kReflect, kWrap, kReflect101 };

struct BorderAttrs {
  int top = 0, bot = 0, left = 0, right = 0, type = 0;
  double value = 0;
  FloatTuple values;
  void describe(AttrVisitor& v) {
    v.field("top", top, "Rows above.").required().at_least(0);
    v.field("bot", bot, "Rows below.").required().at_least(0);
    v.field("left", left, "Columns to the left.").required().at_least(0);
    v.field("right", right, "Columns to the right.").required().at_least(0);
    v.field("type", type,
            "0 constant, 1 the edge, 2 mirrored with the edge, 3 wrapped around, 4 mirrored; "
            "adding 16 has no effect.")
        .at_least(0)
        .at_most(20);
    v.field("value", value, "The constant of all channels; values overrides it.");
    v.field("values", values, "The constant of each channel, up to four.");
  }
};

/// Without OpenCV's bit for "do not read beyond this part of a larger image": images are complete
/// here.
int kind(const BorderAttrs& a) { return a.type & 15; }

void infer(const BorderAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_image_rank(in, "_cvcopyMakeBorder", false);
  check(a.values.size() <= 4, "values has {} members; there are at most four", a.values.size());
  check(kind(a) <= kReflect101, "there is no border of type {}; types are 0 to 4", a.type);
  if (!in.known()) return;
  check(in.size() > 0, ErrorKind::kShape, "an image of shape {} is empty and cannot have a border",
        in.str());
  io.set_shape(io.out(0), Shape({in[0] + a.top + a.bot, in[1] + a.left + a.right, in[2]}),
               "it follows from the margins");
}

/// The row or column of the image at `i`; -1 for the constant.
std::int64_t source(std::int64_t i, std::int64_t n, int type) {
  if (i >= 0 && i < n) return i;
  if (type == kConstant) return -1;
  if (type == kReplicate) return i < 0 ? 0 : n - 1;
  if (type == kWrap) return ((i % n) + n) % n;
  if (n == 1) return 0;
  const std::int64_t edge = type == kReflect101 ? 1 : 0, period = 2 * (n - edge);
  const std::int64_t at = ((i % period) + period) % period;
  return at < n ? at : period - 1 + edge - at;
}

/// As OpenCV stores a number: integers rounded and clipped.
template <class T>
T stored(double value) {
  if constexpr (std::is_integral_v<T>)
    value = std::clamp(std::nearbyint(value), static_cast<double>(std::numeric_limits<T>::lowest()),
                       static_cast<double>(std::numeric_limits<T>::max()));
  return convert_element<T>(value);
}

Prepared prepare(const BorderAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    const Images of(r.in[0].shape);
    std::vector<T> colour;
    for (std::int64_t c = 0; c < of.channels; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const double given = k < a.values.size() ? a.values[k] : 0;
      colour.push_back(stored<T>(a.values.empty() ? (c < 3 ? a.value : 0) : given));
    }
    return [of, a, colour](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      for (std::int64_t row = -a.top; row < of.height + a.bot; ++row) {
        const std::int64_t j = source(row, of.height, kind(a));
        for (std::int64_t column = -a.left; column < of.width + a.right; ++column) {
          const std::int64_t i = source(column, of.width, kind(a));
          if (i < 0 || j < 0)
            y = std::copy(colour.begin(), colour.end(), y);
          else
            y = std::copy_n(x + (j * of.width + i) * of.channels, of.channels, y);
        }
      }
    };
  });
}

}  // namespace

void register_image_border(OpRegistry& r) {
  r.add<BorderAttrs>("_cvcopyMakeBorder")
      .inputs(std::vector<std::string>{"src"})
      .doc("An image with a border, as OpenCV makes it.")
      .infer(infer)
      .reference(prepare);
}

}  // namespace symbind
