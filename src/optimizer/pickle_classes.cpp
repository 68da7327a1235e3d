// What a pickle may name and call: the array class, bytes in their old encodings, NumPy's numbers,
// optimizers and schedulers. Everything else is refused by its name, and nothing is ever run.
//
// Decided here: an array record is read once however often it is referenced, an object refers to
// its attributes without copying them, and the size of texts and of the final tree is bounded by
// the length of the file, so a small file cannot expand into a large value. Arrays and nesting have
// the limits of base/limits.h.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "base/half.h"
#include "base/limits.h"
#include "optimizer/builtin.h"
#include "optimizer/pickle.h"

namespace symbind {

using Kind = PickleNode::Kind;

// ---- The heap -----------------------------------------------------------------------------------

namespace {

constexpr std::size_t kFree = std::size_t{1} << 20;  // allowed for any file
constexpr std::size_t kMostEntries = 64;             // in the state of one array; MXNet's has 1

}  // namespace

PickleNode* PickleHeap::make(Kind kind) {
  PickleNode& node = nodes_.emplace_back();
  node.kind = kind;
  return &node;
}

PickleNode* PickleHeap::make_text(Kind kind, std::string_view text) {
  PickleNode* node = make(kind);
  node->text = text;
  return node;
}

PickleNode* PickleHeap::make_int(std::int64_t value) {
  PickleNode* node = make(Kind::kInt);
  node->integer = value;
  return node;
}

PickleNode* PickleHeap::make_float(double value) {
  PickleNode* node = make(Kind::kFloat);
  node->number = value;
  return node;
}

std::string_view PickleHeap::keep(std::string text) {
  text_bytes_ += text.size();
  if (text_bytes_ > kFree + 8 * input_.size())
    fail("its texts are larger than those of any states file");
  return texts_.emplace_back(std::move(text));
}

NDArray PickleHeap::array_of(std::string_view record) {
  const auto it = arrays_.find(record.data());
  if (it != arrays_.end()) return it->second;
  NDArray array;
  try {
    check_limit(Limit::kFileArrays, static_cast<std::int64_t>(arrays_.size() + 1), source_);
    array =
        read_record({reinterpret_cast<const std::byte*>(record.data()), record.size()}, sparse_);
  } catch (const Error& error) {
    fail(error.what());
  }
  return arrays_.emplace(record.data(), std::move(array)).first->second;
}

void PickleHeap::fail(const std::string& what) const {
  symbind::fail(ErrorKind::kIo, "{}: {} (at byte {})", source_, what, at);
}

// ---- Classes ------------------------------------------------------------------------------------

namespace {

/// One of these; else empty.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kCallables = {{
    {"mxnet.ndarray.ndarray.NDArray", "array"},
    {"mxnet.ndarray.NDArray", "array"},
    {"symbind.ndarray.ndarray.NDArray", "array"},
    {"builtins.bytearray", "bytes"},
    {"__builtin__.bytearray", "bytes"},
    {"_codecs.encode", "bytes"},
    {"builtins.object", "object"},
    {"__builtin__.object", "object"},
    {"copyreg._reconstructor", "reconstructor"},
    {"copy_reg._reconstructor", "reconstructor"},
    {"numpy.dtype", "dtype"},
    {"numpy.core.multiarray.scalar", "scalar"},
    {"numpy._core.multiarray.scalar", "scalar"},
    {"builtins.bytes", "bytes"},
    {"__builtin__.bytes", "bytes"},
}};

std::string_view callable(std::string_view full_name) {
  for (const auto& [name, what] : kCallables)
    if (name == full_name) return what;
  return {};
}

bool is_ours(std::string_view module, std::string_view name) {
  if (module == "mxnet.lr_scheduler" || module == "symbind.lr_scheduler")
    return std::ranges::find(lr_scheduler_names(), name) != lr_scheduler_names().end();
  for (const BuiltinOptimizer& one : builtin_optimizers()) {
    if (name != one.class_name) continue;
    const std::string_view own = std::string_view(one.module).substr(5);
    if (module == one.module || module == "mxnet.optimizer" || module == "symbind.optimizer" ||
        (module.starts_with("symbind") && module.substr(7) == own))
      return true;
  }
  return false;
}

bool is_latin(std::string_view encoding) { return encoding == "latin1" || encoding == "latin-1"; }

/// Text as the bytes of its Latin-1 characters.
std::string to_latin(PickleHeap& heap, std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      out += utf8[i];
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < utf8.size()) {
      out += static_cast<char>((c & 3) << 6 | (utf8[++i] & 0x3f));
    } else {
      heap.fail("a bytes object whose contents are not bytes");
    }
  }
  return out;
}

PickleNode* make_bytes(PickleHeap& heap, const PickleNode& args) {
  if (args.items.empty()) return heap.make(Kind::kBytes);
  const PickleNode& first = *args.items[0];
  if (first.kind == Kind::kBytes && args.items.size() == 1)
    return heap.make_text(Kind::kBytes, first.text);
  if (first.kind == Kind::kText && args.items.size() == 2 && args.items[1]->kind == Kind::kText &&
      is_latin(args.items[1]->text))
    return heap.make_text(Kind::kBytes, heap.keep(to_latin(heap, first.text)));
  heap.fail("bytes in an unknown encoding");
}

template <class T>
T read_as(std::string_view raw) {
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  return value;
}

PickleNode* make_number(PickleHeap& heap, const PickleNode& args) {
  if (args.items.size() != 2 || args.items[0]->kind != Kind::kDtype ||
      args.items[1]->kind != Kind::kBytes)
    heap.fail("a NumPy number in an unknown encoding");
  const std::string_view type = args.items[0]->text, raw = args.items[1]->text;
  const std::size_t size = type.size() == 2 ? static_cast<std::size_t>(type[1] - '0') : 0;
  if (size != raw.size() || !std::has_single_bit(size) || size > 8)
    heap.fail(fmt::format("a NumPy number of type '{}' with {} bytes", type, raw.size()));
  switch (type[0]) {
    case 'f':
      if (size == 8) return heap.make_float(read_as<double>(raw));
      if (size == 4) return heap.make_float(read_as<float>(raw));
      if (size == 2) return heap.make_float(static_cast<float>(read_as<Half>(raw)));
      break;
    case 'i':
    case 'u': {
      std::uint64_t value = type[0] == 'i' && (raw.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[i]);
      return heap.make_int(static_cast<std::int64_t>(value));
    }
    case 'b': {
      PickleNode* node = heap.make(Kind::kBool);
      node->integer = raw[0] != 0;
      return node;
    }
    default: break;
  }
  heap.fail(fmt::format("NumPy numbers of type '{}' are not read", type));
}

}  // namespace

PickleNode* pickle_global(PickleHeap& heap, std::string_view module, std::string_view name,
                          const KnownClass& known) {
  const std::string full = fmt::format("{}.{}", module, name);
  if (callable(full).empty() && !is_ours(module, name) &&
      !(known && known(std::string(module), std::string(name))))
    heap.fail(fmt::format("class '{}' is not allowed in a states file; nothing was run or loaded",
                          full.substr(0, 200)));
  return heap.make_text(Kind::kClass, heap.keep(full));
}

PickleNode* pickle_call(PickleHeap& heap, const PickleNode& called, const PickleNode& args) {
  if (called.kind != Kind::kClass || args.kind != Kind::kTuple)
    heap.fail("a call of something that is not a class");
  const std::string_view what = callable(called.text);
  if (what == "array") return heap.make(Kind::kArray);
  if (what == "bytes") return make_bytes(heap, args);
  if (what == "scalar") return make_number(heap, args);
  if (what == "reconstructor" && !args.items.empty())
    return pickle_new(heap, *args.items[0], *heap.make(Kind::kTuple));
  if (what == "dtype" && !args.items.empty() && args.items[0]->kind == Kind::kText)
    return heap.make_text(Kind::kDtype, args.items[0]->text);
  heap.fail(fmt::format("a call of '{}' is not allowed in a states file", called.text));
}

PickleNode* pickle_new(PickleHeap& heap, const PickleNode& cls, const PickleNode& args) {
  if (cls.kind != Kind::kClass || args.kind != Kind::kTuple || !args.items.empty())
    heap.fail("an object in an unknown encoding");
  const std::string_view what = callable(cls.text);
  if (what == "array") return heap.make(Kind::kArray);
  if (!what.empty())
    heap.fail(fmt::format("an object of '{}' is not allowed in a states file", cls.text));
  return heap.make_text(Kind::kObject, cls.text);
}

void pickle_build(PickleHeap& heap, PickleNode& object, const PickleNode& state) {
  if (object.kind == Kind::kDtype) {
    const bool plain = state.kind == Kind::kTuple && state.items.size() > 1 &&
                       state.items[1]->kind == Kind::kText &&
                       (state.items[1]->text == "<" || state.items[1]->text == "|");
    if (!plain) heap.fail("NumPy numbers are read in little-endian order only");
    return;
  }
  if (state.kind != Kind::kDict) heap.fail("a state that is not a dictionary");
  if (object.kind == Kind::kObject) {
    if (object.state != nullptr) heap.fail("a second state for an object");
    object.state = &state;
    return;
  }
  if (object.kind != Kind::kArray) heap.fail("a state for something that takes none");
  if (state.items.size() > 2 * kMostEntries)
    heap.fail(fmt::format("the state of an array has {} entries; the limit is {}",
                          state.items.size() / 2, kMostEntries));
  for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
    if (state.items[i]->kind != Kind::kText || state.items[i]->text != "handle") continue;
    const PickleNode& handle = *state.items[i + 1];
    if (handle.kind == Kind::kNone) continue;
    if (handle.kind != Kind::kBytes) heap.fail("an array whose handle is not bytes");
    object.array = heap.array_of(handle.text);
  }
}

// ---- The tree -----------------------------------------------------------------------------------

namespace {

class Tree {
 public:
  explicit Tree(PickleHeap& heap) : heap_(heap), left_(kFree / 64 + heap.input().size()) {}

  StateValue value(const PickleNode& node, std::int64_t depth = 0) {
    if (depth > deepest_)
      heap_.fail(fmt::format("it is nested deeper than {}, or contains itself", deepest_));
    if (left_-- == 0) heap_.fail("its memo makes it larger than any states file");
    using V = StateValue::Kind;
    StateValue out;
    switch (node.kind) {
      case Kind::kNone: break;
      case Kind::kBool: out = StateValue::of(node.integer != 0); break;
      case Kind::kInt:
        out = StateValue::of(node.integer);
        out.text = node.text;
        break;
      case Kind::kFloat: out = StateValue::of(node.number); break;
      case Kind::kText: copy_text(node, V::kText, out); break;
      case Kind::kBytes: copy_text(node, V::kBytes, out); break;
      case Kind::kArray: out = StateValue::of(node.array); break;
      case Kind::kTuple: out.kind = V::kTuple; break;
      case Kind::kList: out.kind = V::kList; break;
      case Kind::kDict: out.kind = V::kDict; break;
      case Kind::kObject: copy_text(node, V::kObject, out); break;
      default: heap_.fail("a class or a type where a value should be");
    }
    const std::vector<PickleNode*>& items = node.state != nullptr ? node.state->items : node.items;
    out.items.reserve(std::min(items.size(), left_));
    for (const PickleNode* item : items) out.items.push_back(value(*item, depth + 1));
    return out;
  }

 private:
  void copy_text(const PickleNode& node, StateValue::Kind kind, StateValue& out) {
    text_bytes_ += node.text.size();
    if (text_bytes_ > kFree + 8 * heap_.input().size())
      heap_.fail("its memo makes it larger than any states file");
    out.kind = kind;
    out.text = node.text;
  }

  PickleHeap& heap_;
  const std::int64_t deepest_ = limit(Limit::kNesting);
  std::size_t left_, text_bytes_ = 0;
};

}  // namespace

StateValue pickle_value(PickleHeap& heap, const PickleNode& root) { return Tree(heap).value(root); }

}  // namespace symbind
