#pragma once
// Symbol: a named expression over shared immutable nodes.
//
// A Symbol is a value: composing makes new nodes and never changes old ones. Arguments are listed
// in depth-first post-order from the heads, each node once, as MXNet lists them.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>

namespace symbind {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// One output of a node.
struct NodeEntry {
  NodePtr node;
  int index = 0;
  explicit operator bool() const { return node != nullptr; }
  bool operator==(const NodeEntry&) const = default;
};
using NodeEntries = std::vector<NodeEntry>;

class Executor;
class Symbol;
using ShapeMap = std::map<std::string, Shape>;
using DTypeMap = std::map<std::string, DType>;
using ContextMap = std::map<std::string, Context>;
/// Arrays in the order of the names they belong to, or by name.
using ArraysArg = std::variant<std::vector<NDArray>, NDArrayMap>;
/// "write", "add" or "null": for all, in argument order, or by name (others null).
using GradReqArg =
    std::variant<std::string, std::vector<std::string>, std::map<std::string, std::string>>;

struct InferredShapes {
  std::vector<Shape> args, outputs, aux;
  bool complete = false;  ///< every shape is known
};
struct InferredTypes {
  std::vector<DType> args, outputs, aux;
  bool complete = false;
};

struct VariableOptions {
  AttrDict attr = {};
  std::optional<Shape> shape = {};
  std::optional<double> lr_mult = {};
  std::optional<double> wd_mult = {};
  std::optional<DType> dtype = {};
  std::string init = {};  ///< an initializer's JSON, e.g. ["zero", {}]
};

struct SimpleBindOptions {
  GradReqArg grad_req = "write";
  DTypeMap types = {};
  ContextMap group2ctx = {};              ///< ctx_group attribute → device
  const Executor* shared_exec = nullptr;  ///< shares its memory
  /// Forbids kernels and fusions that trade digits for speed (Winograd, a BatchNorm folded into
  /// weights); SYMBIND_EXACT decides unless given.
  std::optional<bool> exact = {};
  /// "bfloat16": a network that does not train may round the inputs and outputs of its layers to
  /// bfloat16 where the CPU computes with it; "float32"; empty: SYMBIND_COMPUTE_DTYPE decides.
  std::string compute_dtype = {};
};
struct BindOptions {
  ArraysArg args_grad = NDArrayMap{};
  GradReqArg grad_req = "write";
  ArraysArg aux_states = NDArrayMap{};
  ContextMap group2ctx = {};
  const Executor* shared_exec = nullptr;
  std::optional<bool> exact = {};  ///< as above
  std::string compute_dtype = {};  ///< as above
};

class Symbol {
 public:
  Symbol() = default;
  explicit Symbol(NodeEntries heads) : heads_(std::move(heads)) {}

  static Symbol variable(const std::string& name, const VariableOptions& options = {});
  static Symbol group(const std::vector<Symbol>& symbols);
  static Symbol load(const std::string& path);
  static Symbol load_json(std::string_view json);

  /// The head's name; empty for groups.
  std::string name() const;
  std::size_t num_outputs() const { return heads_.size(); }
  std::vector<std::string> list_arguments() const;
  std::vector<std::string> list_outputs() const;
  std::vector<std::string> list_auxiliary_states() const;
  /// Arguments and auxiliary states together, in graph order.
  std::vector<std::string> list_inputs() const;

  /// An attribute of the head node; lr_mult finds __lr_mult__.
  std::optional<std::string> attr(const std::string& key) const;
  AttrDict list_attr() const;
  std::map<std::string, AttrDict> attr_dict() const;
  /// This symbol with an attribute set on its (only) head node.
  Symbol with_attr(const std::string& key, const std::string& value) const;

  Symbol get_internals() const;
  /// The inputs of the head nodes; no outputs for a variable.
  Symbol get_children() const;
  Symbol operator[](std::size_t output) const;
  Symbol operator[](const std::string& output_name) const;
  /// A copy of the graph in which variables are replaced by name and the head is renamed.
  Symbol compose(const std::map<std::string, Symbol>& replacements,
                 const std::string& name = {}) const;

  std::string tojson() const;
  void save(const std::string& path) const;

  InferredShapes infer_shape(const ShapeMap& given) const;
  InferredShapes infer_shape_partial(const ShapeMap& given) const;
  InferredTypes infer_type(const DTypeMap& given = {}) const;

  /// Infers shapes, allocates zeroed arrays, compiles.
  Executor simple_bind(Context context, const ShapeMap& shapes,
                       const SimpleBindOptions& options = {}) const;
  /// Compiles over the given arrays, which stay the executor's arrays.
  Executor bind(Context context, const ArraysArg& args, const BindOptions& options = {}) const;
  /// Binds without gradients and runs once.
  std::vector<NDArray> eval(Context context, const NDArrayMap& args) const;

  /// "<Symbol softmax>", "<Symbol group [a, b]>".
  std::string str() const;
  /// Every node with its inputs, one a line.
  std::string debug_str() const;
  const NodeEntries& heads() const { return heads_; }

 private:
  NodeEntries heads_;
};

inline Symbol Variable(const std::string& name, const VariableOptions& options = {}) {
  return Symbol::variable(name, options);
}
inline Symbol Group(const std::vector<Symbol>& symbols) { return Symbol::group(symbols); }

/// Inputs of an operator by name.
using NamedSymbols = std::vector<std::pair<std::string, Symbol>>;

/// Makes a node. Missing inputs become variables `<name>_<input>`; an empty name is made up by the
/// NameManager from the name the operator was called by.
Symbol make_symbol(std::string_view op, const std::string& name, const std::vector<Symbol>& inputs,
                   const AttrDict& attrs = {});
Symbol make_symbol(std::string_view op, const std::string& name, const NamedSymbols& inputs,
                   const AttrDict& attrs = {});

// Symbol operators want equal shapes; use broadcast_add and similar otherwise.
Symbol operator+(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a, const Symbol& b);
Symbol operator*(const Symbol& a, const Symbol& b);
Symbol operator/(const Symbol& a, const Symbol& b);
Symbol operator+(const Symbol& a, double b);
Symbol operator-(const Symbol& a, double b);
Symbol operator*(const Symbol& a, double b);
Symbol operator/(const Symbol& a, double b);
Symbol operator+(double a, const Symbol& b);
Symbol operator-(double a, const Symbol& b);
Symbol operator*(double a, const Symbol& b);
Symbol operator/(double a, const Symbol& b);
Symbol operator-(const Symbol& a);

/// Makes up names: hint → "hint0", "hint1", … The current manager is thread-local; constructing one
/// makes it current until it is destroyed.
class NameManager {
 public:
  NameManager();
  virtual ~NameManager();
  NameManager(const NameManager&) = delete;
  NameManager& operator=(const NameManager&) = delete;
  /// `name` itself unless it is empty.
  virtual std::string get(const std::string& name, const std::string& hint);
  static NameManager& current();

 private:
  std::map<std::string, int> counters_;
  NameManager* previous_;
};

/// Puts `prefix` before every name, given or made up.
class Prefix : public NameManager {
 public:
  explicit Prefix(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string get(const std::string& name, const std::string& hint) override;

 private:
  std::string prefix_;
};

/// Attributes for every node made during the scope's lifetime, on this thread; inner scopes win.
class AttrScope {
 public:
  explicit AttrScope(AttrDict attrs);
  /// AttrScope scope{{"ctx_group", "dev1"}, {"lr_mult", "2"}};
  AttrScope(std::initializer_list<AttrDict::value_type> attrs) : AttrScope(AttrDict(attrs)) {}
  ~AttrScope();
  AttrScope(const AttrScope&) = delete;
  AttrScope& operator=(const AttrScope&) = delete;
  /// `given` over the attributes of the scopes around.
  static AttrDict merged(const AttrDict& given);

 private:
  AttrDict attrs_;
  AttrScope* previous_;
};

}  // namespace symbind
