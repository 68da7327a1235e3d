// .states: a pickle of optimizer states, taken by an updater that then updates a weight.

#include <symbind/detail/states.h>

#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

bool update_from(std::string_view bytes, const char* optimizer) {
  Updater updater(create_optimizer(optimizer, {{"learning_rate", 0.1}}));
  if (!answers([&] { updater.set_states(bytes); })) return false;
  return answers([&] {
    std::vector<Key> keys;
    for (const auto& [key, state] : updater.states()) keys.push_back(key);
    keys.emplace_back(0);
    for (const Key& key : keys) {
      const NDArray weight = NDArray::ones({2, 3}, cpu());
      const NDArray grad = NDArray::ones({2, 3}, cpu());
      if (answers([&] { updater(key, grad, weight); })) answers([&] { weight.wait_to_read(); });
    }
    updater.get_states(true);
  });
}

}  // namespace

int states(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  StateValue value;
  const bool loaded = answers([&] {
    value = load_states(text);
    const std::string written = dump_states(value);
    must(dump_states(load_states(written)) == written, "states read back as they were written");
  });
  if (!loaded) return 0;
  answers([&] { optimizer_from(value.items.size() == 2 ? value.items[1] : value); });
  const bool sgd = update_from(text, "sgd"), adam = update_from(text, "adam");
  return sgd || adam ? 2 : 1;
}

}  // namespace symbind::fuzz
