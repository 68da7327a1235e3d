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

/// What a manifest says. Files are known by what stands behind the prefix: "-0003.params".
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
/// The prefix and the set's name of a manifest's path; kValue if it is none.
std::pair<std::string, std::string> split_manifest_path(const std::string& path);

/// Whether a save of the set `set` makes a file of this name: "-0003.params", "-0003.extra",
/// "-0003.states" or "-0003-1.states", "-symbol.json" or "-1-symbol.json", and nothing else.
bool is_file_of_set(std::string_view name, std::string_view set);

/// Reads and checks a manifest alone, the names in it before all: kIo says what is wrong with it.
/// What it returns names no file that a save of this prefix does not make.
Manifest read_manifest(const std::string& path);
/// What is wrong with the files of a set, one line each; empty when it is complete.
std::vector<std::string> find_faults(const std::string& prefix, const Manifest& manifest);
/// Where a file of a set lies: under its name, or under its temporary one.
std::string find_file(const std::string& prefix, const std::string& name, const FileDigest& digest);

/// Writes a set; on an error nothing of it is left and older sets are as they were.
CheckpointInfo write_set(const std::string& prefix, const TrainingState& state,
                         std::int64_t sequence);
/// Takes a set away, its manifest last.
void remove_set(const std::string& manifest_path);
/// Gives complete sets their names and removes what killed saves left behind.
void clear_leftovers(const std::string& prefix);

}  // namespace symbind
