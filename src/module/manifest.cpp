// Names, writing and cleanup of checkpoint sets.
//
// Several files cannot be replaced at once, so the manifest decides. The files of a set are written
// under temporary names ("model-0003.params.pending"), then the manifest, which holds their sizes
// and checksums, is renamed into place in one step: from then on the set is complete, whatever
// names its files have. Then the files are renamed. If the process is killed before the manifest's
// rename, older sets are untouched, including one of the same name; if it is killed after it, the
// new set is complete.
#include "module/manifest.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/detail/states.h>
#include <symbind/log.h>
#include <symbind/model.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/sha256.h"
#include "module/state_json.h"
#include "ndarray/params_write.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The files in the prefix's folder whose names begin with it and contain `part`, without the
/// prefix.
std::vector<std::string> names_beside(const std::string& prefix, std::string_view part) {
  check_path(prefix);
  const fs::path base(prefix);
  const fs::path folder = base.has_parent_path() ? base.parent_path() : fs::path(".");
  const std::string start = base.filename().string();
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start + "-") && name.find(part) != std::string::npos)
      names.push_back(name.substr(start.size()));
  }
  std::ranges::sort(names);
  return names;
}

/// Removes a number from the front, as a save writes it: at least `width` digits, zero-padded.
bool take_number(std::string_view& text, std::size_t width) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits < width || digits > 9 || (digits > width && text.front() == '0')) return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

/// Removes the name of a set from the front: "-0003", "-0003-b000250".
bool take_set_name(std::string_view& text) {
  if (!take(text, "-") || !take_number(text, 4)) return false;
  std::string_view batch = text;
  if (take(batch, "-b") && take_number(batch, 6)) text = batch;
  return true;
}

bool is_set_name(std::string_view name) { return take_set_name(name) && name.empty(); }

/// The name of a set's file without the set: ".params", ".extra", ".states", "-1.states".
bool is_ending_of_set(std::string_view rest) {
  if (rest == ".params" || rest == ".extra" || rest == ".states") return true;
  return take(rest, "-") && take_number(rest, 1) && rest == ".states";
}

/// "-symbol.json", "-1-symbol.json": sets share them.
bool is_symbol_name(std::string_view name) {
  if (name == "-symbol.json") return true;
  return take(name, "-") && take_number(name, 1) && name == "-symbol.json";
}

/// Whether this is the temporary name of a file of a set.
bool is_pending_name(std::string_view name) {
  if (!name.ends_with(kPendingEnding)) return false;
  name.remove_suffix(std::string_view(kPendingEnding).size());
  if (is_symbol_name(name)) return true;
  return take_set_name(name) && is_ending_of_set(name);
}

/// The process whose unfinished file this is (the rest is files.cpp's ".tmp-<process>-<number>");
/// 0 if it is not the name of such a file.
int process_of_unfinished(std::string_view name) {
  const std::size_t at = name.rfind(".tmp-");
  if (at == std::string_view::npos) return 0;
  std::string_view target = name.substr(0, at), rest = name.substr(at + 5);
  const char* digits = rest.data();
  if (!take_number(rest, 1)) return 0;
  int process = 0;
  std::from_chars(digits, rest.data(), process);
  if (!take(rest, "-") || !take_number(rest, 1) || !rest.empty()) return 0;
  if (is_pending_name(target)) return process;
  return take_set_name(target) && target == kManifestEnding ? process : 0;
}

std::string extra_name(const std::string& set) { return set + ".extra"; }

/// Writes the files of a set under temporary names; removes them unless they are kept.
class PendingFiles {
 public:
  explicit PendingFiles(const std::string& prefix) : prefix_(prefix) {}
  ~PendingFiles() {
    if (kept_) return;
    for (const auto& [name, digest] : files_) remove_quietly(pending(name));
  }
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;

  void write(const std::string& name, const std::function<void(FileWriter&)>& fill) {
    files_[name] = write_file_digested(pending(name), fill);
  }
  /// A file that most sets share is not rewritten if it is unchanged.
  void write_shared(const std::string& name, const std::string& bytes) {
    const FileDigest digest{bytes.size(), sha256(bytes)};
    std::error_code error;
    if (fs::exists(prefix_ + name, error) && holds(prefix_ + name, digest)) {
      shared_[name] = digest;
      return;
    }
    write(name, [&](FileWriter& file) { file.write(bytes); });
  }
  std::map<std::string, FileDigest> digests() const {
    std::map<std::string, FileDigest> all = files_;
    all.insert(shared_.begin(), shared_.end());
    return all;
  }
  void keep() { kept_ = true; }
  void take_names() const {
    for (const auto& [name, digest] : files_) rename_file(pending(name), prefix_ + name);
  }

  static bool holds(const std::string& path, const FileDigest& digest) {
    std::error_code error;
    if (fs::file_size(path, error) != digest.size || error) return false;
    return sha256(read_file(path)) == digest.sha256;
  }

  static void remove_quietly(const std::string& path) {
    try {
      remove_file(path);
    } catch (const Error& error) {
      log_warning(error.what());
    }
  }

 private:
  std::string pending(const std::string& name) const { return prefix_ + name + kPendingEnding; }

  const std::string& prefix_;
  std::map<std::string, FileDigest> files_, shared_;
  bool kept_ = false;
};

std::string states_bytes(const StateValue& states) {
  return states.kind == StateValue::Kind::kBytes ? states.text : dump_states(states);
}

void write_parts(PendingFiles& files, const std::string& set,
                 const std::vector<TrainingPart>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TrainingPart& part = parts[i];
    const std::string number = parts.size() == 1 ? "" : fmt::format("-{}", i);
    if (part.states.kind != StateValue::Kind::kNone)
      files.write(set + number + ".states",
                  [&](FileWriter& file) { file.write(states_bytes(part.states)); });
    if (!part.symbol_json.empty()) files.write_shared(number + "-symbol.json", part.symbol_json);
  }
}

std::string manifest_text(const TrainingState& state, std::int64_t sequence, const Json& facts,
                          const std::map<std::string, FileDigest>& files) {
  Json list = Json::object();
  for (const auto& [name, digest] : files)
    list[name] = {{"size", digest.size}, {"sha256", digest.sha256}};
  Json inner = {{"format", 1},
                {"symbind", version()},
                {"sequence", sequence},
                {"epoch", state.epoch},
                {"batch", state.batch},
                {"parts", state.parts.size()},
                {"files", std::move(list)},
                {"training", facts}};
  NDArrayMap none;
  if (state.score)
    inner["score"] = {{"name", state.score->first},
                      {"value", state_to_json(StateValue::of(state.score->second), none)}};
  const std::string checksum = sha256(inner.dump());
  return Json{{"checkpoint", std::move(inner)}, {"sha256", checksum}}.dump(1) + "\n";
}

}  // namespace

std::string set_name(int epoch, int batch) {
  return batch == 0 ? fmt::format("-{:04d}", epoch) : fmt::format("-{:04d}-b{:06d}", epoch, batch);
}

bool is_file_of_set(std::string_view name, std::string_view set) {
  if (is_symbol_name(name)) return true;
  return take(name, set) && is_ending_of_set(name);
}

std::vector<std::string> manifest_paths(const std::string& prefix) {
  std::vector<std::string> paths;
  const std::string_view ending = kManifestEnding;
  for (const std::string& name : names_beside(prefix, ending))
    if (name.ends_with(ending) &&
        is_set_name(std::string_view(name).substr(0, name.size() - ending.size())))
      paths.push_back(prefix + name);
  return paths;
}

std::pair<std::string, std::string> split_manifest_path(const std::string& path) {
  const std::string_view ending = kManifestEnding;
  check(path.ends_with(ending), "'{}' is not a manifest: manifests end in {}", path, ending);
  const std::string stem = path.substr(0, path.size() - ending.size());
  std::size_t dash = stem.rfind('-');
  if (dash != std::string::npos && dash > 0 && dash + 1 < stem.size() && stem[dash + 1] == 'b')
    dash = stem.rfind('-', dash - 1);
  check(dash != std::string::npos && is_set_name(stem.substr(dash)),
        "'{}' is not a manifest of a checkpoint: the names are prefix-0003{} or "
        "prefix-0003-b000250{}",
        path, ending, ending);
  return {stem.substr(0, dash), stem.substr(dash)};
}

CheckpointInfo write_set(const std::string& prefix, const TrainingState& state,
                         std::int64_t sequence) {
  const std::string set = set_name(state.epoch, state.batch);
  const std::string manifest = prefix + set + kManifestEnding;
  std::error_code error;
  const bool replaces = fs::exists(manifest, error);
  PendingFiles files(prefix);
  files.write(set + ".params", [&](FileWriter& file) {
    put_arrays(file, named_params(state.args, state.aux, state.order));
  });
  write_parts(files, set, state.parts);
  NDArrayMap extra;
  const Json facts = state_to_json(state.facts, extra);
  if (!extra.empty())
    files.write(extra_name(set), [&](FileWriter& file) { put_arrays(file, in_name_order(extra)); });
  try {
    write_file(manifest, manifest_text(state, sequence, facts, files.digests()));
  } catch (const Json::exception& e) {
    fail(ErrorKind::kValue, "cannot write '{}': {}", manifest, e.what());
  }
  try {
    files.take_names();
  } catch (const Error&) {
    if (!replaces) {  // remove the new set; if it replaces an old one, its files must stay
      PendingFiles::remove_quietly(manifest);
      for (const auto& [name, digest] : files.digests())
        if (name.starts_with(set)) PendingFiles::remove_quietly(prefix + name);
    } else {
      files.keep();
    }
    throw;
  }
  files.keep();
  return {manifest, state.epoch, state.batch, sequence, state.score};
}

void remove_set(const std::string& manifest_path) {
  const auto [prefix, set] = split_manifest_path(manifest_path);
  std::vector<std::string> names = {set + ".params", set + ".states", extra_name(set)};
  try {
    for (const auto& [name, digest] : read_manifest(manifest_path).files)
      if (name.starts_with(set)) names.push_back(name);
  } catch (const Error&) {  // an invalid manifest names no files
  }
  for (const std::string& name : names) {
    remove_file(prefix + name);
    remove_file(prefix + name + kPendingEnding);
  }
  remove_file(manifest_path);
}

void clear_leftovers(const std::string& prefix) {
  for (const std::string& path : manifest_paths(prefix)) {
    try {
      for (const auto& [name, digest] : read_manifest(path).files) {
        const std::string pending = prefix + name + kPendingEnding;
        if (find_file(prefix, name, digest) == pending) rename_file(pending, prefix + name);
      }
    } catch (const Error& error) {
      log_warning(error.what());
    }
  }
  for (const std::string& name : names_beside(prefix, kPendingEnding))
    if (is_pending_name(name)) PendingFiles::remove_quietly(prefix + name);
  for (const std::string& name : names_beside(prefix, ".tmp-")) {  // of processes that have ended
    const int process = process_of_unfinished(name);
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH)
      PendingFiles::remove_quietly(prefix + name);
  }
}

std::string find_file(const std::string& prefix, const std::string& name,
                      const FileDigest& digest) {
  std::string path = prefix + name, pending = path + kPendingEnding;
  std::error_code error;
  if (fs::exists(pending, error) && !PendingFiles::holds(path, digest) &&
      PendingFiles::holds(pending, digest))
    return pending;
  return path;
}

}  // namespace symbind
