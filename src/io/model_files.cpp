// Checkpoints with MXNet's file names and contents.

#include <symbind/model.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/files.h"
#include "ndarray/params_write.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;

ModelParams split(const NamedArrays& loaded, const std::string& path, bool strict) {
  ModelParams params;
  for (std::size_t i = 0; i < loaded.arrays.size(); ++i) {
    const std::string name = i < loaded.names.size() ? loaded.names[i] : "";
    const std::size_t colon = name.find(':');
    const std::string kind = name.substr(0, colon);
    if (colon != std::string::npos && kind == "arg") {
      params.args[name.substr(colon + 1)] = loaded.arrays[i];
    } else if (colon != std::string::npos && kind == "aux") {
      params.aux[name.substr(colon + 1)] = loaded.arrays[i];
    } else {
      check(!strict, ErrorKind::kValue,
            "Invalid param file {}: '{}' begins neither with arg: nor with aux:", path, name);
    }
  }
  return params;
}

/// Appends `arrays` as "kind:name".
void append(NamedArrays& to, const std::string& kind, const NDArrayMap& arrays,
            const std::vector<std::string>& order) {
  const auto put = [&](const std::string& name, const NDArray& array) {
    to.names.push_back(kind + name);
    to.arrays.push_back(array);
  };
  std::set<std::string> written;
  for (const std::string& name : order) {
    const auto it = arrays.find(name);
    if (it != arrays.end() && written.insert(name).second) put(name, it->second);
  }
  for (const auto& [name, array] : arrays)
    if (!written.contains(name)) put(name, array);
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  write_file_atomic(path, [&](FileWriter& file) { file.write(bytes); });
}

std::string checkpoint_path(const std::string& prefix, int epoch, const char* ending) {
  return fmt::format("{}-{:04d}.{}", prefix, epoch, ending);
}

std::vector<int> checkpoint_epochs(const std::string& prefix) {
  check_path(prefix);
  const fs::path base(prefix);
  const fs::path folder = base.has_parent_path() ? base.parent_path() : fs::path(".");
  const std::string start = base.filename().string() + "-";
  std::vector<int> epochs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(".params")) continue;
    const std::string digits = name.substr(start.size(), name.size() - start.size() - 7);
    int epoch = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), epoch);
    if (code == std::errc() && end == digits.data() + digits.size()) epochs.push_back(epoch);
  }
  std::ranges::sort(epochs);
  return epochs;
}

NamedArrays named_params(const NDArrayMap& args, const NDArrayMap& aux, const ParamOrder& order) {
  NamedArrays named;
  append(named, "arg:", args, order.args);
  append(named, "aux:", aux, order.aux);
  return named;
}

void save_params(const std::string& path, const NDArrayMap& args, const NDArrayMap& aux,
                 const ParamOrder& order) {
  NamedArrays named = named_params(args, aux, order);
  for (NDArray& array : named.arrays) array = array.as_in_context(cpu());
  save_in_order(path, named);
}

void save_in_order(const std::string& path, const NamedArrays& arrays) {
  write_file_atomic(path, [&](FileWriter& out) { put_arrays(out, arrays); });
}

ModelParams load_params(const std::string& path) { return split(load(path), path, true); }

ModelParams load_params(const std::string& prefix, int epoch) {
  const std::string path = checkpoint_path(prefix, epoch);
  std::error_code error;
  if (!fs::exists(path, error)) {
    const std::vector<int> epochs = checkpoint_epochs(prefix);
    fail(ErrorKind::kIo, "there is no file {}; {}", path,
         epochs.empty()
             ? fmt::format("there is no epoch of '{}'", prefix)
             : fmt::format("existing epochs of '{}': {}", prefix, fmt::join(epochs, ", ")));
  }
  return split(load(path), path, false);
}

void save_checkpoint(const std::string& prefix, int epoch, const Symbol& symbol,
                     const NDArrayMap& args, const NDArrayMap& aux) {
  symbol.save(prefix + "-symbol.json");
  const std::string path = checkpoint_path(prefix, epoch);
  save_params(path, args, aux, {symbol.list_arguments(), symbol.list_auxiliary_states()});
  log_info(fmt::format("Saved checkpoint to \"{}\"", path));
}

Checkpoint load_checkpoint(const std::string& prefix, int epoch) {
  ModelParams params = load_params(prefix, epoch);
  return {Symbol::load(prefix + "-symbol.json"), std::move(params.args), std::move(params.aux)};
}

}  // namespace symbind
