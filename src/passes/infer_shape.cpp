// The fixpoint over the rules. A sweep forward and a sweep backward suffice for nearly every net;
// a node whose sides are all known is checked once and then skipped.

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "ndarray/access.h"
#include "passes/infer.h"

namespace symbind {
namespace {

struct Workspace {
  std::vector<Shape> in, out;
  std::vector<DType> in_types, out_types;
};

std::string input_name(const Node& node, int i) {
  const NodeEntry& e = node.inputs[static_cast<std::size_t>(i)];
  return e.node->is_variable() ? e.node->name : node.input_names()[static_cast<std::size_t>(i)];
}

// data (100,1,28,28) → flatten → fc1 (100,64) → relu1: along first inputs, at most eight names.
std::string path_to(const IndexedGraph& graph, const Inferred& known, int node) {
  std::vector<std::string> names;
  int at = node;
  while (true) {
    const IndexedNode& n = graph.nodes[static_cast<std::size_t>(at)];
    const Shape& shape = known.shapes[static_cast<std::size_t>(n.first_entry)];
    names.push_back(at == node || !shape.known() ? n.node->name : n.node->name + " " + shape.str());
    if (n.inputs.empty()) break;
    at = graph.entry_node[static_cast<std::size_t>(n.inputs.front())];
  }
  std::ranges::reverse(names);
  if (names.size() > 8) {
    names.erase(names.begin() + 3, names.end() - 4);
    names.insert(names.begin() + 3, "…");
  }
  return fmt::format("{}", fmt::join(names, " → "));
}

[[noreturn]] void raise(const IndexedGraph& graph, const Inferred& known, int number,
                        const Inference::Conflict& conflict) {
  const IndexedNode& n = graph.nodes[static_cast<std::size_t>(number)];
  const Node& node = *n.node;
  const bool is_shape =
      conflict.given.empty() || conflict.given.front() == '(' || conflict.given.front() == '?';
  std::string because = conflict.because;
  if ((because.empty() || because.front() == ';') && !n.inputs.empty()) {
    because =
        fmt::format("{} is {} {}{}", node.input_names().front(), node.inputs.front().node->name,
                    known.shapes[static_cast<std::size_t>(n.inputs.front())].str(), because);
  }
  for (const auto& [key, value] : node.attrs) {
    if (!key.starts_with("__")) because += fmt::format(" and {}={}", key, value);
  }
  std::string text = fmt::format("{} cannot take its inputs", node.title());
  const std::string where = conflict.where.output ? node.output_name(conflict.where.index)
                                                  : input_name(node, conflict.where.index);
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!conflict.where.output && static_cast<int>(i) == conflict.where.index) continue;
    const auto entry = static_cast<std::size_t>(n.inputs[i]);
    text += fmt::format(
        "\n  {}  is {} {}", node.input_names()[i], node.inputs[i].node->name,
        is_shape ? known.shapes[entry].str() : std::string(dtype_name(known.dtypes[entry])));
  }
  text += fmt::format("\n  {}  given {}   needed {}    because {}", where, conflict.given,
                      conflict.needed, because);
  text += fmt::format("\n  path: {}", path_to(graph, known, number));
  const bool variable =
      !conflict.where.output &&
      node.inputs[static_cast<std::size_t>(conflict.where.index)].node->is_variable();
  text += variable ? fmt::format("\n  fix:  give {} the {} {}, or omit it to have it inferred",
                                 where, is_shape ? "shape" : "dtype", conflict.needed)
                   : fmt::format("\n  fix:  change the parameters of {} or of the nodes before it",
                                 node.title());
  fail(is_shape ? ErrorKind::kShape : ErrorKind::kType, "{}", text);
}

class Fixpoint {
 public:
  Fixpoint(const IndexedGraph& graph, Inferred& known)
      : graph_(graph), known_(known), done_(graph.nodes.size(), false) {}

  void run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) changed |= visit(i);
      if (!changed) break;
      changed = false;
      for (std::size_t i = graph_.nodes.size(); i-- > 0;) changed |= visit(i);
    }
  }

 private:
  bool visit(std::size_t number) {
    const IndexedNode& n = graph_.nodes[number];
    if (done_[number] || n.node->is_variable()) return false;
    load(n);
    Inference io(w_.in, w_.out, w_.in_types, w_.out_types);
    try {
      n.node->op->infer(n.node->parsed.get(), io);
    } catch (const Inference::Conflict& conflict) {
      raise(graph_, known_, static_cast<int>(number), conflict);
    } catch (const Error& e) {
      throw e.with_context(fmt::format("in {}\n  path: {}", n.node->title(),
                                       path_to(graph_, known_, static_cast<int>(number))));
    }
    for (int o = 0; o < n.num_outputs; ++o) {
      known_.opaque[static_cast<std::size_t>(n.first_entry + o)] = io.is_opaque(o);
    }
    return store(n, number);
  }

  void load(const IndexedNode& n) {
    w_.in.clear(), w_.out.clear(), w_.in_types.clear(), w_.out_types.clear();
    for (const int e : n.inputs) {
      w_.in.push_back(known_.shapes[static_cast<std::size_t>(e)]);
      w_.in_types.push_back(known_.dtypes[static_cast<std::size_t>(e)]);
    }
    for (int o = 0; o < n.num_outputs; ++o) {
      w_.out.push_back(known_.shapes[static_cast<std::size_t>(n.first_entry + o)]);
      w_.out_types.push_back(known_.dtypes[static_cast<std::size_t>(n.first_entry + o)]);
    }
  }

  bool store(const IndexedNode& n, std::size_t number) {
    bool changed = false, complete = true;
    // Merged, because one entry may be several inputs and the rule may have set only one of them.
    const auto put = [&](int entry, const Shape& shape, DType dtype) {
      Shape& s = known_.shapes[static_cast<std::size_t>(entry)];
      DType& t = known_.dtypes[static_cast<std::size_t>(entry)];
      const Shape before = s;
      if (!merge(s, shape)) disagree(n, before.str(), shape.str(), ErrorKind::kShape);
      if (t != dtype && dtype != DType::kUnknown) {
        if (t != DType::kUnknown) disagree(n, dtype_name(t), dtype_name(dtype), ErrorKind::kType);
        t = dtype;
        changed = true;
      }
      changed |= !(s == before);
      complete &= s.known() && t != DType::kUnknown;
    };
    for (std::size_t i = 0; i < n.inputs.size(); ++i) put(n.inputs[i], w_.in[i], w_.in_types[i]);
    for (int o = 0; o < n.num_outputs; ++o) {
      put(n.first_entry + o, w_.out[static_cast<std::size_t>(o)],
          w_.out_types[static_cast<std::size_t>(o)]);
    }
    done_[number] = complete && !changed;
    return changed;
  }

  [[noreturn]] static void disagree(const IndexedNode& n, std::string_view a, std::string_view b,
                                    ErrorKind kind) {
    fail(kind, "{} needs one of its inputs to be {} and {} at once", n.node->title(), a, b);
  }

  const IndexedGraph& graph_;
  Inferred& known_;
  std::vector<bool> done_;
  Workspace w_;
};

}  // namespace

bool Inferred::shapes_known() const {
  return std::ranges::all_of(shapes, [](const Shape& s) { return s.known(); });
}
bool Inferred::dtypes_known() const {
  return std::ranges::all_of(dtypes, [](DType t) { return t != DType::kUnknown; });
}

Inferred start_inference(const IndexedGraph& graph, const ShapeMap& shapes,
                         const DTypeMap& dtypes) {
  Inferred known;
  const auto entries = static_cast<std::size_t>(graph.num_entries());
  known.shapes.assign(entries, Shape::unknown());
  known.dtypes.assign(entries, DType::kUnknown);
  known.opaque.assign(entries, false);
  for (const IndexedNode& n : graph.nodes) {
    if (!n.node->is_variable()) continue;
    const auto e = static_cast<std::size_t>(n.first_entry);
    const AttrDict& attrs = n.node->attrs;
    if (const auto it = shapes.find(n.node->name); it != shapes.end()) {
      known.shapes[e] = it->second;
    } else if (const auto attr = attrs.find("__shape__"); attr != attrs.end()) {
      if (const auto dims = parse_tuple(attr->second)) known.shapes[e] = from_user(Shape(*dims));
    }
    check_extents(known.shapes[e]);
    if (const auto it = dtypes.find(n.node->name); it != dtypes.end()) {
      known.dtypes[e] = it->second;
    } else if (const auto attr = attrs.find("__dtype__"); attr != attrs.end()) {
      known.dtypes[e] = dtype_from_name(attr->second);
    }
  }
  return known;
}

void infer_shape(const IndexedGraph& graph, Inferred& known) { Fixpoint(graph, known).run(); }

std::vector<std::string> undecided(const IndexedGraph& graph, const Inferred& known) {
  std::vector<std::string> names;
  for (const IndexedNode& n : graph.nodes) {
    const Shape& shape = known.shapes[static_cast<std::size_t>(n.first_entry)];
    if (n.node->is_variable() && !shape.known()) names.push_back(n.node->name + " " + shape.str());
  }
  return names;
}

}  // namespace symbind
