#pragma once
// Fills the columns of an OpDef from functions over the operator's own attribute struct; included
// by operator.h.

#include <memory>
#include <string>
#include <vector>

#include <symbind/operator.h>

namespace symbind {

/// A std::function that also takes the name of an overloaded function: the signature selects one.
template <class Signature>
struct OverloadOf : std::function<Signature> {
  using std::function<Signature>::function;
  OverloadOf(Signature* function) : std::function<Signature>(function) {}  // NOLINT: as a base
};

/// Fills an OpDef with typed functions.
template <class A>
class OpBuilder {
 public:
  using OfferRule = OverloadOf<Offer(const A&, const KernelRequest&)>;
  using PrepareRule = OverloadOf<Prepared(const A&, const KernelRequest&, const Offer&)>;

  OpBuilder(OpRegistry& registry, OpDef& def) : registry_(registry), def_(def) {
    def_.make_attrs = [] { return std::shared_ptr<void>(std::make_shared<A>()); };
    def_.describe = [](void* attrs) {
      AttrVisitor v;
      static_cast<A*>(attrs)->describe(v);
      return std::move(v.fields());
    };
  }
  OpBuilder& alias(const std::string& name) {
    registry_.add_alias(def_, name);
    return *this;
  }
  OpBuilder& doc(std::string text) {
    def_.doc = std::move(text);
    return *this;
  }
  OpBuilder& ignore(std::vector<std::string> names) {
    def_.ignored_attrs = std::move(names);
    return *this;
  }
  OpBuilder& inputs(std::vector<std::string> names) {
    def_.input_names = [names = std::move(names)](const void*) { return names; };
    def_.names_inputs = true;
    return *this;
  }
  template <class F>
  requires std::invocable<F, const A&> OpBuilder& inputs(F names) {
    def_.input_names = [names](const void* a) { return names(*static_cast<const A*>(a)); };
    def_.names_inputs = true;
    return *this;
  }
  /// A list of inputs named arg0, arg1, …; `count` is the attribute that holds their number.
  OpBuilder& variadic(std::string key, int A::*count) {
    def_.variadic_key = std::move(key);
    def_.set_num_inputs = [count](void* a, std::size_t n) {
      static_cast<A*>(a)->*count = static_cast<int>(n);
    };
    def_.input_names = [count](const void* a) {
      std::vector<std::string> names;
      for (int i = 0; i < static_cast<const A*>(a)->*count; ++i)
        names.push_back("arg" + std::to_string(i));
      return names;
    };
    return *this;
  }
  /// A list of groups of inputs named weight_0, grad_0, weight_1, …, each with one output, followed
  /// by `rest`; `count` is the attribute that holds the number of groups.
  OpBuilder& groups(std::string key, int A::*count, std::vector<std::string> names,
                    std::vector<std::string> rest = {}) {
    def_.variadic_key = std::move(key);
    def_.group = static_cast<int>(names.size());
    def_.group_rest = static_cast<int>(rest.size());
    def_.set_num_inputs = [count, size = names.size(), more = rest.size()](void* a, std::size_t n) {
      static_cast<A*>(a)->*count = static_cast<int>(n < more ? 0 : (n - more) / size);
    };
    def_.input_names = [count, names = std::move(names), rest = std::move(rest)](const void* a) {
      std::vector<std::string> all;
      for (int i = 0; i < static_cast<const A*>(a)->*count; ++i)
        for (const std::string& name : names) all.push_back(name + "_" + std::to_string(i));
      all.insert(all.end(), rest.begin(), rest.end());
      return all;
    };
    def_.output_names = [count](const void* a) {
      const int n = static_cast<const A*>(a)->*count;
      std::vector<std::string> all;
      for (int i = 0; i < n; ++i) all.push_back(n == 1 ? "output" : "output" + std::to_string(i));
      return all;
    };
    def_.num_visible = [count](const void* a) { return static_cast<const A*>(a)->*count; };
    return *this;
  }
  OpBuilder& outputs(std::vector<std::string> names, int visible = -1) {
    const int shown = visible < 0 ? static_cast<int>(names.size()) : visible;
    def_.num_visible = [shown](const void*) { return shown; };
    def_.output_names = [names = std::move(names)](const void*) { return names; };
    return *this;
  }
  template <class F, class V>
  OpBuilder& outputs(F names, V visible) {
    def_.output_names = [names](const void* a) { return names(*static_cast<const A*>(a)); };
    def_.num_visible = [visible](const void* a) { return visible(*static_cast<const A*>(a)); };
    return *this;
  }
  OpBuilder& aux(std::vector<int> inputs) {
    def_.aux_inputs = std::move(inputs);
    return *this;
  }
  OpBuilder& mutates(std::vector<int> inputs) {
    def_.mutated_inputs = std::move(inputs);
    return *this;
  }
  /// Which inputs are states, overwritten, or read for their shape only, by the attributes.
  OpBuilder& roles(InputRoles (*of)(const A&)) {
    def_.roles = [of](const void* a) { return of(*static_cast<const A*>(a)); };
    return *this;
  }
  /// Attributes that describe() does not name go to `take`.
  OpBuilder& rest(void (*take)(A&, AttrDict)) {
    def_.take_rest = [take](void* a, AttrDict given) {
      take(*static_cast<A*>(a), std::move(given));
    };
    return *this;
  }
  OpBuilder& user_code() {
    def_.runs_user_code = true;
    return *this;
  }
  OpBuilder& starts_gradient() {
    def_.starts_gradient = true;
    return *this;
  }
  /// The values of these inputs are never read.
  OpBuilder& shape_only(std::vector<int> inputs) {
    def_.shape_only = std::move(inputs);
    return *this;
  }
  OpBuilder& init_hint(int input, std::string json) {
    def_.init_hints.emplace_back(input, std::move(json));
    return *this;
  }
  OpBuilder& infer(void (*rule)(const A&, Inference&)) {
    def_.infer = [rule](const void* a, Inference& io) { rule(*static_cast<const A*>(a), io); };
    return *this;
  }
  OpBuilder& shape_from_values(Shape (*rule)(const A&, const std::vector<NDArray>&)) {
    def_.shape_from_values = [rule](const void* a, const std::vector<NDArray>& inputs) {
      return rule(*static_cast<const A*>(a), inputs);
    };
    return *this;
  }
  OpBuilder& gradient(NodeEntries (*rule)(const A&, GradientBuilder&)) {
    def_.gradient = [rule](const void* a, GradientBuilder& g) {
      return rule(*static_cast<const A*>(a), g);
    };
    return *this;
  }
  /// FLOPs of a run: a number per element, or a rule.
  OpBuilder& flops(double count, Per per = Per::kOutput) {
    def_.flops = flops_per_element(count, per);
    return *this;
  }
  template <class F>
  requires std::invocable<F, const A&, const Work&> OpBuilder& flops(F rule) {
    def_.flops = [rule](const void* a, const Work& w) {
      return rule(*static_cast<const A*>(a), w);
    };
    return *this;
  }
  OpBuilder& slices(auto rule) {
    def_.slices = slices_rule<A>(rule);
    return *this;
  }
  /// All kernels write outputs from `first` on only if args.wants(o): unread ones need no memory.
  OpBuilder& skips_unread(int first = 0) {
    def_.skips_unread_from = first;
    return *this;
  }
  /// This operator as an operation of an epilogue, by its attributes.
  template <class F = std::optional<EpilogueItem> (*)(const A&)>  // also of an overloaded name
  OpBuilder& as_epilogue(F item) {
    def_.as_epilogue = [item](const void* a) -> std::optional<EpilogueItem> {
      return item(*static_cast<const A*>(a));
    };
    return *this;
  }
  OpBuilder& recompute(NodeEntry (*again)(const A&, GradientBuilder&)) {
    def_.recompute = [again](const void* a, GradientBuilder& g) {
      return again(*static_cast<const A*>(a), g);
    };
    return *this;
  }
  /// `fused` is this layer with an epilogue.
  OpBuilder& with_epilogue(std::string fused) {
    def_.with_epilogue = std::move(fused);
    return *this;
  }
  OpBuilder& takes_epilogue(bool (*rule)(const Epilogue&, bool training)) {
    def_.takes_epilogue = rule;
    return *this;
  }
  /// The type it computes in where 16-bit ones are declared.
  OpBuilder& precision(Precision p) {
    def_.precision = p;
    return *this;
  }
  OpBuilder& channels_last() {
    def_.channels_last = true;
    return *this;
  }
  OpBuilder& identity_in_prediction(bool (*rule)(const A&)) {
    def_.is_identity_in_prediction = [rule](const void* a) {
      return rule(*static_cast<const A*>(a));
    };
    return *this;
  }
  OpBuilder& loss() {
    def_.is_loss = true;
    return *this;
  }
  OpBuilder& random() {
    def_.is_random = true;
    return *this;
  }
  OpBuilder& adds_up() {
    def_.adds_up = true;
    return *this;
  }
  OpBuilder& loop() {
    def_.is_loop = true;
    return *this;
  }
  OpBuilder& crosses_devices() {
    def_.crosses_devices = true;
    return *this;
  }
  OpBuilder& meets_devices() {
    def_.meets_devices = true;
    return *this;
  }
  OpBuilder& backward() {
    def_.is_backward = true;
    return *this;
  }
  OpBuilder& inplace(int input, int output) {
    def_.inplace.emplace_back(input, output);
    return *this;
  }
  /// Appends a kernel: the first that accepts runs, the last of a device must accept everything.
  /// `name`: "reference" for plain loops that follow the definition, "native" for our own vector
  /// code, else the library that computes, with the algorithm where it has several
  /// ("onednn_winograd"). `offer` may be null: plain layouts, no workspace.
  OpBuilder& kernel(DeviceType device, std::string name, OfferRule offer, PrepareRule prepare) {
    KernelDef k{.device = device, .name = std::move(name), .offer = {}, .prepare = {}};
    k.offer = [offer](const void* a, const KernelRequest& r) {
      return offer ? offer(*static_cast<const A*>(a), r) : accept_plain(r);
    };
    k.prepare = [prepare](const void* a, const KernelRequest& r, const Offer& o) {
      return prepare(*static_cast<const A*>(a), r, o);
    };
    def_.kernels.push_back(std::move(k));
    return *this;
  }
  /// A kernel that only builds with `enabled` have: elsewhere the lambdas are not instantiated, so
  /// the functions they call need not exist.
  template <bool enabled, class O = OfferRule, class P = PrepareRule>
  OpBuilder& kernel_if(DeviceType device, std::string name, O offer, P prepare) {
    if constexpr (enabled) kernel(device, std::move(name), std::move(offer), std::move(prepare));
    return *this;
  }
  /// A CPU kernel with plain layouts and without workspace.
  OpBuilder& cpu_kernel(std::string name, Prepared (*prepare)(const A&, const KernelRequest&)) {
    return kernel(
        DeviceType::kCpu, std::move(name), nullptr,
        [prepare](const A& a, const KernelRequest& r, const Offer&) { return prepare(a, r); });
  }
  /// The plain one: loops that follow the definition.
  OpBuilder& reference(Prepared (*prepare)(const A&, const KernelRequest&)) {
    return cpu_kernel("reference", prepare);
  }

 private:
  OpRegistry& registry_;
  OpDef& def_;
};

template <class A>
OpBuilder<A> OpRegistry::add(std::string name) {
  OpDef def;
  def.name = std::move(name);
  def.input_names = [](const void*) { return std::vector<std::string>{"data"}; };
  return OpBuilder<A>(*this, insert(std::move(def))).outputs({"output"});
}

}  // namespace symbind
