// Reading checkpoint sets: every byte is checked before anything is used, and if the newest set is
// damaged, the error names the newest complete one.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>
#include <symbind/model.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "module/manifest.h"
#include "module/state_json.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The whole number `name`, at least 0 and at most `most`.
std::int64_t whole_at(const Json& json, const char* name, std::int64_t most) {
  const Json& value = json.at(name);
  check(value.is_number_integer(), ErrorKind::kIo, "its {} is {}, not a whole number", name,
        value.dump());
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                        : value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= most;
  check(fits, ErrorKind::kIo, "its {} is {}; it must be from 0 to {}", name, value.dump(), most);
  return value.get<std::int64_t>();
}

/// JSON whose nesting is limited while it is read, because the rest of this file recurses.
Json parse_limited(std::string_view text) {
  // One level of data takes up to three: {"$dict": [[key, value]]}. The manifest itself has two.
  const std::int64_t most = 3 * limit(Limit::kNesting) + 2;
  return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
    if (depth > most)
      check_limit(Limit::kNesting, limit(Limit::kNesting) + 1, "it", ErrorKind::kIo);
    return true;
  });
}

FileDigest digest_from(const Json& file) {
  constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  return {static_cast<std::uint64_t>(whole_at(file, "size", kMostBytes)),
          file.at("sha256").get<std::string>()};
}

Manifest manifest_from(const Json& json, const std::string& set) {
  constexpr std::int64_t kMostSequence = std::int64_t{1} << 53;
  constexpr int kMostEpochs = 999'999'999;  // the most a set's name can hold
  const Json& inner = json.at("checkpoint");
  check(json.at("sha256").get<std::string>() == sha256(inner.dump()), ErrorKind::kIo,
        "its checksum is wrong: it was changed or damaged");
  const std::int64_t format = whole_at(inner, "format", kMostEpochs);
  check(format == 1, ErrorKind::kIo, "its format is {}; this version reads format 1", format);
  Manifest m;
  for (const auto& [name, file] : inner.at("files").items()) {
    check(is_file_of_set(name, set), ErrorKind::kIo,
          "it lists the file '{}', which is not a file of a checkpoint{}: nothing was opened or "
          "removed",
          name, set);
    m.files[name] = digest_from(file);
  }
  m.epoch = static_cast<int>(whole_at(inner, "epoch", kMostEpochs));
  m.batch = static_cast<int>(whole_at(inner, "batch", kMostEpochs));
  check(set_name(m.epoch, m.batch) == set, ErrorKind::kIo,
        "it is of epoch {}, batch {}, but its name is{}", m.epoch, m.batch, set);
  m.sequence = whole_at(inner, "sequence", kMostSequence);
  const auto most_parts = static_cast<std::int64_t>(std::max<std::size_t>(m.files.size(), 1));
  m.parts = static_cast<std::size_t>(whole_at(inner, "parts", most_parts));
  m.facts = inner.at("training");
  if (inner.contains("score"))
    m.score = NameValue(inner["score"].at("name").get<std::string>(),
                        state_from_json(inner["score"].at("value"), {}).number);
  return m;
}

/// Names the set that recorded this file, if another set of the prefix did.
std::string owner_of(const std::string& prefix, const std::string& digest) {
  for (const std::string& path : manifest_paths(prefix)) {
    try {
      for (const auto& [name, file] : read_manifest(path).files)
        if (file.sha256 == digest) return fmt::format("; it is {}{} of {}", prefix, name, path);
    } catch (const Error&) {
      continue;
    }
  }
  return {};
}

struct Candidate {
  std::string path;
  std::optional<Manifest> manifest;
  std::string fault;  ///< why it could not be read
  int epoch = 0, batch = 0;
};

/// All sets, the newest last; those with a damaged manifest are ordered by name.
std::vector<Candidate> candidates(const std::string& prefix) {
  std::vector<Candidate> all;
  for (const std::string& path : manifest_paths(prefix)) {
    Candidate one{path, std::nullopt, {}, 0, 0};
    const std::string set = split_manifest_path(path).second;
    std::sscanf(set.c_str(), "-%d-b%d", &one.epoch, &one.batch);
    try {
      one.manifest = read_manifest(path);
    } catch (const Error& error) {
      one.fault = error.what();
    }
    all.push_back(std::move(one));
  }
  // The sequence numbers of damaged sets are unknown: each is placed after the last set with a
  // smaller name.
  std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.epoch, a.batch) < std::pair(b.epoch, b.batch);
  });
  std::int64_t last = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].manifest) last = all[i].manifest->sequence;
    order.emplace_back(last, i);
  }
  std::ranges::stable_sort(order, {}, &std::pair<std::int64_t, std::size_t>::first);
  std::vector<Candidate> sorted;
  for (const auto& [sequence, i] : order) sorted.push_back(std::move(all[i]));
  return sorted;
}

std::vector<std::string> faults_of(const Candidate& one) {
  if (!one.manifest) return {one.fault};
  return find_faults(split_manifest_path(one.path).first, *one.manifest);
}

[[noreturn]] void refuse(const std::string& path, const std::vector<std::string>& faults,
                         const std::vector<Candidate>& all) {
  std::string fix = "no complete set is left: start from scratch, without resume";
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (it->path == path || !faults_of(*it).empty()) continue;
    fix = fmt::format("the newest complete set is epoch {}{}: fit(resume='{}')", it->epoch,
                      it->batch > 0 ? fmt::format(", batch {}", it->batch) : "", it->path);
    break;
  }
  fail(ErrorKind::kIo, "the checkpoint of {} is not complete; nothing was loaded\n  {}\n  fix:  {}",
       path, fmt::join(faults, "\n  "), fix);
}

TrainingState read_set(const std::string& path, const Manifest& m) {
  const auto [prefix, set] = split_manifest_path(path);
  const auto where = [&, &prefix = prefix](const std::string& name) {
    return find_file(prefix, name, m.files.at(name));
  };
  TrainingState state{.epoch = m.epoch, .batch = m.batch, .score = m.score, .source = path};
  ModelParams params = load_params(where(set + ".params"));
  state.args = std::move(params.args);
  state.aux = std::move(params.aux);
  state.parts.resize(m.parts);
  for (std::size_t i = 0; i < m.parts; ++i) {
    const std::string number = m.parts == 1 ? "" : fmt::format("-{}", i);
    if (const std::string name = set + number + ".states"; m.files.contains(name))
      state.parts[i].states = {.kind = StateValue::Kind::kBytes,
                               .text = std::string(text_of(read_file(where(name))))};
    if (const std::string name = number + "-symbol.json"; m.files.contains(name))
      state.parts[i].symbol_json = text_of(read_file(where(name)));
  }
  NDArrayMap extra;
  if (m.files.contains(set + ".extra")) extra = load(where(set + ".extra")).map();
  state.facts = state_from_json(m.facts, extra);
  return state;
}

/// What MXNet wrote: the parameters of the last epoch, and the optimizer's states if they exist.
std::optional<TrainingState> load_plain(const std::string& prefix) {
  const std::vector<int> epochs = checkpoint_epochs(prefix);
  if (epochs.empty()) return std::nullopt;
  TrainingState state{.epoch = epochs.back(), .exact = false};
  state.source = checkpoint_path(prefix, state.epoch);
  ModelParams params = load_params(prefix, state.epoch);
  state.args = std::move(params.args);
  state.aux = std::move(params.aux);
  const std::string states = checkpoint_path(prefix, state.epoch, "states");
  std::error_code error;
  if (fs::exists(states, error))
    state.parts.push_back({.states = {.kind = StateValue::Kind::kBytes,
                                      .text = std::string(text_of(read_file(states)))}});
  log_warning(
      fmt::format("resume: {} has no manifest: parameters{} are read from MXNet's files, and the "
                  "training resumes at epoch {}. Random numbers, the order of the data and the "
                  "counts of updates restart",
                  state.source, state.parts.empty() ? "" : " and optimizer states", state.epoch));
  return state;
}

}  // namespace

Manifest read_manifest(const std::string& path) {
  const std::string set = split_manifest_path(path).second;
  const std::vector<std::byte> bytes = read_file(path);
  try {
    return manifest_from(parse_limited(text_of(bytes)), set);
  } catch (const Json::exception& error) {
    fail(ErrorKind::kIo, "{}: this is not a manifest of a checkpoint ({}; it looks like {})", path,
         error.what(), looks_like(bytes));
  } catch (const Error& error) {
    fail(ErrorKind::kIo, "{}: {}", path, error.what());
  }
}

std::vector<std::string> find_faults(const std::string& prefix, const Manifest& manifest) {
  std::vector<std::string> faults;
  for (const auto& [name, wanted] : manifest.files) {
    try {
      const std::string path = find_file(prefix, name, wanted);
      std::error_code error;
      if (!fs::exists(path, error)) {
        faults.push_back(fmt::format("{}: the file is missing", path));
        continue;
      }
      const std::vector<std::byte> bytes = read_file(path);
      const std::string found = sha256(bytes);
      if (found == wanted.sha256) continue;
      const std::string owner = owner_of(prefix, found);
      faults.push_back(bytes.size() == wanted.size
                           ? fmt::format("{}: its contents differ: sha256 {}… instead of {}…{}",
                                         path, found.substr(0, 12), wanted.sha256.substr(0, 12),
                                         owner)
                           : fmt::format("{}: it has {} bytes instead of {}{}", path, bytes.size(),
                                         wanted.size, owner));
    } catch (const Error& error) {
      faults.push_back(error.what());
    }
  }
  return faults;
}

std::vector<CheckpointInfo> list_checkpoints(const std::string& prefix) {
  std::vector<CheckpointInfo> infos;
  for (const Candidate& one : candidates(prefix))
    if (one.manifest)
      infos.push_back({one.path, one.manifest->epoch, one.manifest->batch, one.manifest->sequence,
                       one.manifest->score});
  return infos;
}

std::optional<TrainingState> load_training(const std::string& where) {
  check(!where.empty(), "resume: the prefix is empty");
  const bool exactly = where.ends_with(kManifestEnding);
  const std::string prefix = exactly ? split_manifest_path(where).first : where;
  const std::vector<Candidate> all = candidates(prefix);
  const Candidate* chosen = nullptr;
  for (const Candidate& one : all)
    if (!exactly || one.path == where) chosen = &one;
  if (exactly && chosen == nullptr) {
    std::vector<std::string> paths;
    for (const Candidate& one : all) paths.push_back(one.path);
    fail(ErrorKind::kIo, "there is no file {}; {}", where,
         paths.empty() ? fmt::format("no checkpoint of '{}' has a manifest", prefix)
                       : fmt::format("existing manifests: {}", fmt::join(paths, ", ")));
  }
  if (chosen == nullptr) return load_plain(prefix);
  const std::vector<std::string> faults = faults_of(*chosen);
  if (!faults.empty()) refuse(chosen->path, faults, all);
  try {
    return read_set(chosen->path, *chosen->manifest);
  } catch (const std::out_of_range&) {
    refuse(chosen->path, {"its manifest lists no parameters"}, all);
  }
}

// A save completes the manifest before it gives files their names. So if the manifests are the same
// before and after, the files that were read belong to them.
std::optional<TrainingState> load_beside_writer(const std::string& where) {
  constexpr int kAttempts = 40;
  constexpr auto kBetween = std::chrono::milliseconds(25);
  const std::string prefix =
      where.ends_with(kManifestEnding) ? split_manifest_path(where).first : where;
  const auto sets = [&] {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const CheckpointInfo& info : list_checkpoints(prefix))
      all.emplace_back(info.manifest, info.sequence);
    return all;
  };
  for (int attempt = 1;; ++attempt) {
    try {
      const auto before = sets();
      std::optional<TrainingState> state = load_training(where);
      if (sets() == before) return state;
      check(attempt < kAttempts, ErrorKind::kIo,
            "the checkpoints of '{}' change faster than they can be read", prefix);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kIo || attempt == kAttempts) throw;
    }
    std::this_thread::sleep_for(kBetween);
    interruption_point();
  }
}

}  // namespace symbind
