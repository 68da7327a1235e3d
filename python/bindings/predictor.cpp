// Predictor: the GIL is released while a network runs. NumPy arrays are read without a copy.

#include <nanobind/stl/vector.h>

#include <deque>

#include <symbind/predictor.h>

#include "buffer.h"
#include "convert.h"

namespace symbind::python {
namespace {

/// The inputs of a call: NDArrays, or NumPy arrays in C order whose buffers are held during it.
class CallInputs {
 public:
  explicit CallInputs(const nb::dict& given) {
    for (const auto& [name, value] : given) {
      const auto key = nb::cast<std::string>(name);
      if (is_array(value)) {
        inputs_.emplace(key, array_from(value));
        continue;
      }
      const DType dtype = dtype_from(value.attr("dtype"));
      const Shape shape = shape_from(value.attr("shape"));
      const Buffer& buffer = buffers_.emplace_back(value, PyBUF_C_CONTIGUOUS);
      buffer.check_holds(dtype, shape.size());
      inputs_.emplace(key, InputArray(buffer.data(), shape, dtype));
    }
  }
  const InputMap& map() const { return inputs_; }

 private:
  std::deque<Buffer> buffers_;
  InputMap inputs_;
};

ShapeMap shapes_from(const nb::dict& given) {
  ShapeMap shapes;
  for (const auto& [name, shape] : given) shapes[nb::cast<std::string>(name)] = shape_from(shape);
  return shapes;
}

PredictorOptions options_from(const nb::dict& given) {
  PredictorOptions o{.context = context_from(given["ctx"]),
                     .threads = nb::cast<int>(given["threads"]),
                     .max_pool = nb::cast<int>(given["max_pool"]),
                     .max_plans = nb::cast<int>(given["max_plans"]),
                     .outputs = nb::cast<std::vector<std::string>>(given["outputs"]),
                     .data_names = nb::cast<std::vector<std::string>>(given["data_names"]),
                     .types = {},
                     .input_shapes = shapes_from(nb::cast<nb::dict>(given["input_shapes"])),
                     .allow_missing = nb::cast<bool>(given["allow_missing"]),
                     .allow_extra = nb::cast<bool>(given["allow_extra"]),
                     .exact = nb::cast<std::optional<bool>>(given["exact"]),
                     .compute_dtype = nb::cast<std::string>(given["compute_dtype"])};
  for (const auto& [name, dtype] : nb::cast<nb::dict>(given["types"]))
    o.types[nb::cast<std::string>(name)] = dtype_from(dtype);
  return o;
}

template <class F>
Predictor made(const nb::dict& options, F&& make) {
  const PredictorOptions given = options_from(options);
  const nb::gil_scoped_release release;
  return make(given);
}

Predictor from_symbol(const Symbol& symbol, nb::handle args, nb::handle aux, const nb::dict& o) {
  const NDArrayMap given_args = array_map_from(args, "a parameter");
  const NDArrayMap given_aux = array_map_from(aux, "an auxiliary state");
  return made(o, [&](const PredictorOptions& options) {
    return Predictor(symbol, given_args, given_aux, options);
  });
}

Predictor from_memory(const std::string& json, nb::handle params, const nb::dict& o) {
  const Buffer buffer(params, PyBUF_C_CONTIGUOUS);
  return made(o, [&](const PredictorOptions& options) {
    return Predictor::from_memory(
        json, {static_cast<const std::byte*>(buffer.data()), buffer.bytes()}, options);
  });
}

nb::list predict(const Predictor& self, const nb::dict& given) {
  const CallInputs inputs(given);
  const Predictor held = self;  // another thread may close it during the call
  std::vector<NDArray> outputs;
  {
    const nb::gil_scoped_release release;
    outputs = held.predict(inputs.map());
  }
  return arrays_to(outputs);
}

nb::list output_shapes(const Predictor& self, const nb::dict& given) {
  const ShapeMap shapes = shapes_from(given);
  const Predictor held = self;
  std::vector<Shape> found;
  {
    const nb::gil_scoped_release release;
    found = held.output_shapes(shapes);
  }
  nb::list all;
  for (const Shape& shape : found) all.append(shape_to(shape));
  return all;
}

nb::dict stats(const Predictor& self) {
  const Predictor held = self;
  PredictorStats s;
  {
    const nb::gil_scoped_release release;
    s = held.stats();
  }
  nb::dict all;
  all["plans"] = s.plans;
  all["plans_made"] = s.plans_made;
  all["pool"] = s.pool;
  all["arena_bytes"] = s.arena_bytes;
  all["wired"] = s.wired;
  return all;
}

}  // namespace

void bind_predictor(nb::module_& m) {
  using P = Predictor;
  nb::class_<P>(m, "Predictor", nb::is_weak_referenceable())
      .def_static("load",
                  [](const std::string& prefix, int epoch, const nb::dict& o) {
                    return made(
                        o, [&](const auto& options) { return P::load(prefix, epoch, options); });
                  })
      .def_static("from_files",
                  [](const std::string& symbol, const std::string& params, const nb::dict& o) {
                    return made(o, [&](const auto& options) {
                      return P::from_files(symbol, params, options);
                    });
                  })
      .def_static("from_memory", &from_memory)
      .def_static("from_symbol", &from_symbol, nb::arg("symbol"), nb::arg("args"),
                  nb::arg("aux").none(), nb::arg("options"))
      .def("predict", &predict)
      .def("output_shapes", &output_shapes)
      .def("close", [](P& self) { self = P(); })
      .def("stats", &stats)
      .def("symbol", [](const P& self) { return symbol_to(self.symbol()); })
      .def("input_names", &P::input_names)
      .def("label_names", &P::label_names)
      .def("output_names", &P::output_names)
      .def("threads", &P::threads);
}

}  // namespace symbind::python
