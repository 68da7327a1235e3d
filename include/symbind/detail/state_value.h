#pragma once
// Plain data with arrays: the contents of optimizer state files and checkpoints. It cannot hold
// code.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <symbind/detail/key.h>
#include <symbind/ndarray.h>

namespace symbind {

/// One value: a number, a text, an array, a container, or an object by its attributes.
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
  static StateValue dict() { return sequence(Kind::kDict); }
  static StateValue sequence(Kind kind, std::vector<StateValue> items = {});
  /// Adds an entry to a dictionary or an attribute to an object.
  void add(StateValue key, StateValue value);
  void add(const char* key, StateValue value) { add(of(std::string(key)), std::move(value)); }
  /// The value of a key that is a text, or null; the last one if there are several.
  const StateValue* find(std::string_view key) const;
  /// The same; kIo says what is missing, or not of the kind wanted. `what` names the whole.
  const StateValue& at(std::string_view key, const char* what) const;
  std::int64_t integer_at(std::string_view key, const char* what) const;
  const NDArray& array_at(std::string_view key, const char* what) const;
  /// A copy with its own arrays, on the CPU: nothing else writes to them.
  StateValue deep_copy() const;
};

}  // namespace symbind
