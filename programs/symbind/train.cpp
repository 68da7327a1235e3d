// symbind train: Module::fit with its settings in files, checkpoints and resuming.
//
// Decided here: a run is resumed unless --restart is given; settings that are not given are those
// of the run; settings that matter and differ are refused. Data and network are read and checked
// before anything is written.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/interrupt.h>
#include <symbind/model.h>
#include <symbind/models.h>
#include <symbind/random.h>
#include <symbind/run.h>

#include "config.h"
#include "model.h"
#include "train_setup.h"

namespace symbind::program {
namespace {

struct TrainOptions {
  std::map<std::string, std::vector<std::string>> flags;
  std::string config, run, runs = "runs";
  std::vector<std::string> set;
  bool restart = false;
};

/// What the user gives: the config file, then --set, then flags.
Config given_config(const TrainOptions& o) {
  Config given;
  if (!o.config.empty()) given = read_config(o.config);
  for (const std::string& item : o.set) {
    const auto sign = item.find('=');
    if (sign == std::string::npos) throw UsageError(fmt::format("--set {}: write key=value", item));
    std::string value = item.substr(sign + 1);
    const std::string key = item.substr(0, sign);
    if (key.ends_with("-params")) std::ranges::replace(value, ';', '\n');
    given.set(key, value, "--set");
  }
  for (const auto& [key, values] : o.flags)
    if (!values.empty()) given.set(key, fmt::format("{}", fmt::join(values, "\n")), "--" + key);
  return given;
}

std::string run_name(const TrainOptions& o, const Config& given) {
  if (!o.run.empty()) return o.run;
  if (given.text("network").empty())
    throw UsageError("no network is given: use --network, or --run with the name of a former run");
  return std::filesystem::path(given.text("network")).stem().string();
}

/// Its folder; a wrong name is wrong usage.
RunFolder named_folder(const RunOptions& run) {
  try {
    return RunFolder(run);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--run {}: {}; --runs sets the folder of all runs", run.name,
                                 one_line(error.what())));
  }
}

/// "accuracy 0.8721  cross-entropy 0.3512".
std::string values_text(const std::vector<NameValue>& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} {:.4f}", name, value));
  return fmt::format("{}", fmt::join(parts, "  "));
}

/// What fit reported last.
struct Seen {
  int epoch = 0, batches = 0, trained = 0;
  std::vector<NameValue> train, validation;
};

FitOptions fit_options(const Prepared& p, const RunOptions& run, Seen& seen) {
  FitOptions fit;
  fit.eval_data = p.validation_iter.get();
  fit.eval_metric = p.metric;
  fit.validation_metric = MetricArg(p.validation_metric);
  fit.optimizer = p.config.text("optimizer");
  fit.optimizer_params = p.optimizer;
  fit.initializer = p.initializer;
  fit.num_epoch = static_cast<int>(p.config.integer("epochs"));
  fit.batch_end_callback = BatchEndCallback([&](const BatchEndParam& param) {
    seen.epoch = param.epoch;
    seen.batches = param.nbatch + 1;
  });
  fit.epoch_end_callback =
      EpochEndCallback([&](int, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
        seen.train = p.metric->get_global();
        ++seen.trained;
      });
  fit.eval_end_callback = BatchEndCallback(
      [&](const BatchEndParam& param) { seen.validation = param.eval_metric->get_global(); });
  fit.run = run;
  fit.progress = true;
  fit.checkpoint =
      CheckpointOptions{.prefix = {},
                        .every_n_epochs = static_cast<int>(p.config.integer("checkpoint-every")),
                        .every_n_batches = static_cast<int>(p.config.integer("checkpoint-batches")),
                        .keep_last = static_cast<int>(p.config.integer("keep")),
                        .keep_best = p.config.text("keep-best")};
  return fit;
}

Result summary(const Prepared& p, const RunFolder& folder, const Seen* seen, int resumed) {
  const ModelFiles files = find_model(folder.path());
  Result result;
  result.document = {{"command", "train"},
                     {"run", folder.path()},
                     {"epochs", p.config.integer("epochs")},
                     {"trained_epochs", seen == nullptr ? 0 : seen->trained},
                     {"resumed_from_epoch", resumed < 0 ? Json() : Json(resumed)},
                     {"examples", p.train.count},
                     {"checkpoint", files.params},
                     {"log", folder.log_path()},
                     {"report", folder.report_path()},
                     {"config", folder.config_path()}};
  result.text =
      fmt::format("{}: {}{}\n", folder.path(), counted(p.config.integer("epochs"), "epoch"),
                  resumed < 0 ? "" : fmt::format(", resumed after epoch {}", resumed));
  std::vector<std::vector<std::string>> rows;
  if (seen != nullptr) {
    result.document["train"] = values_json(seen->train);
    rows.push_back({"train", values_text(seen->train)});
    if (!seen->validation.empty()) {
      result.document["validation"] = values_json(seen->validation);
      rows.push_back({"validation", values_text(seen->validation)});
    }
  } else {
    rows.push_back({"complete", "nothing is left to train; give a larger --epochs, or --restart"});
  }
  rows.push_back({"checkpoint", files.params});
  rows.push_back({"log", folder.log_path()});
  rows.push_back({"report", folder.report_path()});
  result.text += table(rows);
  return result;
}

/// The settings of the run that has a checkpoint, then what is given now.
Config whole_config(const TrainOptions& o, const RunFolder& folder, const Config& given) {
  std::error_code ignored;
  if (o.restart || !folder.newest() || !std::filesystem::exists(folder.config_path(), ignored))
    return given;
  Config config = read_config(folder.config_path());
  if (const auto changed = differences(config, given); !changed.empty())
    throw UsageError(fmt::format(
        "the run '{}' cannot be resumed with {}; leave these settings out to resume it, give "
        "another --run NAME, or --restart to train from scratch",
        folder.path(), fmt::join(changed, ", ")));
  config.merge(given);
  return config;
}

Result run_train(const TrainOptions& o) {
  const Config given = given_config(o);
  RunOptions run{.name = run_name(o, given), .folder = o.runs};
  const RunFolder folder = named_folder(run);
  const Prepared p = prepare(whole_config(o, folder, given));
  run.config = p.config.toml();
  run.log_every = static_cast<int>(p.config.integer("log-every"));

  if (o.restart)
    if (const std::string aside = RunFolder(run).open(/*restart=*/true); !aside.empty())
      write_line(fmt::format("the former run is now {}", aside));
  const std::optional<CheckpointInfo> newest = folder.newest();
  const int resumed = newest ? newest->epoch : -1;
  if (newest && newest->epoch >= p.config.integer("epochs"))
    return summary(p, folder, nullptr, resumed);
  if (newest)
    write_line(fmt::format("resuming {} after epoch {}, batch {}", folder.path(), newest->epoch,
                           newest->batch));

  seed(static_cast<std::uint64_t>(p.config.integer("seed")));
  ModuleOptions options{.data_names = {}, .label_names = {}, .context = p.devices};
  for (const auto& [name, array] : p.train.data) options.data_names.push_back(name);
  for (const auto& [name, array] : p.train.label) options.label_names.push_back(name);
  Module module(p.symbol, options);
  Seen seen;
  const DeferInterrupts guard(DeferInterrupts::kSave);
  set_interrupt_check([] { return interrupt_recorded(); });
  try {
    module.fit(*p.train_iter, fit_options(p, run, seen));
  } catch (const Interrupted&) {
    if (folder.newest())
      write_line(fmt::format("stopped in epoch {} after batch {}; the same command resumes",
                             seen.epoch + 1, seen.batches));
    throw;
  }
  return summary(p, folder, &seen, resumed);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = add_command(
      app, "train", "Trains a network; resumes a run that has a checkpoint",
      "  symbind train --network lenet --data fashion-mnist --epochs 3 --run first\n"
      "  symbind train --run first --epochs 6                   resumes it\n"
      "  symbind train --config first.toml --set lr=0.05 --run second\n"
      "Settings are taken from the run that is resumed, then from --config, --set and flags.\n"
      "A run is the folder RUNS/NAME with config.toml, log.jsonl, report.html and checkpoints "
      "model-*.\n"
      "Networks: " +
          fmt::format("{}", fmt::join(models::names(), ", ")) + ".");
  const auto o = std::make_shared<TrainOptions>();
  command->add_option("--run", o->run, "Name of the run; the network's by default");
  command->add_option("--runs", o->runs, "Folder of all runs [runs]");
  command->add_option("--config", o->config, "TOML file with the settings below as keys");
  command->add_option("--set", o->set, "Sets a key of the config, e.g. --set lr=0.1");
  command->add_flag("--restart", o->restart,
                    "Train from scratch; a former run is renamed to NAME.1");
  for (const ConfigKey& key : config_keys()) {
    const std::string fallback = key.fallback;
    CLI::Option* option =
        command->add_option(std::string("--") + key.name, o->flags[key.name],
                            key.help + (fallback.empty() ? "" : " [" + fallback + "]"));
    if (key.kind != KeyKind::kList) option->expected(1)->take_last();
    option->type_name(key.kind == KeyKind::kInteger  ? "INT"
                      : key.kind == KeyKind::kNumber ? "FLOAT"
                      : key.kind == KeyKind::kFlag   ? "BOOL"
                                                     : "TEXT");
  }
  on_run(command, [o] { return run_train(*o); });
}

}  // namespace symbind::program
