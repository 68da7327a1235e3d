// replay_tool: our side of tools/oracle/fuzz. Reads recorded graphs, one JSON a line, from standard
// input and answers each with a line: {"seed": n, "differences": [[kind, what], ...]}.

#include <iostream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <symbind/symbind.h>

#include "tests/support/golden.h"

using namespace symbind;
using Json = nlohmann::json;

namespace {

class Replay {
 public:
  explicit Replay(const Json& graph) : graph_(graph) {}

  Json run() {
    for (const Json& refused : graph_.value("refusals", Json::array())) check_refusal(refused);
    if (!graph_.contains("json")) return differences_;
    try {
      symbol_ = compose();
    } catch (const std::exception& e) {
      differ("we refuse: compose", e.what());
      return differences_;
    }
    check_lists();
    check_shapes();
    check_partial_shapes();
    check_types();
    for (const Json& run : graph_.value("runs", Json::array())) check_run(run);
    if (graph_.value("alone", false))
      for (const bool train : {false, true}) run_alone(train);
    return differences_;
  }

 private:
  void differ(const std::string& kind, const std::string& what) {
    differences_.push_back(Json::array({kind, what}));
  }
  void expect_equal(const std::string& kind, const Json& ours, const Json& theirs) {
    if (ours != theirs) differ(kind, "ours " + ours.dump() + " MXNet's " + theirs.dump());
  }

  Symbol entry(const Json& reference, const std::vector<Symbol>& made) {
    if (reference.is_string()) {
      const auto name = reference.get<std::string>();
      const auto known = variables_.find(name);
      if (known != variables_.end()) return known->second;
      return variables_.emplace(name, Variable(name)).first->second;
    }
    const Symbol& node = made.at(reference.at(0).get<std::size_t>());
    return node.num_outputs() == 1 ? node : node[reference.at(1).get<std::size_t>()];
  }

  // The calls of `count` nodes, and then one more when `last` is given.
  Symbol compose(const Json* last = nullptr) {
    const NameManager names;
    variables_.clear();
    std::vector<Symbol> made;
    const auto call = [&](const Json& c) {
      std::vector<Symbol> inputs;
      for (const Json& r : c.at("inputs")) inputs.push_back(entry(r, made));
      std::optional<Prefix> prefix;
      if (c.contains("prefix")) prefix.emplace(c.at("prefix").get<std::string>());
      const AttrScope scope(c.value("scope", AttrDict{}));
      return make_symbol(c.at("op").get<std::string>(), c.at("name").get<std::string>(), inputs,
                         c.at("attrs").get<AttrDict>());
    };
    const Json& calls = last != nullptr ? last->at("calls") : graph_.at("calls");
    for (const Json& c : calls) made.push_back(call(c));
    if (last != nullptr) return made.back();
    std::vector<Symbol> heads;
    for (const Json& h : graph_.at("heads")) heads.push_back(entry(h, made));
    return heads.size() == 1 ? heads[0] : Group(heads);
  }

  static ShapeMap shapes_of(const Json& given) {
    ShapeMap shapes;
    for (const auto& [name, shape] : given.items()) {
      auto dims = shape.get<std::vector<std::int64_t>>();
      for (std::int64_t& d : dims) d = d == 0 ? kUnknownDim : d;
      shapes[name] = dims.empty() ? Shape::unknown() : Shape(dims);
    }
    return shapes;
  }
  static Json dims(const std::vector<Shape>& shapes) {
    Json list = Json::array();
    for (const Shape& shape : shapes) {
      std::vector<std::int64_t> d = shape.rank_known() ? shape.dims() : std::vector<std::int64_t>{};
      for (std::int64_t& x : d) x = x < 0 ? 0 : x;
      list.push_back(d);
    }
    return list;
  }

  // What MXNet does not compose or infer.
  void check_refusal(const Json& refused) {
    const Json& call = refused.at("calls").back();
    const std::string what = call.dump() + " shapes " + refused.at("shapes").dump() + ": " +
                             refused.at("error").get<std::string>();
    try {
      const Symbol symbol = compose(&refused);
      if (!symbol.infer_shape(shapes_of(refused.at("shapes"))).complete) return;
      differ("MXNet refuses: " + call.at("op").get<std::string>(), what);
    } catch (const Error&) {
    }
  }

  void check_lists() {
    expect_equal("arguments", symbol_.list_arguments(), graph_.at("arguments"));
    expect_equal("outputs", symbol_.list_outputs(), graph_.at("outputs"));
    expect_equal("aux", symbol_.list_auxiliary_states(), graph_.at("aux_states"));
    expect_equal("internals", symbol_.get_internals().list_outputs(), graph_.at("internals"));
    expect_equal("attr_dict", symbol_.attr_dict(), graph_.at("attr_dict"));
    const auto text = graph_.at("json").get<std::string>();
    if (symbol_.tojson() != text) differ("tojson", "ours " + symbol_.tojson() + " MXNet's " + text);
    try {
      if (Symbol::load_json(text).tojson() != text) differ("load_json, tojson", text);
    } catch (const std::exception& e) {
      differ("we refuse: load_json", e.what());
    }
  }

  void check_shapes() {
    try {
      const InferredShapes found = symbol_.infer_shape(shapes_of(graph_.at("shapes")));
      expect_equal("infer_shape arguments", dims(found.args), graph_.at("arg_shapes"));
      expect_equal("infer_shape outputs", dims(found.outputs), graph_.at("out_shapes"));
      expect_equal("infer_shape aux", dims(found.aux), graph_.at("aux_shapes"));
    } catch (const std::exception& e) {
      differ("we refuse: infer_shape", e.what());
    }
  }

  // Knowing more than MXNet is no fault.
  static bool covers(const Json& ours, const Json& theirs) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i].empty()) continue;
      if (ours[i].size() != theirs[i].size()) return false;
      for (std::size_t k = 0; k < theirs[i].size(); ++k)
        if (theirs[i][k] != 0 && ours[i][k] != theirs[i][k]) return false;
    }
    return true;
  }

  void check_partial_shapes() {
    for (const Json& partial : graph_.value("partial", Json::array())) {
      const std::string given = "given " + partial.at("given").dump() + ": ";
      try {
        const InferredShapes found = symbol_.infer_shape_partial(shapes_of(partial.at("given")));
        if (partial.contains("error")) continue;
        for (const auto& [key, ours] : {std::pair<const char*, Json>{"args", dims(found.args)},
                                        {"outs", dims(found.outputs)},
                                        {"aux", dims(found.aux)}}) {
          if (!covers(ours, partial.at(key)))
            differ(std::string("infer_shape_partial ") + key,
                   given + "ours " + ours.dump() + " MXNet's " + partial.at(key).dump());
        }
      } catch (const std::exception& e) {
        if (!partial.contains("error")) differ("we refuse: infer_shape_partial", given + e.what());
      }
    }
  }

  static Json names(const std::vector<DType>& types) {
    Json list = Json::array();
    for (const DType t : types) list.push_back(dtype_name(t));
    return list;
  }

  void check_types() {
    for (const Json& record : graph_.value("types", Json::array())) {
      DTypeMap given;
      for (const auto& [name, type] : record.at("given").items())
        given[name] = dtype_from_name(type.get<std::string>());
      const std::string what = "given " + record.at("given").dump() + ": ";
      try {
        const InferredTypes found = symbol_.infer_type(given);
        if (record.contains("error")) {
          if (given.size() < graph_.at("arguments").size()) continue;  // nor is deducing more
          differ("MXNet refuses: infer_type", what + record.at("error").get<std::string>());
        } else if (!record.contains("args")) {
          continue;  // incomplete there; knowing more is no fault
        } else if (!found.complete) {
          differ("infer_type incomplete", what);
        } else {
          expect_equal("infer_type arguments", names(found.args), record.at("args"));
          expect_equal("infer_type outputs", names(found.outputs), record.at("outs"));
          expect_equal("infer_type aux", names(found.aux), record.at("aux"));
        }
      } catch (const std::exception& e) {
        if (!record.contains("error")) differ("we refuse: infer_type", what + e.what());
      }
    }
  }

  void compare(const std::string& kind, const NDArray& ours, const Json& recorded) {
    const golden::Tensor want = golden::read_tensor(recorded);
    if (ours.dtype() != want.dtype)
      differ(kind + " dtype", want.name + " " + std::string(dtype_name(ours.dtype())));
    if (recorded.value("wild", false)) return;
    const double exact = graph_.value("tolerance", 1e-9);
    const Tolerance tolerance = want.dtype == DType::kFloat64   ? Tolerance{exact, exact / 100}
                                : want.dtype == DType::kFloat32 ? Tolerance{1e-3, 1e-5}
                                                                : Tolerance{};
    const auto match = golden::matches(HostTensor::from(ours), want, tolerance);
    if (!match) differ(kind, want.name + ": " + match.message());
  }

  // The arrays of a run, and their executor.
  struct Bound {
    NDArrayMap args, aux, grads;
    std::map<std::string, std::string> req;
    Executor bind(const Symbol& symbol) {
      return symbol.bind(cpu(), args, {.args_grad = grads, .grad_req = req, .aux_states = aux});
    }
  };
  Bound arrays() const {
    Bound b;
    for (const Json& t : graph_.at("inputs")) {
      const golden::Tensor tensor = golden::read_tensor(t);
      b.args[tensor.name] = tensor.array();
      b.req[tensor.name] = graph_.at("req").at(tensor.name);
      if (b.req[tensor.name] == "null") continue;
      b.grads[tensor.name] = golden::read_tensor(graph_.at("before").at(tensor.name)).array();
    }
    for (const Json& t : graph_.at("aux")) b.aux[t.at("name")] = golden::read_tensor(t).array();
    return b;
  }

  // What MXNet gives up on: there is nothing to compare, but it must run.
  void run_alone(bool train) {
    try {
      Bound b = arrays();
      Executor e = b.bind(symbol_);
      std::vector<NDArray> heads;
      for (const NDArray& y : e.forward(train))
        heads.push_back(NDArray::ones(y.shape(), cpu(), y.dtype()));
      if (train && !b.grads.empty()) e.backward(heads);
    } catch (const std::exception& e) {
      differ("we refuse: run alone", e.what());
    }
  }

  void check_run(const Json& run) {
    const bool train = run.at("is_train");
    const std::string mode = train ? "train " : "predict ";
    try {
      Bound b = arrays();
      Executor e = b.bind(symbol_);
      const auto& [args, aux, grads, req] = b;
      for (const Json& step : run.at("steps")) {
        const std::vector<NDArray> outputs = e.forward(train);
        for (std::size_t i = 0; i < outputs.size(); ++i)
          compare(mode + "output", outputs[i], step.at("outputs").at(i));
        if (train && step.contains("heads")) {
          std::vector<NDArray> heads;
          for (const Json& h : step.at("heads")) heads.push_back(golden::read_tensor(h).array());
          e.backward(heads);
          for (const Json& g : step.at("grads"))
            compare("gradient, req " + req.at(g.at("name")), grads.at(g.at("name")), g);
        }
        for (const Json& a : step.at("aux")) compare(mode + "state", aux.at(a.at("name")), a);
        for (const Json& a : step.value("inputs_after", Json::array()))
          compare(mode + "input afterwards", args.at(a.at("name")), a);
      }
    } catch (const std::exception& e) {
      differ("we refuse: " + mode + "run", e.what());
    }
  }

  const Json& graph_;
  std::map<std::string, Symbol> variables_;
  Symbol symbol_;
  Json differences_ = Json::array();
};

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json graph = Json::parse(line);
    std::cout << Json{{"seed", graph.at("seed")}, {"differences", Replay(graph).run()}}.dump(
                     -1, ' ', false, Json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
