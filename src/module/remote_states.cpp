// Decided here: an optimizer travels as its class name and its attributes, in the format of state
// files, which is read as data. States of a value that is divided over servers have the value's
// shape in files: arrays as large as a part are joined, others are the same on all servers.

#include <symbind/detail/remote_states.h>

#include <algorithm>

#include <fmt/format.h>

#include <symbind/detail/states.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

using Kind = StateValue::Kind;
using Parts = std::vector<RemoteUpdates::Part>;
constexpr const char* kCounts = "_all_index_update_counts";

bool is_builtin(const Optimizer& optimizer) {
  return std::ranges::any_of(builtin_optimizers(), [&](const BuiltinOptimizer& one) {
    return optimizer.class_name() == one.class_name;
  });
}

StateValue load_any(const std::string& bytes, const std::string& source) {
  return load_states(bytes, source, [](const std::string&, const std::string&) { return true; });
}

std::int64_t size_of_part(const RemoteUpdates::Part& part) { return part.end - part.begin; }

/// The state of a whole value from those of its parts.
StateValue join(const std::vector<const StateValue*>& of_parts, const Parts& parts,
                const Shape& shape) {
  StateValue joined = *of_parts.front();
  const auto is_divided = [&](std::size_t i) {
    return of_parts[i]->kind == Kind::kArray && of_parts[i]->array.size() == size_of_part(parts[i]);
  };
  if (joined.kind == Kind::kArray) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!is_divided(i)) return joined;
    NDArray whole({shape.size()}, cpu(), joined.array.dtype());
    for (std::size_t i = 0; i < parts.size(); ++i)
      of_parts[i]->array.reshape({-1}).copy_to(whole.slice(parts[i].begin, parts[i].end));
    joined.array = whole.reshape(shape);
    return joined;
  }
  for (std::size_t k = 0; k < joined.items.size(); ++k) {
    std::vector<const StateValue*> items;
    for (const StateValue* one : of_parts) {
      check(one->items.size() == joined.items.size(), ErrorKind::kState,
            "the servers have states of different forms");
      items.push_back(&one->items[k]);
    }
    joined.items[k] = join(items, parts, shape);
  }
  return joined;
}

/// The state of a part from that of the whole value.
StateValue cut(const StateValue& whole, const RemoteUpdates::Part& part, const Shape& shape) {
  StateValue result = whole;
  if (whole.kind == Kind::kArray && whole.array.size() == shape.size())
    result.array = whole.array.reshape({-1}).slice(part.begin, part.end).copy();
  for (StateValue& item : result.items) item = cut(item, part, shape);
  return result;
}

Key key_of(const StateValue& value) {
  return value.kind == Kind::kInt ? Key(value.integer) : Key(value.text);
}

const StateValue& states_within(const StateValue& loaded) {
  const StateValue& dict = loaded.kind == Kind::kTuple ? loaded.items.at(0) : loaded;
  check(dict.kind == Kind::kDict, ErrorKind::kIo, "there is no dictionary of states by parameter");
  return dict;
}

void set(StateValue& object, const char* name, StateValue value) {
  for (std::size_t i = 0; i + 1 < object.items.size(); i += 2)
    if (object.items[i].text == name) object.items[i + 1] = value;
}

/// The optimizer of the first server, with the updates that all servers have counted.
StateValue with_counts(const std::vector<StateValue>& pairs) {
  StateValue optimizer = pairs.front().items.at(1);
  std::map<std::int64_t, Optimizer::Counts> all;
  std::int64_t most = 0;
  for (const StateValue& pair : pairs) {
    const StateValue& one = pair.items.at(1);
    most = std::max(most, one.integer_at("num_update", "an optimizer"));
    for (const auto& [device, counts] : counts_from(one.at(kCounts, "an optimizer")))
      for (const auto& [key, count] : counts) all[device][key] = std::max(all[device][key], count);
  }
  set(optimizer, kCounts, counts_value(all));
  set(optimizer, "num_update", StateValue::of(most));
  return optimizer;
}

}  // namespace

SentOptimizer sent_optimizer(Optimizer& optimizer) {
  if (is_builtin(optimizer))
    return {.text = dump_states(optimizer_value(optimizer)),
            .custom = {},
            .whole = optimizer.needs_whole_arrays()};
  check(!optimizer.lr_scheduler(), ErrorKind::kNotImplemented,
        "the scheduler of a custom optimizer ({}) cannot be sent to servers",
        optimizer.class_name());
  StateValue attributes = fields_value(optimizer.fields()), names = StateValue::dict();
  attributes.add("lr_mult", multipliers_value(optimizer.lr_mult()));
  attributes.add("wd_mult", multipliers_value(optimizer.wd_mult()));
  for (const auto& [key, name] : optimizer.idx2name())
    names.add(StateValue::of(key), StateValue::of(name));
  attributes.add("idx2name", std::move(names));
  return {.text = dump_states(attributes), .custom = optimizer.class_name(), .whole = true};
}

ServerUpdate make_server_update(const MakeServerUpdate& custom, const std::string& name,
                                const std::string& text) {
  if (!name.empty() && custom) return custom(name, text);
  const std::string source = "the optimizer of worker 0";
  std::shared_ptr<Optimizer> optimizer;
  if (name.empty()) {
    optimizer = optimizer_from(load_states(text, source), source);
  } else {
    optimizer = make_optimizer(name);
    set_saved_attributes(*optimizer, load_any(text, source));
  }
  const auto updater = std::make_shared<Updater>(optimizer);
  return {.update = [updater](const Key& key, const NDArray& gradient,
                              NDArray& value) { (*updater)(key, gradient, value); },
          .states = [updater] { return updater->get_states(true); },
          .set_states = [updater](const std::string& bytes) { updater->set_states(bytes); }};
}

std::string remote_states(RemoteUpdates& remote) {
  std::vector<StateValue> pairs;
  std::map<Key, std::vector<const StateValue*>> by_key;  // in the order of the servers
  for (int s = 0; s < remote.servers(); ++s)
    pairs.push_back(load_any(remote.states(s), fmt::format("the states of server {}", s)));
  for (const StateValue& pair : pairs) {
    const StateValue& dict = states_within(pair);
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2)
      by_key[key_of(dict.items[i])].push_back(&dict.items[i + 1]);
  }
  StateValue states = StateValue::dict();
  for (const auto& [key, of_parts] : by_key) {
    const Parts& parts = remote.parts(key);
    if (of_parts.size() != parts.size()) continue;  // some servers have not updated it yet
    states.add(StateValue::of(key),
               parts.size() == 1 ? *of_parts.front() : join(of_parts, parts, remote.shape(key)));
  }
  return dump_states(StateValue::sequence(Kind::kTuple, {std::move(states), with_counts(pairs)}));
}

void set_remote_states(RemoteUpdates& remote, const std::string& bytes) {
  const StateValue loaded = load_any(bytes, "optimizer states");
  const StateValue& all = states_within(loaded);
  std::vector<StateValue> dicts(static_cast<std::size_t>(remote.servers()), StateValue::dict());
  for (std::size_t i = 0; i + 1 < all.items.size(); i += 2) {
    const Key key = key_of(all.items[i]);
    const Parts& parts = remote.parts(key);
    for (const RemoteUpdates::Part& part : parts)
      dicts[static_cast<std::size_t>(part.server)].add(
          all.items[i],
          parts.size() == 1 ? all.items[i + 1] : cut(all.items[i + 1], part, remote.shape(key)));
  }
  std::vector<std::string> by_server;
  for (const StateValue& dict : dicts) by_server.push_back(dump_states(dict));
  remote.set_states(by_server);
}

void fetch_states(RemoteUpdates& remote, Updater& updater) {
  const StateValue pair = load_any(remote_states(remote), "the states of the servers");
  updater.set_states(dump_states(states_within(pair)), "the states of the servers");
  set_saved_attributes(*updater.optimizer(), pair.items.at(1));
}

void send_states(RemoteUpdates& remote, Updater& updater) {
  remote.set_optimizer(sent_optimizer(*updater.optimizer()));
  set_remote_states(remote, updater.get_states());
}

}  // namespace symbind
