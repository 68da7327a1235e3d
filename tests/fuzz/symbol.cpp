// Symbol JSON: loaded, written, bound to small arrays, run forward and backward.
//
// Variables that carry __shape__ have that shape; data of unknown shape gets the first of a few
// usual ones that fits. A network of more than kMostElements is loaded and inferred, and not run.

#include <symbind/executor.h>

#include "fuzz/draw.h"
#include "fuzz/support.h"
#include "graph/node.h"

namespace symbind::fuzz {
namespace {

constexpr std::int64_t kMostElements = 1 << 15;
constexpr std::size_t kMostNodes = 200;

const std::vector<Shape>& usual_shapes() {
  static const std::vector<Shape> kShapes = {{2, 3, 8, 8}, {2, 6}, {2, 3, 5}, {4}};
  return kShapes;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// Shapes that make everything known, for the arguments that inference leaves open.
std::optional<ShapeMap> shapes_for(const Symbol& net) {
  const std::vector<std::string> names = net.list_arguments();
  for (const Shape& usual : usual_shapes()) {
    ShapeMap given;
    const bool fits = answers([&] {
      InferredShapes found = net.infer_shape_partial(given);
      for (std::size_t i = 0; i < names.size() && !found.complete; ++i) {
        if (from_user(found.args[i]).known()) continue;
        given[names[i]] = usual;
        found = net.infer_shape_partial(given);
      }
      if (!found.complete) throw Error(ErrorKind::kShape, "shapes stay open");
    });
    if (fits) return given;
    if (given.empty()) return std::nullopt;  // no shape of ours was at fault
  }
  return std::nullopt;
}

/// Elements of all arrays together, or more than kMostElements.
std::int64_t elements(const Symbol& net, const ShapeMap& given) {
  const InferredShapes all = net.get_internals().infer_shape(given);
  std::int64_t sum = 0;
  for (const std::vector<Shape>* shapes : {&all.args, &all.outputs, &all.aux})
    for (const Shape& shape : *shapes) {
      const Shape meant = from_user(shape);
      if (!meant.known() || meant.size() > kMostElements) return kMostElements + 1;
      sum += meant.size();
    }
  return sum;
}

void fill(const std::vector<NDArray>& arrays, Draw& draw) {
  const char* const kind = draw.of(kFills);
  for (const NDArray& array : arrays)
    filled(array.shape(), array.dtype(), kind, draw.next()).copy_to(array);
}

void read(const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays)
    if (array.defined()) answers([&] { array.wait_to_read(); });
}

void run(const Symbol& net, const ShapeMap& given, std::uint64_t seed) {
  Draw draw(seed);
  Executor executor = net.simple_bind(cpu(), given);
  fill(executor.arg_arrays(), draw);
  fill(executor.aux_arrays(), draw);
  answers([&] { read(executor.forward(true)); });
  std::vector<NDArray> heads;
  for (const NDArray& output : executor.outputs())
    heads.push_back(filled(output.shape(), output.dtype(), draw.of(kFills), draw.next()));
  answers([&] { executor.backward(heads); });
  read(executor.grad_arrays());
  answers([&] { read(executor.forward(false)); });
}

}  // namespace

int symbol(Bytes bytes) {
  Symbol net;
  if (!answers([&] { net = Symbol::load_json(text_of(bytes)); })) return 0;
  const std::string written = net.tojson();
  must(answers([&] { must(Symbol::load_json(written).tojson() == written, "JSON is stable"); }),
       "JSON that was written can be read");
  net.list_outputs();
  net.list_auxiliary_states();
  net.attr_dict();
  int reached = 1;
  answers([&] {
    if (post_order(net.heads()).size() > kMostNodes) return;
    const std::optional<ShapeMap> given = shapes_for(net);
    if (!given || elements(net, *given) > kMostElements) return;
    run(net, *given, hash_of(text_of(bytes)));
    reached = 2;
  });
  return reached;
}

}  // namespace symbind::fuzz
