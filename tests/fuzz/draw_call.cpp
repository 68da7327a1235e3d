// Draws calls that get past the first checks often enough: most are calls that ran in MXNet with
// something changed; in the others attributes are mostly usual with a wild one among them, and
// shapes mostly those that inference asks for, once the first is drawn.

#include <algorithm>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include <symbind/detail/op_info.h>
#include <symbind/executor.h>

#include "fuzz/draw.h"
#include "fuzz/operator_call.h"
#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

constexpr std::int64_t kExtents[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 17};
constexpr const char* kTypes[] = {"float32", "float32", "float32", "float32",
                                  "float64", "float16", "int32",   "int64",
                                  "uint8",   "int8",    "bool",    "bfloat16"};
constexpr std::int64_t kMostElements = 6000;

using Base = std::map<std::string, std::vector<OperatorCall>>;

Base& base() {
  static Base calls;
  return calls;
}

std::vector<std::int64_t> draw_shape(Draw& draw) {
  constexpr std::size_t kRanks[] = {1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 0, 6};
  std::vector<std::int64_t> shape(draw.of(kRanks));
  const bool has_empty = draw.chance(0.08);
  std::int64_t size = 1;
  for (std::int64_t& extent : shape) {
    extent = draw.of(kExtents);
    if (size * extent > kMostElements) extent = 1;
    size *= extent;
  }
  if (shape.size() == 1 && draw.chance(0.1)) shape[0] = 300 + static_cast<int>(draw.below(2000));
  if (has_empty && !shape.empty()) shape[draw.below(shape.size())] = 0;
  return shape;
}

AttrDict draw_attrs(Draw& draw, const OpDef& op) {
  AttrDict attrs;
  const std::shared_ptr<void> defaults = op.make_attrs();
  std::vector<AttrField> fields = op.describe(defaults.get());
  const double given = draw.chance(0.5) ? 0.2 : 0.6;
  const bool all_wild = draw.chance(0.05);
  const bool one_wild = draw.chance(0.4);
  const std::size_t odd = fields.empty() ? 0 : draw.below(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool wild = all_wild || (one_wild && i == odd);
    if (fields[i].is_required || wild || draw.chance(given))
      attrs[fields[i].name] = draw_value(draw, fields[i], wild);
  }
  return attrs;
}

/// How many inputs the attributes ask for; any number where they do not parse.
std::size_t count_inputs(Draw& draw, const OpDef& op, AttrDict& attrs) {
  if (!op.variadic_key.empty()) {
    const std::int64_t groups = 1 + static_cast<std::int64_t>(draw.below(3));
    if (!draw.chance(0.05)) attrs[op.variadic_key] = std::to_string(groups);
    return static_cast<std::size_t>(op.inputs_for(groups));
  }
  std::size_t count = 1 + draw.below(3);
  answers([&] { count = op.input_names(op.parse(attrs, op.name, 0).get()).size(); });
  return std::min<std::size_t>(count, 64);
}

/// What inference makes of the inputs that come after the first `known` ones.
std::vector<Shape> inferred(const OperatorCall& call, std::size_t known) {
  const bool before = set_np_shape(true);
  std::vector<Shape> result;
  answers([&] {
    std::vector<Symbol> inputs;
    ShapeMap shapes;
    std::map<std::string, std::size_t> place_of;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      place_of[name] = i;
      inputs.push_back(Variable(name));
      if (i < known) shapes[name] = Shape(call.inputs[i].shape);
    }
    const Symbol symbol = make_symbol(call.op, "node", inputs, call.attrs);
    const InferredShapes found = symbol.infer_shape_partial(shapes);
    const std::vector<std::string> args = symbol.list_arguments();
    const std::vector<std::string> aux = symbol.list_auxiliary_states();
    result.assign(call.inputs.size(), Shape::unknown());
    const auto place = [&](const std::vector<std::string>& names, const std::vector<Shape>& from) {
      for (std::size_t i = 0; i < names.size(); ++i)
        if (const auto at = place_of.find(names[i]); at != place_of.end())
          result[at->second] = from[i];  // inputs that were left out have other names
    };
    place(args, found.args);
    place(aux, found.aux);
  });
  set_np_shape(before);
  return result;
}

void draw_inputs(Draw& draw, OperatorCall& call) {
  const bool one_type = !draw.chance(0.1);
  const std::string type = draw.of(kTypes);
  const bool one_fill = draw.chance(0.3);
  const std::string fill = draw.of(kFills);
  for (CallInput& in : call.inputs) {
    in.dtype = one_type ? type : draw.of(kTypes);
    in.fill = one_fill ? fill : draw.of(kFills);
    in.seed = draw.below(1000000);
  }
  const bool same = draw.chance(0.2), fits = draw.chance(0.9);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    std::vector<std::int64_t>& shape = call.inputs[i].shape;
    if (i > 0 && same) {
      shape = call.inputs[0].shape;
      continue;
    }
    shape = draw_shape(draw);
    if (i == 0 || !fits) continue;
    const std::vector<Shape> wanted = inferred(call, i);
    if (wanted.empty() || !wanted[i].rank_known()) continue;
    std::vector<std::int64_t> meant = wanted[i].dims();
    std::int64_t size = 1;
    for (std::int64_t& extent : meant) {
      if (extent < 0) extent = draw.of(kExtents);
      size = extent > 0 && size > 0 ? size * std::min<std::int64_t>(extent, 1 << 20) : 0;
      if (size > 1 << 20) break;
    }
    if (size <= 1 << 18) shape = std::move(meant);
    if (draw.chance(0.04) && !shape.empty()) shape[draw.below(shape.size())] = draw.of(kExtents);
  }
}

void change_shape(Draw& draw, std::vector<std::int64_t>& shape) {
  if (shape.empty() || draw.chance(0.2)) {
    if (draw.chance(0.5) && !shape.empty())
      shape.pop_back();
    else
      shape.push_back(draw.of(kExtents));
    return;
  }
  std::int64_t& extent = shape[draw.below(shape.size())];
  const std::int64_t choices[] = {0, 0, 1, extent + 1, std::max<std::int64_t>(extent - 1, 0), 9};
  extent = draw.of(choices);
}

/// One of the known calls of the operator, with nothing to three things changed.
void draw_from(Draw& draw, const OpDef& op, const std::vector<OperatorCall>& known,
               OperatorCall& call) {
  call = draw.of(known);
  const std::shared_ptr<void> defaults = op.make_attrs();
  const std::vector<AttrField> fields = op.describe(defaults.get());
  for (std::size_t i = draw.below(3); i > 0 && !fields.empty(); --i) {
    const AttrField& field = draw.of(fields);
    call.attrs[field.name] = draw_value(draw, field, draw.chance(0.6));
  }
  const bool resized = draw.chance(0.3);
  const std::size_t axis = draw.below(4), extent = draw.below(3);
  for (CallInput& in : call.inputs) {
    // Where all arrays share an extent, all change it: the batch, say, becomes 0.
    if (resized && axis < in.shape.size() && axis < call.inputs[0].shape.size() &&
        in.shape[axis] == call.inputs[0].shape[axis])
      in.shape[axis] = static_cast<std::int64_t>(extent);
    if (draw.chance(0.1)) change_shape(draw, in.shape);
    if (draw.chance(0.05)) in.dtype = draw.of(kTypes);
    in.seed = draw.below(1000000);
  }
  if (draw.chance(0.2)) {
    const std::string type = draw.of(kTypes);
    for (CallInput& in : call.inputs) in.dtype = type;
  }
  for (CallInput& in : call.inputs) in.fill = draw.of(kFills);
}

}  // namespace

std::size_t use_base(const std::string& path) {
  std::ifstream lines(path);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const nlohmann::json json = nlohmann::json::parse(line);
    OperatorCall call{.op = json.at("op"), .attrs = json.at("attrs")};
    for (const nlohmann::json& in : json.at("inputs"))
      call.inputs.push_back({in.at("shape"), in.at("dtype"), "usual", 0});
    base()[call.op].push_back(std::move(call));
  }
  return count;
}

std::vector<std::string> operators_to_call() {
  std::vector<std::string> names;
  for (const std::string& name : OpRegistry::global().names())
    if (is_public(*OpRegistry::global().find(name))) names.push_back(name);
  return names;
}

OperatorCall draw_call(const std::string& name, std::uint64_t seed) {
  constexpr const char* kWays[] = {"invoke", "record", "bind", "bind"};
  constexpr const char* kHeads[] = {"fit", "fit", "fit", "none", "shape", "dtype", "wild"};
  constexpr const char* kOuts[] = {"fresh", "fresh", "fresh", "dtype", "shape", "input"};
  const OpDef& op = OpRegistry::global().get(name);
  Draw draw(seed);
  OperatorCall call{.op = name};
  const auto known = base().find(name);
  if (known != base().end() && draw.chance(0.7)) {
    draw_from(draw, op, known->second, call);
  } else {
    call.attrs = draw_attrs(draw, op);
    call.inputs.resize(count_inputs(draw, op, call.attrs));
    draw_inputs(draw, call);
  }
  call.way = draw.of(kWays);
  call.train = draw.chance(0.8);
  call.unread = draw.chance(0.5) ? 0 : draw.next() % 256;
  call.heads = draw.of(kHeads);
  call.out = draw.of(kOuts);
  call.overwrites = draw.chance(0.15);
  return call;
}

}  // namespace symbind::fuzz
