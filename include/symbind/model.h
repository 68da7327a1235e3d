#pragma once
// Checkpoints: MXNet's own files, written whole or not at all.

#include <string>
#include <string_view>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

/// Parameters and auxiliary states by name.
struct ModelParams {
  NDArrayMap args, aux;
};

struct Checkpoint {
  Symbol symbol;
  NDArrayMap args, aux;
};

/// The order in which a file holds parameters: those named here, then the others by name.
struct ParamOrder {
  std::vector<std::string> args = {}, aux = {};
};

/// Writes `prefix-symbol.json` and `prefix-%04d.params`, in the order of the symbol's arguments.
void save_checkpoint(const std::string& prefix, int epoch, const Symbol& symbol,
                     const NDArrayMap& args, const NDArrayMap& aux);
/// Reads both. A missing file is an Error kIo that lists the existing epochs.
Checkpoint load_checkpoint(const std::string& prefix, int epoch);
/// Reads `prefix-%04d.params`; names without "arg:" or "aux:" are skipped.
ModelParams load_params(const std::string& prefix, int epoch);
/// Writes parameters as "arg:name" and "aux:name".
void save_params(const std::string& path, const NDArrayMap& args, const NDArrayMap& aux,
                 const ParamOrder& order = {});
/// What save_params writes: the arrays of `args`, then those of `aux`.
NamedArrays named_params(const NDArrayMap& args, const NDArrayMap& aux, const ParamOrder& order);
/// Reads them back; any other name is an Error.
ModelParams load_params(const std::string& path);
/// Writes arrays in the order given; `save` of a map writes them by name.
void save_in_order(const std::string& path, const NamedArrays& arrays);
/// Checks that the given parameters are those of a network before anything is copied: throws with
/// up to five missing, misshaped and extra names each. Null: none were given.
void check_params(const NDArrayMap* given_args, const NDArrayMap& needed_args,
                  const NDArrayMap* given_aux, const NDArrayMap& needed_aux, bool allow_missing);
/// Writes a file whole or not at all: on any error the old one is untouched.
void write_file(const std::string& path, std::string_view bytes);
/// "prefix-0007.params"
std::string checkpoint_path(const std::string& prefix, int epoch, const char* ending = "params");
/// The epochs of which there is a `prefix-%04d.params`, ascending.
std::vector<int> checkpoint_epochs(const std::string& prefix);

}  // namespace symbind
