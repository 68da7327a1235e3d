#pragma once
// Networks and checkpoints as users name them.

#include <optional>
#include <string>
#include <vector>

#include <symbind/context.h>
#include <symbind/module.h>
#include <symbind/symbol.h>

#include "program.h"

namespace symbind::program {

/// The files of a model. Paths that were not found are empty.
struct ModelFiles {
  std::string symbol, params;
  std::string run_folder;  ///< of `symbind train`, if that is what was given
  std::string config;      ///< its config.toml
};

/// Finds the files of a prefix, a run folder, a symbol file or a parameter file; the newest epoch
/// unless one is given. kIo if nothing is there.
ModelFiles find_model(const std::string& given, std::optional<int> epoch = {});
/// What users call the files, for --help.
inline constexpr const char* kModelHelp =
    "Checkpoint: a prefix, a run folder, PREFIX-symbol.json or PREFIX-0003.params";

struct Model {
  ModelFiles files;
  Symbol symbol;
  NDArrayMap args, aux;
};
/// Reads symbol and parameters; kIo if one of them is missing.
Model load_model(const std::string& given, std::optional<int> epoch = {});

/// The operator of the first output: "SoftmaxOutput".
std::string head_operator(const Symbol& symbol);
/// The arguments that are labels: their names end in "label".
std::vector<std::string> label_arguments(const Symbol& symbol);
/// Metrics for a network by its last operator: "acc,ce" for SoftmaxOutput.
std::string default_metrics(const Symbol& symbol);
/// "acc,ce" or "top_k_accuracy:top_k=5,acc" as a metric.
MetricPtr parse_metrics(const std::string& text);
Json values_json(const std::vector<NameValue>& values);

/// "cpu", "gpu(1)", "cpu(0),cpu(1)".
std::vector<Context> parse_devices(const std::string& text);
/// {"data=1,3,224,224", …}; a shape without a name is that of the only data input.
ShapeMap parse_shapes(const std::vector<std::string>& texts, const Symbol& symbol,
                      const NDArrayMap& params);
/// Arguments that are neither parameters nor labels. Without parameters: those whose names do not
/// end as parameters' do.
std::vector<std::string> data_arguments(const Symbol& symbol, const NDArrayMap& params);

}  // namespace symbind::program
