#pragma once
// The stack machine that reads pickles: its values, and what a pickle may call.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <symbind/detail/states.h>

#include "ndarray/params_read.h"

namespace symbind {

/// A value while a pickle is read. Nodes may refer to each other, also in cycles; the machine owns
/// them all.
struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kBytes,
    kTuple,
    kList,
    kDict,
    kClass,
    kArray,
    kObject,
    kDtype
  };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text = {};  ///< texts and bytes; a class and an object: "module.name"
  NDArray array = {};
  std::vector<PickleNode*> items = {};  ///< of dictionaries keys and values in turn
  const PickleNode* state = nullptr;    ///< of an object: the dictionary of its attributes
};

/// Owns the nodes and counts what they cost.
class PickleHeap {
 public:
  PickleHeap(std::string_view input, std::string source)
      : input_(input), source_(std::move(source)), sparse_(source_, input.size()) {}

  PickleNode* make(PickleNode::Kind kind);
  PickleNode* make_text(PickleNode::Kind kind, std::string_view text);
  PickleNode* make_int(std::int64_t value);
  PickleNode* make_float(double value);
  /// Stores a text that is not part of the input; the total is bounded by the input's length.
  std::string_view keep(std::string text);
  /// The array in `record`; a second call returns the same array.
  NDArray array_of(std::string_view record);

  [[noreturn]] void fail(const std::string& what) const;
  /// The offset that error messages name.
  std::size_t at = 0;
  std::string_view input() const { return input_; }

 private:
  std::string_view input_;
  std::string source_;
  std::deque<PickleNode> nodes_;
  std::deque<std::string> texts_;
  std::map<const char*, NDArray> arrays_;
  SparseBudget sparse_;
  std::size_t text_bytes_ = 0;
};

/// Latin-1 as UTF-8.
std::string pickle_from_latin(std::string_view raw);
/// A text of protocol 0: \xhh and its short forms in a string; with `unicode` \uhhhh and
/// \Uhhhhhhhh, where every other byte is a character of Latin-1.
std::string pickle_unescaped(PickleHeap& heap, std::string_view text, bool unicode);

/// The class or function `module.name`, or an error that names it.
PickleNode* pickle_global(PickleHeap& heap, std::string_view module, std::string_view name,
                          const KnownClass& known);
/// The result of calling `callable` with `args`.
PickleNode* pickle_call(PickleHeap& heap, const PickleNode& callable, const PickleNode& args);
/// A new object of a class, without arguments.
PickleNode* pickle_new(PickleHeap& heap, const PickleNode& cls, const PickleNode& args);
/// Sets the state of `object`.
void pickle_build(PickleHeap& heap, PickleNode& object, const PickleNode& state);
/// The tree below `root`, each reference a copy; bounded in depth and in number.
StateValue pickle_value(PickleHeap& heap, const PickleNode& root);

}  // namespace symbind
