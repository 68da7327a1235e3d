#pragma once
// Files of optimizer states: MXNet's pickles, written and read without running anything.
//
// A file holds a dictionary from keys to states, or a pair of it and the optimizer. What can stand
// in one is StateValue; a class is a name with attributes, never code, and any but the known ones
// is refused by name.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <symbind/ndarray.h>
#include <symbind/optimizer.h>

namespace symbind {

/// One value of a pickle: a number, a text, an array, a container, or an object by its attributes.
struct StateValue {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kBytes,
    kArray,
    kTuple,
    kList,
    kDict,
    kObject
  };

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  ///< kInt, kBool
  double number = 0;         ///< kFloat
  std::string text = {};  ///< kText, kBytes; kObject: "module.Class"; kInt beyond 64 bits: its text
  NDArray array = {};     ///< kArray
  std::vector<StateValue> items = {};  ///< members; of kDict and kObject keys and values in turn

  static StateValue none() { return {}; }
  static StateValue of(bool value);
  static StateValue of(std::int64_t value);
  static StateValue of(double value);
  static StateValue of(std::string text);
  static StateValue of(NDArray array);
  static StateValue of(const Key& key);
  static StateValue of(const OptimizerState& state);
  static StateValue sequence(Kind kind, std::vector<StateValue> items = {});
  /// Adds an entry to a dictionary or an attribute to an object.
  void add(StateValue key, StateValue value);
  /// The value of a key that is a text, or null; the last one if there are several.
  const StateValue* find(std::string_view key) const;
};

/// Says whether a class beyond those of the library may stand in a file.
using KnownClass = std::function<bool(const std::string& module, const std::string& name)>;

/// The pickle MXNet 1.x reads.
std::string dump_states(const StateValue& value);
/// Reads pickles of protocol 0 to 5. Whatever is wrong is an Error kIo with `source` and the
/// offset; memory stays in proportion to the bytes given.
StateValue load_states(std::string_view bytes, const std::string& source = "optimizer states",
                       const KnownClass& known = {});

/// An optimizer as its attributes, the way MXNet pickles it.
StateValue optimizer_value(Optimizer& optimizer);
/// Its way back; kIo for a class that is not the library's.
std::shared_ptr<Optimizer> optimizer_from(const StateValue& value,
                                          const std::string& source = "optimizer states");

}  // namespace symbind
