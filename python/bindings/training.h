#pragma once
// Declarations shared by the bindings of the training stack.

#include <memory>
#include <optional>

#include <symbind/detail/resume.h>
#include <symbind/kvstore.h>
#include <symbind/model.h>

#include "convert.h"

namespace symbind::python {

/// The store in a bound KVStore; null for None.
std::shared_ptr<KVStore> store_from(nb::handle handle);

/// Plain data from a Python object; `take_apart` is called for other objects.
StateValue value_from(nb::handle v, nb::handle take_apart, int depth = 0);
/// The inverse; `put_together` is called for objects.
nb::object value_to(const StateValue& v, nb::handle put_together);
/// The same without objects.
StateValue plain_from(nb::handle v);
nb::object plain_to(const StateValue& v);

inline nb::dict arrays_dict(const NDArrayMap& arrays) {
  nb::dict dict;
  for (const auto& [name, array] : arrays) dict[name.c_str()] = array_to(array);
  return dict;
}

/// An object of the package whose methods C++ calls, holding the GIL for the call.
class Called {
 public:
  explicit Called(nb::handle object) : held_(std::make_shared<HeldObject>(nb::borrow(object))) {}

  template <class T = void, class... Args>
  T call(const char* method, const Args&... args) const {
    const nb::gil_scoped_acquire acquire;
    const nb::object result = held_->object.attr(method)(given(args)...);
    if constexpr (std::is_same_v<T, std::optional<StateValue>>)
      return result.is_none() ? T() : T(state_from(result));
    else if constexpr (std::is_same_v<T, StateValue>)
      return state_from(result);
    else if constexpr (std::is_same_v<T, ModelParams>)
      return ModelParams{array_map_from(result[0], "a parameter"),
                         array_map_from(result[1], "an auxiliary state")};
    else if constexpr (!std::is_void_v<T>)
      return nb::cast<T>(result);
  }
  template <class T>
  T get(const char* attribute) const {
    const nb::gil_scoped_acquire acquire;
    return nb::cast<T>(held_->object.attr(attribute));
  }
  nb::object object() const { return held_->object; }

 protected:
  std::shared_ptr<HeldObject> held_;

 private:
  template <class A>
  static decltype(auto) given(const A& arg) {
    if constexpr (std::is_same_v<A, StateValue>)
      return plain_to(arg);
    else if constexpr (std::is_same_v<A, NDArrayMap>)
      return arrays_dict(arg);
    else
      return (arg);
  }
  /// Arrays that nothing else writes to.
  static StateValue state_from(nb::handle value) {
    if (nb::isinstance<Updater>(value)) return states_facts(nb::cast<Updater&>(value).states());
    return plain_from(value).deep_copy();
  }
};

void bind_resume(nb::module_& m);

}  // namespace symbind::python
