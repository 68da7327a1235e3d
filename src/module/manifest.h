#pragma once
// One checkpoint as a set of files: names, writing, reading, checking.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <symbind/checkpoint.h>

#include "base/files.h"

namespace symbind {

constexpr const char* kManifestEnding = ".manifest.json";
constexpr const char* kPendingEnding = ".pending";

/// The contents of a manifest. Files are named without the prefix: "-0003.params".
struct Manifest {
  int epoch = 0, batch = 0;
  std::int64_t sequence = 0;
  std::optional<NameValue> score;
  std::map<std::string, FileDigest> files;
  std::size_t parts = 0;
  nlohmann::json facts;  ///< arrays by their names in the .extra file
};

/// "-0003" or "-0003-b000250".
std::string set_name(int epoch, int batch);
/// The paths of all manifests of a prefix, by name.
std::vector<std::string> manifest_paths(const std::string& prefix);
/// The prefix and the set's name of a manifest's path; kValue if it is not one.
std::pair<std::string, std::string> split_manifest_path(const std::string& path);

/// Whether a save of the set `set` makes a file of this name: "-0003.params", "-0003.extra",
/// "-0003.states" or "-0003-1.states", "-symbol.json" or "-1-symbol.json", and nothing else.
bool is_file_of_set(std::string_view name, std::string_view set);

/// Reads and checks only the manifest, its file names first: kIo says what is wrong with it. The
/// result only names files that a save of this prefix makes.
Manifest read_manifest(const std::string& path);
/// load_training while another process saves: what is renamed or removed meanwhile is looked for
/// again.
std::optional<TrainingState> load_beside_writer(const std::string& prefix_or_manifest);
/// The faults of a set's files, one line each; empty if the set is complete.
std::vector<std::string> find_faults(const std::string& prefix, const Manifest& manifest);
/// The path of a file of a set: its name, or its temporary name.
std::string find_file(const std::string& prefix, const std::string& name, const FileDigest& digest);

/// Writes a set; on an error it is removed and older sets are unchanged.
CheckpointInfo write_set(const std::string& prefix, const TrainingState& state,
                         std::int64_t sequence);
/// Deletes a set, its manifest last.
void remove_set(const std::string& manifest_path);
/// Finishes the renaming of complete sets and removes leftovers of killed saves.
void clear_leftovers(const std::string& prefix);

}  // namespace symbind
