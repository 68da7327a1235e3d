// From images to inputs of networks.
//
//   image.to_tensor   float32 y (…, channels, height, width) = x / 255, for x of 0 to 255
//                     (…, height, width, channels)
//   image.normalize   y = (x − mean[c]) / std[c] over (…, channels, height, width);
//                     dx = dy / std[c]
//   image.crop        the rectangle of `width` × `height` pixels whose corner is (x, y);
//                     dx is 0 outside
//
// Decided here: as in MXNet, normalize takes 1 or 3 channels, to_tensor has no gradient, and crop
// takes 1 or 3 channels too.
#include <algorithm>

#include <symbind/operator.h>

#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/image/images.h"

namespace symbind {
namespace {

// ---- to_tensor ----------------------------------------------------------------------------------

void infer_to_tensor(const NoAttrs&, Inference& io) {
  io.set_dtype(io.out(0), DType::kFloat32, "a tensor is float32");
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_image_rank(in, "image.to_tensor");
  if (!in.known()) return;
  const Images of(in);
  io.set_shape(io.out(0),
               in.rank() == 4 ? Shape({of.count, of.channels, of.height, of.width})
                              : Shape({of.channels, of.height, of.width}),
               "channels come first");
}

Prepared to_tensor(const NoAttrs&, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [of = Images(r.in[0].shape)](const Args& args) {
      const T* x = args.in<T>(0);
      float* y = args.out<float>(0);
      for (std::int64_t n = 0; n < of.count; ++n, x += of.size())
        for (std::int64_t c = 0; c < of.channels; ++c)
          for (std::int64_t i = 0; i < of.height * of.width; ++i)
            *y++ = convert_element<float>(x[i * of.channels + c]) / 255.f;
    };
  });
}

// ---- normalize ----------------------------------------------------------------------------------

struct NormalizeAttrs {
  FloatTuple mean = {0, 0, 0, 0}, std = {1, 1, 1, 1};
  void describe(AttrVisitor& v) {
    v.field("mean", mean, "What to subtract: one number, or one for each channel.");
    v.field("std", std, "What to divide by: one number, or one for each channel.");
  }
  static double of(const FloatTuple& values, std::int64_t channel) {
    return static_cast<float>(values[values.size() == 1 ? 0 : static_cast<std::size_t>(channel)]);
  }
};

void infer_normalize(const NormalizeAttrs& a, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check(in.rank() == 3 || in.rank() == 4, ErrorKind::kShape,
        "image.normalize needs (channels, height, width) or a batch of such, not shape {}",
        in.str());
  const std::int64_t channels = in[in.rank() - 3];
  if (channels < 0) return;
  check(channels == 1 || channels == 3, ErrorKind::kShape,
        "image.normalize takes 1 or 3 channels, shape {} has {}", in.str(), channels);
  const auto fits = [&](const FloatTuple& values, const char* name) {
    const bool whole_default = values.size() == 4;  // the default applies to every channel
    check(
        whole_default || values.size() == 1 || static_cast<std::int64_t>(values.size()) == channels,
        "{} has {} members; give one, or one for each of the {} channels", name, values.size(),
        channels);
  };
  fits(a.mean, "mean");
  fits(a.std, "std");
}

/// Calls f(c, begin, end) for the elements of every channel.
template <class F>
void each_channel(const Shape& s, F f) {
  const std::int64_t channels = s[s.rank() - 3], area = s[s.rank() - 2] * s[s.rank() - 1];
  for (std::int64_t plane = 0; plane * area < s.size(); ++plane)
    f(plane % channels, plane * area, (plane + 1) * area);
}

Prepared normalize(const NormalizeAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, shape = r.in[0].shape](const Args& args) {
      using Acc = Accumulator<T>;
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      each_channel(shape, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        const Acc mean = static_cast<Acc>(a.of(a.mean, c)), std = static_cast<Acc>(a.of(a.std, c));
        for (std::int64_t i = begin; i < end; ++i)
          y[i] = static_cast<T>((static_cast<Acc>(x[i]) - mean) / std);
      });
    };
  });
}

Prepared normalize_backward(const NormalizeAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, shape = r.in[0].shape](const Args& args) {
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      each_channel(shape, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        const double factor = 1.0 / a.of(a.std, c);
        for (std::int64_t i = begin; i < end; ++i)
          dx[i] = static_cast<T>(static_cast<double>(dy[i]) * factor);
      });
    };
  });
}

// ---- crop ---------------------------------------------------------------------------------------

struct CropAttrs {
  int x = 0, y = 0, width = 0, height = 0;
  void describe(AttrVisitor& v) {
    v.field("x", x, "Left edge of the rectangle.").required().at_least(0);
    v.field("y", y, "Upper edge of the rectangle.").required().at_least(0);
    v.field("width", width, "Its width.").required().at_least(1);
    v.field("height", height, "Its height.").required().at_least(1);
  }
};

void infer_crop(const CropAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_image_rank(in, "image.crop");
  if (!in.known()) return;
  const Images of(in);
  check(of.channels == 1 || of.channels == 3, ErrorKind::kShape,
        "image.crop takes 1 or 3 channels, shape {} has {}", in.str(), of.channels);
  check(a.width <= of.width - a.x && a.height <= of.height - a.y,
        "the rectangle of {} × {} (width × height) at ({}, {}) reaches beyond the image of {} × {}",
        a.width, a.height, a.x, a.y, of.width, of.height);
  io.set_shape(io.out(0), image_shape(in, a.height, a.width), "it follows from width and height");
}

/// Calls f(offset in the image, offset in the rectangle, elements) for every row.
template <class F>
void each_row(const CropAttrs& a, const Images& of, F f) {
  const std::int64_t row = a.width * of.channels;
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < of.count; ++n)
    for (std::int64_t j = 0; j < a.height; ++j, at += row)
      f(n * of.size() + ((a.y + j) * of.width + a.x) * of.channels, at, row);
}

Prepared crop(const CropAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, of = Images(r.in[0].shape)](const Args& args) {
      each_row(a, of, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        std::copy_n(args.in<T>(0) + from, count, args.out<T>(0) + to);
      });
    };
  });
}

void infer_crop_backward(const CropAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
  tie_to_forward(a, io, infer_crop, {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

Prepared crop_backward(const CropAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, of = Images(r.in[1].shape)](const Args& args) {
      std::fill_n(args.out<T>(0), of.count * of.size(), T(0));
      each_row(a, of, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        std::copy_n(args.in<T>(0) + from, count, args.out<T>(0) + to);
      });
    };
  });
}

}  // namespace

void register_image_tensor(OpRegistry& r) {
  r.add<NoAttrs>("_image_to_tensor")
      .inputs(std::vector<std::string>{"data"})
      .doc("An image as a tensor: channels first, 0 to 1.")
      .infer(infer_to_tensor)
      .reference(to_tensor);
  r.add<NormalizeAttrs>("_image_normalize")
      .inputs(std::vector<std::string>{"data"})
      .doc("(x - mean) / std, channel by channel.")
      .infer(infer_normalize)
      .inplace(0, 0)
      .gradient([](const NormalizeAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_image_normalize", {g.head(0)});
      })
      .reference(normalize);
  r.add<NormalizeAttrs>("_backward_image_normalize")
      .inputs(std::vector<std::string>{"head"})
      .infer(infer_normalize)
      .backward()
      .reference(normalize_backward);
  r.add<CropAttrs>("_image_crop")
      .inputs(std::vector<std::string>{"data"})
      .doc("A rectangle of an image.")
      .infer(infer_crop)
      .gradient([](const CropAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_image_crop", {g.head(0), g.input(0)});
      })
      .reference(crop);
  r.add<CropAttrs>("_backward_image_crop")
      .inputs(std::vector<std::string>{"head", "data"})
      .infer(infer_crop_backward)
      .shape_only({1})
      .backward()
      .reference(crop_backward);
}

}  // namespace symbind
