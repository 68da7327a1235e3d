// Decided here: worker 0 saves, and decides when the training stops. Facts of a checkpoint that
// differ between workers (random numbers, iterator, metric, arrays of devices, callbacks) are kept
// for each of them.

#include "module/together.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include <symbind/detail/states.h>

#include "base/check.h"
#include "base/sha256.h"

namespace symbind {
namespace {

// In `facts`: one entry per worker, the bytes of its facts.
constexpr const char* kWorkers = "workers";

std::vector<NDArray> arrays_of(const ModelParams& params) {
  std::vector<NDArray> all;
  for (const NDArrayMap* map : {&params.args, &params.aux})
    for (const auto& [name, array] : *map) all.push_back(array);
  return all;
}

std::string network_text(Training& training) {
  std::string text;
  for (const auto& network : training.networks()) {
    const std::string json = network->symbol_json();
    text += fmt::format("a symbol of {} bytes (SHA-256 {}), ", json.size(), sha256(json));
  }
  const ModelParams params = training.params();
  std::int64_t numbers = 0;
  for (const NDArray& array : arrays_of(params)) numbers += array.size();
  return text + fmt::format("{} parameters and auxiliary states of {} numbers",
                            params.args.size() + params.aux.size(), numbers);
}

std::string values_text(const std::vector<NameValue>& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}\t{:a}\n", name, value);
  return text;
}

std::vector<NameValue> values_from(const std::string& text) {
  std::vector<NameValue> values;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t tab = text.find('\t', at), end = text.find('\n', tab);
    values.emplace_back(text.substr(at, tab - at), std::strtod(text.c_str() + tab + 1, nullptr));
    at = end + 1;
  }
  return values;
}

/// Facts of another worker: its iterators are at other data.
StateValue without_iterators(const StateValue& facts) {
  StateValue fewer = StateValue::dict();
  for (std::size_t i = 0; i + 1 < facts.items.size(); i += 2)
    if (facts.items[i].text != "iterator" && facts.items[i].text != "eval_iterator")
      fewer.add(facts.items[i], facts.items[i + 1]);
  fewer.add("iterator", StateValue::none());
  fewer.add("eval_iterator", StateValue::none());
  return fewer;
}

}  // namespace

std::string text_of_first(Workers& workers, const std::string& what, const std::string& text) {
  return workers.gather(what, text).front();
}

void begin_together(Workers& workers, Training& training) {
  workers.agree("the network", network_text(training));
  const ModelParams params = training.params();
  workers.copy_from_first("the first parameters", arrays_of(params));
  training.set_params(params.args, params.aux);
}

void average_params(Workers& workers, Training& training, int epoch, int batches) {
  workers.agree(fmt::format("the end of epoch {}", epoch), fmt::format("{} batches", batches));
  const ModelParams params = training.params();
  const std::vector<NDArray> arrays = arrays_of(params);
  workers.sum("the mean of the parameters", arrays);
  for (NDArray array : arrays) array /= static_cast<double>(workers.count());
  training.set_params(params.args, params.aux);
}

std::vector<NameValue> values_of_first(Workers& workers, const std::vector<NameValue>& values) {
  return values_from(text_of_first(workers, "the values of the epoch", values_text(values)));
}

std::optional<std::string> stop_of_first(Workers& workers, const std::optional<std::string>& why) {
  const std::string text =
      text_of_first(workers, "whether to stop", why ? "stop " + *why : std::string("continue"));
  if (!text.starts_with("stop ")) return std::nullopt;
  return text.substr(5);
}

void gather_facts(Workers& workers, TrainingState& state) {
  const std::vector<std::string> all =
      workers.gather("the state of each worker", dump_states(state.facts));
  if (workers.rank() != 0) return;
  StateValue list = StateValue::sequence(StateValue::Kind::kList);
  for (const std::string& bytes : all)
    list.items.push_back({.kind = StateValue::Kind::kBytes, .text = bytes});
  state.facts.add(kWorkers, std::move(list));
}

void take_own_facts(Workers* workers, int rank, TrainingState& state) {
  const StateValue* saved = state.facts.find(kWorkers);
  const std::size_t here = workers == nullptr ? 1 : static_cast<std::size_t>(workers->count());
  const std::size_t there = saved == nullptr ? 1 : saved->items.size();
  if (workers != nullptr)
    workers->agree("resume", fmt::format("epoch {}, batch {} of {}", state.epoch, state.batch,
                                         state.exact ? "an exact checkpoint" : "MXNet's files"));
  const std::size_t own = static_cast<std::size_t>(rank);
  if (!state.exact || (here == 1 && there == 1 && rank == 0)) return;
  check(here == there || state.batch == 0, ErrorKind::kState,
        "{} is from within an epoch of {} workers; this training has {}\n  fix:  resume from a "
        "checkpoint of a whole epoch, or with {} workers",
        state.source, there, here, there);
  if (saved != nullptr)
    state.facts = load_states(saved->items[own < there ? own : 0].text, state.source);
  if (here != there || own >= there) state.facts = without_iterators(state.facts);
}

}  // namespace symbind
