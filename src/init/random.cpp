// Random initializers: Uniform, Normal, Orthogonal, Xavier, MSRAPrelu.
//
// Decided here: one random operator per array, so the numbers equal those of the same calls of
// mx.random. Orthogonal takes the Q of a QR decomposition where MXNet takes a factor of an SVD:
// orthonormal as well, and cheaper.

#include <cmath>

#include <fmt/format.h>

#include <symbind/executor.h>

#include "base/check.h"
#include "init/fill.h"
#include "kernels/linalg.h"

namespace symbind {
namespace {

void draw(const char* op, AttrDict attrs, NDArray& array) {
  attrs["ctx"] = array.context().str();
  attrs["dtype"] = dtype_name(array.dtype());
  attrs["shape"] = array.shape().str();
  invoke(op, {}, attrs, {array});
}

struct UniformInit : Initializer {
  void describe(AttrVisitor& v) { v.field("scale", scale, "The bound."); }
  void init_weight(const InitDesc&, NDArray& array) const override {
    draw_uniform(-scale, scale, array);
  }
  std::string dumps() const override {
    return json_call("uniform", {{"scale", json_number(scale)}});
  }
  double scale = 0.07;
};

struct NormalInit : Initializer {
  void describe(AttrVisitor& v) { v.field("sigma", sigma, "The standard deviation."); }
  void init_weight(const InitDesc&, NDArray& array) const override { draw_normal(sigma, array); }
  std::string dumps() const override {
    return json_call("normal", {{"sigma", json_number(sigma)}});
  }
  double sigma = 0.01;
};

struct OrthogonalInit : Initializer {
  void describe(AttrVisitor& v) {
    v.field("scale", o.scale, "Multiplies the matrix.");
    v.field("rand_type", o.rand_type, "The distribution it is made from.")
        .choices({"uniform", "normal"});
  }
  void init_weight(const InitDesc& desc, NDArray& array) const override;
  std::string dumps() const override {
    return json_call("orthogonal",
                     {{"scale", json_number(o.scale)}, {"rand_type", json_string(o.rand_type)}});
  }
  OrthogonalOptions o;
};

void OrthogonalInit::init_weight(const InitDesc& desc, NDArray& array) const {
  check(array.ndim() >= 1 && array.size() > 0, "orthogonal: {} has no numbers in rows", desc.name);
  const std::int64_t out = array.shape()[0], in = array.size() / out;
  NDArray drawn(Shape{out, in}, array.context());
  if (o.rand_type == "uniform")
    draw_uniform(-1, 1, drawn);
  else
    draw_normal(1, drawn);
  const std::vector<double> matrix = drawn.to_vector<double>();
  const bool tall = out > in;  // the shorter side's vectors can be orthonormal
  const std::int64_t rows = tall ? in : out, columns = tall ? out : in;
  const auto turned = [&](const std::vector<double>& m, std::int64_t r, std::int64_t c) {
    std::vector<double> t(m.size());
    for (std::int64_t i = 0; i < r; ++i)
      for (std::int64_t j = 0; j < c; ++j)
        t[static_cast<std::size_t>(j * r + i)] = m[static_cast<std::size_t>(i * c + j)];
    return t;
  };
  std::vector<double> q = tall ? turned(matrix, out, in) : matrix;
  std::vector<double> l(static_cast<std::size_t>(rows * rows));
  std::vector<double> work(static_cast<std::size_t>(lq_work(rows)));
  lq(rows, columns, q.data(), l.data(), work.data());
  if (tall) q = turned(q, in, out);
  for (double& number : q) number *= o.scale;
  array.set(NDArray::from_vector(q, array.shape(), array.context()));
}

struct XavierInit : Initializer {
  void describe(AttrVisitor& v) {
    v.field("rnd_type", o.rnd_type, "The distribution.");
    v.field("factor_type", o.factor_type, "Which fan to use.");
    v.field("magnitude", o.magnitude, "Scales the numbers.");
  }
  void init_weight(const InitDesc& desc, NDArray& array) const override;
  std::string dumps() const override {
    return json_call("xavier", {{"rnd_type", json_string(o.rnd_type)},
                                {"factor_type", json_string(o.factor_type)},
                                {"magnitude", json_number(o.magnitude)}});
  }
  XavierOptions o;
};

void XavierInit::init_weight(const InitDesc& desc, NDArray& array) const {
  const Shape& shape = array.shape();
  check(shape.rank() >= 2, ErrorKind::kValue,
        "Xavier initializer cannot be applied to vector {}. It requires at least 2D.", desc.name);
  const auto area = static_cast<double>(shape.count(2));
  const double fan_in = static_cast<double>(shape[1]) * area;
  const double fan_out = static_cast<double>(shape[0]) * area;
  const double factor = o.factor_type == "avg"   ? (fan_in + fan_out) / 2
                        : o.factor_type == "in"  ? fan_in
                        : o.factor_type == "out" ? fan_out
                                                 : 0;
  check(o.factor_type == "avg" || o.factor_type == "in" || o.factor_type == "out",
        ErrorKind::kValue, "Incorrect factor type '{}'; choose avg, in or out", o.factor_type);
  const double scale = std::sqrt(o.magnitude / factor);
  if (o.rnd_type == "uniform") return draw_uniform(-scale, scale, array);
  check(o.rnd_type == "gaussian", ErrorKind::kValue,
        "Unknown random type '{}'; choose uniform or gaussian", o.rnd_type);
  draw_normal(scale, array);
}

struct MsraPreluInit : Initializer {
  void describe(AttrVisitor& v) {
    v.field("factor_type", o.factor_type, "Which fan to use.");
    v.field("slope", o.slope, "The slope of the PReLU below 0.");
  }
  void init_weight(const InitDesc& desc, NDArray& array) const override {
    XavierInit xavier;
    xavier.o = {.rnd_type = "gaussian",
                .factor_type = o.factor_type,
                .magnitude = 2 / (1 + o.slope * o.slope)};
    xavier.init_weight(desc, array);
  }
  std::string dumps() const override {
    return json_call("msraprelu", {{"factor_type", json_string(o.factor_type)},
                                   {"slope", json_number(o.slope)}});
  }
  MSRAPreluOptions o;
};

}  // namespace

void draw_uniform(double low, double high, NDArray& array) {
  draw("_random_uniform", {{"low", fmt::format("{}", low)}, {"high", fmt::format("{}", high)}},
       array);
}

void draw_normal(double deviation, NDArray& array) {
  draw("_random_normal", {{"loc", "0"}, {"scale", fmt::format("{}", deviation)}}, array);
}

InitializerPtr Uniform(double scale) {
  auto made = std::make_shared<UniformInit>();
  made->scale = scale;
  return made;
}
InitializerPtr Normal(double sigma) {
  auto made = std::make_shared<NormalInit>();
  made->sigma = sigma;
  return made;
}
InitializerPtr Orthogonal(const OrthogonalOptions& options) {
  auto made = std::make_shared<OrthogonalInit>();
  made->o = options;
  return made;
}
InitializerPtr Xavier(const XavierOptions& options) {
  auto made = std::make_shared<XavierInit>();
  made->o = options;
  return made;
}
InitializerPtr MSRAPrelu(const MSRAPreluOptions& options) {
  auto made = std::make_shared<MsraPreluInit>();
  made->o = options;
  return made;
}

InitializerPtr make_uniform(const AttrDict& params) {
  return from_text<UniformInit>(params, "uniform");
}
InitializerPtr make_normal(const AttrDict& params) {
  return from_text<NormalInit>(params, "normal");
}
InitializerPtr make_orthogonal(const AttrDict& params) {
  return from_text<OrthogonalInit>(params, "orthogonal");
}
InitializerPtr make_xavier(const AttrDict& params) {
  return from_text<XavierInit>(params, "xavier");
}
InitializerPtr make_msra_prelu(const AttrDict& params) {
  return from_text<MsraPreluInit>(params, "msraprelu");
}

}  // namespace symbind
