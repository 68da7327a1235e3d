// Colours of an image changed by a random or a given amount.
//
//   brightness a   y = a·x
//   contrast a     y = a·x + (1 − a)·m,  m the mean of 0.299 R + 0.587 G + 0.114 B over the image
//   saturation a   y = a·x + (1 − a)·0.114 B   (MXNet uses only the last term of the grey value)
//   hue a          a turn of a·360° in hue, lightness, saturation
//   lighting a     y = x + E·diag(v)·a,  E and v the principal colours of ImageNet
//
// Decided here: amounts are drawn once per call from the operator's stream; color_jitter draws an
// order of its four changes first. A byte is clipped to 0 … 255 (NaN is 0) and truncated, as in
// MXNet; other types are stored unchanged. Where a pixel is NaN or infinite so is its hue, and the
// result is NaN. No gradient.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <symbind/operator.h>

#include "base/checked.h"
#include "kernels/accumulate.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/image/images.h"
#include "ops/random/stream.h"

namespace symbind {
namespace {

constexpr std::array<float, 3> kGrey = {0.299f, 0.587f, 0.114f};

template <class A>
void infer(const A&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_image_rank(in, "a change of colours", false);
  check(in[2] < 0 || in[2] == 1 || in[2] == 3, ErrorKind::kShape,
        "a change of colours takes 1 or 3 channels, shape {} has {}", in.str(), in[2]);
}

template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<T>(value > 0.f ? std::min(value, 255.f) : 0.f);
  else
    return convert_element<T>(value);
}

// ---- The changes: from x to y, which may be x ---------------------------------------------------

template <class T>
void brightness(const Images& of, float a, const T* x, T* y) {
  for (std::int64_t i = 0; i < of.size(); ++i) y[i] = stored<T>(convert_element<float>(x[i]) * a);
}

template <class T>
void contrast(const Images& of, float a, const T* x, T* y) {
  float sum = 0;
  for (std::int64_t i = 0; i < of.size(); ++i)
    sum += convert_element<float>(x[i]) *
           (of.channels == 1 ? 1.f : kGrey[static_cast<std::size_t>(i % 3)]);
  const float shift = (1 - a) * (sum / static_cast<float>(of.height * of.width));
  for (std::int64_t i = 0; i < of.size(); ++i)
    y[i] = stored<T>(convert_element<float>(x[i]) * a + shift);
}

template <class T>
void saturation(const Images& of, float a, const T* x, T* y) {
  if (of.channels == 1) {
    std::copy_n(x, of.size(), y);
    return;
  }
  for (std::int64_t i = 0; i < of.size(); i += 3) {
    const float grey = convert_element<float>(x[i + 2]) * kGrey[2] * (1.f - a);
    for (std::int64_t c = i; c < i + 3; ++c)
      y[c] = stored<T>(grey + convert_element<float>(x[c]) * a);
  }
}

struct Hls {
  float hue, lightness, saturation;
};

Hls to_hls(float red, float green, float blue) {
  const float r = red / 255.f, g = green / 255.f, b = blue / 255.f;
  const float high = std::max({r, g, b}), low = std::min({r, g, b}), span = high - low;
  Hls hls{0, (high + low) * 0.5f, 0};
  if (span <= std::numeric_limits<float>::epsilon()) return hls;
  hls.saturation = hls.lightness < 0.5f ? span / (high + low) : span / (2.0f - high - low);
  const float degrees = 60.f / span;
  if (high == r)
    hls.hue = (g - b) * degrees;
  else if (high == g)
    hls.hue = (b - r) * degrees + 120.f;
  else
    hls.hue = (r - g) * degrees + 240.f;
  if (hls.hue < 0.f) hls.hue += 360.f;
  return hls;
}

std::array<float, 3> to_rgb(const Hls& hls) {
  const float l = hls.lightness, s = hls.saturation;
  if (s == 0) return {l * 255.f, l * 255.f, l * 255.f};
  const float p2 = l <= 0.5f ? l * (1 + s) : l + s - l * s, p1 = 2 * l - p2;
  float h = hls.hue * (1.f / 60.f);
  h -= 6 * std::floor(h / 6);
  const auto sector = clamped_whole(h, 0, 5);
  h -= static_cast<float>(sector);
  const std::array<float, 4> at = {p2, p1, p1 + (p2 - p1) * (1 - h), p1 + (p2 - p1) * h};
  constexpr std::size_t kBgr[6][3] = {{1, 3, 0}, {1, 0, 2}, {3, 0, 1},
                                      {0, 2, 1}, {0, 1, 3}, {2, 1, 0}};
  const auto& of_sector = kBgr[sector];
  return {at[of_sector[2]] * 255.f, at[of_sector[1]] * 255.f, at[of_sector[0]] * 255.f};
}

template <class T>
void hue(const Images& of, float a, const T* x, T* y) {
  if (of.channels == 1) {
    std::copy_n(x, of.size(), y);
    return;
  }
  for (std::int64_t i = 0; i < of.size(); i += 3) {
    Hls hls = to_hls(convert_element<float>(x[i]), convert_element<float>(x[i + 1]),
                     convert_element<float>(x[i + 2]));
    hls.hue += a * 360.f;
    const std::array<float, 3> rgb = to_rgb(hls);
    for (std::size_t c = 0; c < 3; ++c) y[i + static_cast<std::int64_t>(c)] = stored<T>(rgb[c]);
  }
}

template <class T>
void lighting(const Images& of, const std::array<float, 3>& alpha, const T* x, T* y) {
  constexpr float kColours[3][3] = {{55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
                                    {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
                                    {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f}};
  if (of.channels == 1) {
    std::copy_n(x, of.size(), y);
    return;
  }
  std::array<float, 3> shift{};
  for (std::size_t c = 0; c < 3; ++c)
    shift[c] = kColours[c][0] * alpha[0] + kColours[c][1] * alpha[1] + kColours[c][2] * alpha[2];
  for (std::int64_t i = 0; i < of.size(); ++i)
    y[i] = stored<T>(convert_element<float>(x[i]) + shift[static_cast<std::size_t>(i % 3)]);
}

// ---- Operators ----------------------------------------------------------------------------------

float between(RandomStream& stream, float low, float high) {
  return low + (high - low) * static_cast<float>(stream.unit());
}

struct FactorAttrs {
  float min_factor = 0, max_factor = 0;
  void describe(AttrVisitor& v) {
    v.field("min_factor", min_factor, "Least amount.").required().at_least(0);
    v.field("max_factor", max_factor, "Greatest amount.").required().at_least(0);
  }
};

enum class Change : std::int8_t { kBrightness, kContrast, kSaturation, kHue };

template <class T>
void apply(Change change, const Images& of, float a, const T* x, T* y) {
  switch (change) {
    case Change::kBrightness: return brightness(of, a, x, y);
    case Change::kContrast: return contrast(of, a, x, y);
    case Change::kSaturation: return saturation(of, a, x, y);
    case Change::kHue: return hue(of, a, x, y);
  }
}

template <Change kChange>
Prepared one_change(const FactorAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, of = Images(r.in[0].shape)](const Args& args) {
      RandomStream stream(*args.run, 0);
      apply(kChange, of, between(stream, a.min_factor, a.max_factor), args.in<T>(0),
            args.out<T>(0));
    };
  });
}

struct JitterAttrs {
  float brightness = 0, contrast = 0, saturation = 0, hue = 0;
  void describe(AttrVisitor& v) {
    v.field("brightness", brightness, "How much brightness may differ from 1.").required();
    v.field("contrast", contrast, "How much contrast may differ from 1.").required();
    v.field("saturation", saturation, "How much saturation may differ from 1.").required();
    v.field("hue", hue, "How much hue may change, as a fraction of a full turn.").required();
  }
};

Prepared jitter(const JitterAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, of = Images(r.in[0].shape)](const Args& args) {
      RandomStream stream(*args.run, 0);
      std::array<Change, 4> order = {Change::kBrightness, Change::kContrast, Change::kSaturation,
                                     Change::kHue};
      for (std::size_t i = 3; i > 0; --i) std::swap(order[i], order[stream.below(i + 1)]);
      const std::array<float, 4> most = {a.brightness, a.contrast, a.saturation, a.hue};
      const T* from = args.in<T>(0);
      for (const Change change : order) {
        const float amount = most[static_cast<std::size_t>(change)];
        if (amount <= 0) continue;
        const float drawn = between(stream, -amount, amount);
        apply(change, of, change == Change::kHue ? drawn : 1 + drawn, from, args.out<T>(0));
        from = args.out<T>(0);
      }
      if (from != args.out<T>(0)) std::copy_n(from, of.size(), args.out<T>(0));
    };
  });
}

struct AdjustLightingAttrs {
  FloatTuple alpha;
  void describe(AttrVisitor& v) {
    v.field("alpha", alpha, "The amounts of the three principal colours.").required();
  }
};

void infer_adjust(const AdjustLightingAttrs& a, Inference& io) {
  infer(a, io);
  check(a.alpha.size() == 3, "alpha has {} members; it takes three", a.alpha.size());
}

Prepared adjust_lighting(const AdjustLightingAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [of = Images(r.in[0].shape),
            alpha = std::array{static_cast<float>(a.alpha[0]), static_cast<float>(a.alpha[1]),
                               static_cast<float>(a.alpha[2])}](const Args& args) {
      lighting(of, alpha, args.in<T>(0), args.out<T>(0));
    };
  });
}

struct RandomLightingAttrs {
  float alpha_std = 0.05f;
  void describe(AttrVisitor& v) {
    v.field("alpha_std", alpha_std, "Deviation of the drawn amounts.");
  }
};

Prepared random_lighting(const RandomLightingAttrs& a, const KernelRequest& r) {
  return dispatch_dtype(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, of = Images(r.in[0].shape)](const Args& args) {
      RandomStream stream(*args.run, 0);
      std::array<float, 3> alpha{};
      for (float& amount : alpha) amount = a.alpha_std * static_cast<float>(stream.normal());
      lighting(of, alpha, args.in<T>(0), args.out<T>(0));
    };
  });
}

}  // namespace

void register_image_color(OpRegistry& r) {
  const std::vector<std::string> data = {"data"};
  r.add<FactorAttrs>("_image_random_brightness")
      .inputs(data)
      .doc("An image with its brightness changed at random.")
      .infer(infer<FactorAttrs>)
      .random()
      .reference(one_change<Change::kBrightness>);
  r.add<FactorAttrs>("_image_random_contrast")
      .inputs(data)
      .doc("An image with its contrast changed at random.")
      .infer(infer<FactorAttrs>)
      .random()
      .reference(one_change<Change::kContrast>);
  r.add<FactorAttrs>("_image_random_saturation")
      .inputs(data)
      .doc("An image with its saturation changed at random.")
      .infer(infer<FactorAttrs>)
      .random()
      .reference(one_change<Change::kSaturation>);
  r.add<FactorAttrs>("_image_random_hue")
      .inputs(data)
      .doc("An image with its hue changed at random.")
      .infer(infer<FactorAttrs>)
      .random()
      .reference(one_change<Change::kHue>);
  r.add<JitterAttrs>("_image_random_color_jitter")
      .inputs(data)
      .doc(
          "An image with brightness, contrast, saturation and hue changed at random, in any order.")
      .infer(infer<JitterAttrs>)
      .random()
      .reference(jitter);
  r.add<AdjustLightingAttrs>("_image_adjust_lighting")
      .inputs(data)
      .doc("An image with the principal colours of ImageNet added.")
      .infer(infer_adjust)
      .reference(adjust_lighting);
  r.add<RandomLightingAttrs>("_image_random_lighting")
      .inputs(data)
      .doc("An image with the principal colours of ImageNet added at random.")
      .infer(infer<RandomLightingAttrs>)
      .random()
      .reference(random_lighting);
}

}  // namespace symbind
