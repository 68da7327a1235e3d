// An array's shape and number of elements as numbers, in int64. No gradient.
#include <symbind/operator.h>

namespace symbind {
namespace {

void infer_shape_array(const NoAttrs&, Inference& io) {
  io.set_dtype(io.out(0), DType::kInt64);
  const Shape& in = io.shape(io.in(0));
  io.set_shape(io.out(0), in.rank_known() ? Shape{in.rank()} : Shape::of_rank(1),
               "one number for each axis of the input");
}
void infer_size_array(const NoAttrs&, Inference& io) {
  io.set_dtype(io.out(0), DType::kInt64);
  io.set_shape(io.out(0), Shape{1}, "one number");
}

Prepared write(std::vector<std::int64_t> numbers) {
  return [numbers = std::move(numbers)](const Args& args) {
    std::copy(numbers.begin(), numbers.end(), args.out<std::int64_t>(0));
  };
}

void add(OpRegistry& r, const char* name, const char* doc,
         void (*infer)(const NoAttrs&, Inference&),
         Prepared (*prepare)(const NoAttrs&, const KernelRequest&)) {
  r.add(name)
      .flops(0)
      .doc(doc)
      .infer(infer)
      .shape_only({0})
      .gradient([](const NoAttrs&, GradientBuilder&) -> NodeEntries { return {{}}; })
      .reference(prepare);
}

}  // namespace

void register_shape_array(OpRegistry& r) {
  add(r, "shape_array", "The input's shape as an array.", infer_shape_array,
      [](const NoAttrs&, const KernelRequest& q) { return write(q.in[0].shape.dims()); });
  add(r, "size_array", "The input's number of elements as an array.", infer_size_array,
      [](const NoAttrs&, const KernelRequest& q) { return write({q.in[0].shape.size()}); });
}

}  // namespace symbind
