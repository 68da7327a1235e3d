#include "autograd/tape.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "executor/imperative.h"

namespace symbind::autograd {
namespace {

std::atomic<std::uint64_t> variables{0}, nodes{0};

Saved save(const NDArray& array, bool keep, bool opaque) {
  Saved s{.array = {}, .desc = {}, .context = {}, .opaque = opaque};
  if (!array.defined()) return s;
  s.desc = {.shape = array.shape(), .dtype = array.dtype()};
  s.context = array.context();
  if (keep) s.array = array.detach();
  return s;
}

bool flag(const std::vector<bool>& flags, std::size_t i) { return i < flags.size() && flags[i]; }

class Tape : public Recorder {
 public:
  void ran(const RanOp& call) override {
    if (std::ranges::none_of(call.in, [&](const NDArray& a) { return is_recorded(a); })) return;
    auto node = std::make_shared<TapeNode>();
    node->op = call.op;
    node->name = fmt::format("node_{}", nodes++);
    node->attrs = *call.attrs;
    node->parsed = call.parsed;
    node->kernel = call.kernel;
    node->state = call.state;
    for (std::size_t i = 0; i < call.in.size(); ++i)
      node->inputs.push_back(entry_of(*node, call.in[i], flag(call.reads_in, i)));
    for (const std::span<const NDArray> list : {call.out, std::span<const NDArray>(call.hidden)})
      for (const NDArray& array : list) {
        const std::size_t o = node->outputs.size();
        node->outputs.push_back(save(array, flag(call.reads_out, o), flag(call.opaque, o)));
      }
    node->outputs.resize(static_cast<std::size_t>(node->num_outputs()));
    for (std::size_t o = 0; o < call.out.size(); ++o)
      call.out[o].set_tape({node, static_cast<int>(o)});
  }

  void derived(std::string_view op, const AttrDict& attrs, const std::vector<NDArray>& inputs,
               const NDArray& result) override {
    const OpDef& def = any_operator(op);
    const auto parsed = parse_node_attrs(def, def.name, attrs, inputs.size());
    GradientReads reads = gradient_reads(def, parsed);
    const std::vector<NDArray> out{result};
    ran({.op = &def,
         .attrs = &attrs,
         .parsed = parsed,
         .in = inputs,
         .out = out,
         .hidden = {},
         .kernel = {},
         .opaque = {},
         .reads_in = std::move(reads.in),
         .reads_out = std::move(reads.out)});
    result.set_tape(out.front().tape());
  }

  bool is_recorded(const NDArray& array) const override { return tape_node(array) != nullptr; }

  void refuse_write(const NDArray& target) const override {
    fail(ErrorKind::kState,
         "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd: "
         "the array of shape {} was recorded, or what is written into a part of it was, and its "
         "gradient would be lost\n  fix:  make a new array (x = x + 1), write before `record` or "
         "after `backward`, or in a `pause` block",
         target.shape().str());
  }

 private:
  /// Adds an input of `reader`; `read` says whether its gradient reads it, too. Then a constant is
  /// marked on its handle: it must not be overwritten meanwhile.
  static NodeEntry entry_of(TapeNode& reader, const NDArray& array, bool read) {
    auto node = tape_node(array);
    if (node != nullptr && node->is_variable() && !node->is_marked) {
      reader.reads.push_back(node->readers.lock());
      if (reader.reads.back() == nullptr) node = nullptr;  // its last reader was just freed
    }
    if (node == nullptr) {
      const auto leaf = make_leaf("null", array, read);
      if (!read) return {leaf, 0};
      reader.reads.push_back(std::make_shared<const bool>(true));
      leaf->readers = reader.reads.back();
      array.set_tape({leaf, 0});
      return {leaf, 0};
    }
    const int output = array.tape().output;
    if (read && array.defined()) {
      const std::lock_guard lock(tape_guard());
      // The only member that changes after a node is shared.
      Saved& saved = const_cast<TapeNode&>(*node).outputs[static_cast<std::size_t>(output)];
      if (!saved.array.defined()) saved.array = array.detach();
    }
    return {node, output};
  }
};

}  // namespace

std::mutex& tape_guard() {
  static std::mutex& guard = *new std::mutex;  // never destroyed: threads may outlive main
  return guard;
}

Recorder& tape() {
  static Recorder& instance = *new Tape;
  return instance;
}

std::shared_ptr<const TapeNode> tape_node(const NDArray& array) {
  if (array.tape().node == nullptr) return nullptr;
  auto node = std::static_pointer_cast<const TapeNode>(array.tape().node);
  const bool gone = node->is_variable() && !node->is_marked
                        ? node->readers.expired()
                        : node->freed.load(std::memory_order_acquire);
  return gone ? nullptr : node;
}

std::shared_ptr<TapeNode> make_leaf(const char* prefix, const NDArray& array, bool keep) {
  auto node = std::make_shared<TapeNode>();
  node->name = fmt::format("{}{}", prefix, variables++);
  node->outputs.push_back(save(array, keep, false));
  return node;
}

void free_nodes(const std::vector<NodePtr>& order) {
  std::vector<std::vector<Saved>> dying;
  std::vector<NodeEntries> released;
  std::vector<std::shared_ptr<const void>> states;  // user code may run when they are freed
  {
    const std::lock_guard lock(tape_guard());
    for (const NodePtr& each : order) {
      auto& node = const_cast<TapeNode&>(static_cast<const TapeNode&>(*each));
      if (node.is_variable() || node.freed.exchange(true)) continue;
      dying.push_back(std::move(node.outputs));
      released.push_back(std::move(node.inputs));
      states.push_back(std::move(node.state));
      states.push_back(std::move(node.parsed));
      states.insert(states.end(), node.reads.begin(), node.reads.end());
      node.reads.clear();
    }
  }
}

}  // namespace symbind::autograd
