#pragma once
// Files of optimizer states: MXNet's pickles, written and read without running anything.
//
// A file holds a dictionary from keys to states, or a pair of it and the optimizer. StateValue
// covers everything a file can hold; a class is a name with attributes, never code, and unknown
// classes are refused by name.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <symbind/detail/state_value.h>
#include <symbind/ndarray.h>
#include <symbind/optimizer.h>

namespace symbind {

/// The state of one weight as plain data.
StateValue state_value(const OptimizerState& state);

/// Whether a file may contain this class, which is not the library's.
using KnownClass = std::function<bool(const std::string& module, const std::string& name)>;

/// The pickle MXNet 1.x reads.
std::string dump_states(const StateValue& value);
/// Reads pickles of protocol 0 to 5. Any fault is an Error kIo with `source` and the offset; memory
/// stays in proportion to the bytes given.
StateValue load_states(std::string_view bytes, const std::string& source = "optimizer states",
                       const KnownClass& known = {});

/// The attributes of an optimizer or scheduler as a dictionary, and back: unknown names are
/// ignored.
StateValue fields_value(Fields& fields);
void set_fields(Fields& fields, const StateValue& values);
/// Dictionaries by parameter, as plain data and back.
StateValue multipliers_value(const Optimizer::Multipliers& multipliers);
Optimizer::Multipliers multipliers_from(const StateValue& value);
StateValue counts_value(const std::map<std::int64_t, Optimizer::Counts>& counts);
std::map<std::int64_t, Optimizer::Counts> counts_from(const StateValue& value);

/// Takes those attributes of an object in a file that this optimizer describes (hyper-parameters,
/// multipliers, names, counts); others are ignored. kIo names an invalid number: counts are whole
/// and from 0 to 2^53, rates are finite.
void set_saved_attributes(Optimizer& optimizer, const StateValue& object);

/// An optimizer as its attributes, the way MXNet pickles it.
StateValue optimizer_value(Optimizer& optimizer);
/// The reverse; kIo for a class that is not the library's.
std::shared_ptr<Optimizer> optimizer_from(const StateValue& value,
                                          const std::string& source = "optimizer states");

}  // namespace symbind
