// Floats to 8 bits and back: _contrib_quantize, _contrib_dequantize, _contrib_requantize.
//
//   quantize    uint8: (x − min) · 255 / (max − min) + ½, rounded down
//               int8:  sign x · min(|x| · 127 / r + ½, 127), rounded toward 0;
//                      r = max(|min|, |max|)
//   dequantize  uint8: x · (max − min) / 255 + min              int8: x · r / 127
//   requantize  int32 in the range (min, max) to int8 in the range of the calibration, else in
//               that of the data: y = x · r / (2³¹ − 1), quantized as above
//
// The range of the result is returned as two outputs of one element.
//
// Decided here: these are the formulas MXNet documents. Its oneDNN build computes others (255.5 and
// 127.5 for 255 and 127, uint8 without its minimum, int8 down to −128); docs/from_mxnet.md lists
// them. A range of length 0 gives 0, and values beyond 8 bits are clamped.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

constexpr float kUint8Range = 255, kInt8Range = 127, kInt32Range = 2147483647.f;

struct QuantizeAttrs {
  std::string out_type = "uint8";
  void describe(AttrVisitor& v) {
    v.field("out_type", out_type, "Type of the result.").choices({"int8", "uint8"});
  }
};
struct DequantizeAttrs {
  std::string out_type = "float32";
  void describe(AttrVisitor& v) {
    v.field("out_type", out_type, "Type of the result.").choices({"float32"});
  }
};
struct RequantizeAttrs {
  std::string out_type = "int8";
  std::optional<float> min_calib_range, max_calib_range;
  void describe(AttrVisitor& v) {
    v.field("out_type", out_type, "Type of the result; auto: by min_calib_range.")
        .choices({"auto", "int8", "uint8"});
    v.field("min_calib_range", min_calib_range, "Least value of the calibration's data.");
    v.field("max_calib_range", max_calib_range, "Greatest value of the calibration's data.");
  }
  bool calibrated() const { return min_calib_range && max_calib_range; }
  DType type() const {
    const bool positive = out_type == "auto" && calibrated() && *min_calib_range >= 0;
    return out_type == "uint8" || positive ? DType::kUint8 : DType::kInt8;
  }
};

// ---- Inference ----------------------------------------------------------------------------------

void infer_ranges(Inference& io, bool results) {
  io.same_shape(io.in(0), io.out(0));
  for (int i = 1; i < 3; ++i) {
    io.set_shape(io.in(i), Shape{1}, "one number");
    io.set_dtype(io.in(i), DType::kFloat32, "ranges are float32");
    if (!results) continue;
    io.set_shape(io.out(i), Shape{1}, "one number");
    io.set_dtype(io.out(i), DType::kFloat32, "ranges are float32");
  }
}
void infer_quantize(const QuantizeAttrs& a, Inference& io) {
  infer_ranges(io, true);
  io.set_dtype(io.in(0), DType::kFloat32, "float32 is quantized");
  io.set_dtype(io.out(0), a.out_type == "int8" ? DType::kInt8 : DType::kUint8, "out_type");
}
void infer_dequantize(const DequantizeAttrs&, Inference& io) {
  infer_ranges(io, false);
  const DType t = io.dtype(io.in(0));
  check(t == DType::kUnknown || t == DType::kInt8 || t == DType::kUint8, ErrorKind::kType,
        "int8 or uint8 is dequantized, not {}", dtype_name(t));
  io.set_dtype(io.out(0), DType::kFloat32, "the result is float32");
}
void infer_requantize(const RequantizeAttrs& a, Inference& io) {
  infer_ranges(io, true);
  io.set_dtype(io.in(0), DType::kInt32, "int32 is requantized");
  io.set_dtype(io.out(0), a.type(), "out_type");
}

// ---- Kernels ------------------------------------------------------------------------------------

struct Range {
  float least, greatest;
  float reach() const { return std::max(std::abs(least), std::abs(greatest)); }
};
Range range_of(const Args& args) { return {*args.in<float>(1), *args.in<float>(2)}; }
void write_range(const Args& args, Range r) {
  if (args.wants(1)) *args.out<float>(1) = r.least;
  if (args.wants(2)) *args.out<float>(2) = r.greatest;
}

std::int8_t to_int8(float x, float scale) {
  const float size = std::min(std::abs(x) * scale + 0.5f, kInt8Range);
  const std::int64_t whole = clamped_whole(size, 0, 127);
  return static_cast<std::int8_t>(x < 0 ? -whole : whole);
}
std::uint8_t to_uint8(float x, float least, float scale) {
  return static_cast<std::uint8_t>(clamped_whole((x - least) * scale + 0.5f, 0, 255));
}
float scale_to(float levels, float length) { return length > 0 ? levels / length : 0.f; }

template <class F>
void each(std::int64_t n, F f) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

Prepared quantize(const QuantizeAttrs& a, const KernelRequest& r) {
  return [is_signed = a.out_type == "int8", n = r.in[0].shape.size()](const Args& args) {
    const Range range = range_of(args);
    const float* x = args.in<float>(0);
    if (is_signed) {
      const float reach = range.reach(), scale = scale_to(kInt8Range, reach);
      write_range(args, {-reach, reach});
      if (args.wants(0))
        each(n, [&, y = args.out<std::int8_t>(0)](auto i) { y[i] = to_int8(x[i], scale); });
      return;
    }
    const float scale = scale_to(kUint8Range, range.greatest - range.least);
    write_range(args, range);
    if (args.wants(0))
      each(n, [&, y = args.out<std::uint8_t>(0)](auto i) {
        y[i] = to_uint8(x[i], range.least, scale);
      });
  };
}

Prepared dequantize(const DequantizeAttrs&, const KernelRequest& r) {
  return [is_signed = r.in[0].dtype == DType::kInt8, n = r.in[0].shape.size()](const Args& args) {
    const Range range = range_of(args);
    float* y = args.out<float>(0);
    if (is_signed) {
      const float scale = range.reach() / kInt8Range;
      each(n,
           [&, x = args.in<std::int8_t>(0)](auto i) { y[i] = static_cast<float>(x[i]) * scale; });
      return;
    }
    const float scale = (range.greatest - range.least) / kUint8Range;
    each(n, [&, x = args.in<std::uint8_t>(0)](auto i) {
      y[i] = static_cast<float>(x[i]) * scale + range.least;
    });
  };
}

Prepared requantize(const RequantizeAttrs& a, const KernelRequest& r) {
  return [a, type = a.type(), n = r.in[0].shape.size()](const Args& args) {
    const std::int32_t* x = args.in<std::int32_t>(0);
    const float step = range_of(args).reach() / kInt32Range;
    float reach = 0;
    if (a.calibrated()) {
      reach = Range{*a.min_calib_range, *a.max_calib_range}.reach();
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        reach = std::max(reach, std::abs(static_cast<float>(x[i]) * step));
    }
    if (type == DType::kInt8) {
      const float scale = scale_to(kInt8Range, reach);
      write_range(args, {-reach, reach});
      if (args.wants(0))
        each(n, [&, y = args.out<std::int8_t>(0)](auto i) {
          y[i] = to_int8(static_cast<float>(x[i]) * step, scale);
        });
      return;
    }
    const float scale = scale_to(kUint8Range, reach);
    write_range(args, {0, reach});
    if (args.wants(0))
      each(n, [&, y = args.out<std::uint8_t>(0)](auto i) {
        y[i] = to_uint8(static_cast<float>(x[i]) * step, 0, scale);
      });
  };
}

}  // namespace

void register_quantize(OpRegistry& r) {
  const std::vector<std::string> inputs{"data", "min_range", "max_range"};
  const std::vector<std::string> outputs{"output0", "output1", "output2"};
  r.add<QuantizeAttrs>("_contrib_quantize")
      .doc("float32 to 8 bits, in a given range.")
      .inputs(inputs)
      .outputs(outputs)
      .skips_unread()
      .infer(infer_quantize)
      .reference(quantize);
  r.add<DequantizeAttrs>("_contrib_dequantize")
      .doc("8 bits back to float32.")
      .inputs(inputs)
      .infer(infer_dequantize)
      .reference(dequantize);
  r.add<RequantizeAttrs>("_contrib_requantize")
      .doc("int32 to 8 bits, in the range of a calibration or of the data.")
      .inputs(inputs)
      .outputs(outputs)
      .skips_unread()
      .infer(infer_requantize)
      .reference(requantize);
}

}  // namespace symbind
