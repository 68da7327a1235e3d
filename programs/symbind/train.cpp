// symbind train: Module::fit with its settings in files, checkpoints and resuming.
//
// Decided here: a run is resumed unless --restart is given; settings that are not given are those
// of the run; settings that matter and differ are refused. Data and network are read and checked
// before anything is written.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/interrupt.h>
#include <symbind/log_files.h>
#include <symbind/model.h>
#include <symbind/models.h>
#include <symbind/random.h>

#include "config.h"
#include "model.h"
#include "progress.h"
#include "run_folder.h"
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

/// Adds lines to log.jsonl and to the progress display as fit calls back.
class Watcher {
 public:
  Watcher(const Prepared& p, const RunFolder& folder, Module& module)
      : module_(module),
        log_(make_jsonl_log(folder.log_path())),
        progress_(static_cast<int>(p.config.integer("epochs")), p.batches, p.batch_size),
        log_every_(p.config.integer("log-every")) {}

  void after_batch(const BatchEndParam& param) {
    if (param.nbatch == 0 || param.epoch != epoch_) progress_.epoch_done();
    epoch_ = param.epoch;
    nbatch_ = param.nbatch;
    values_ = param.eval_metric->get_global();
    progress_.batch(param.epoch, param.nbatch, values_);
    if (log_every_ > 0 && (param.nbatch + 1) % log_every_ == 0) write("interval", values_);
  }
  void after_epoch(int epoch) {
    progress_.epoch_trained(epoch, values_);
    write("train", values_);
    ++trained_;
  }
  void after_validation(const BatchEndParam& param) {
    const std::vector<NameValue> values = param.eval_metric->get_global();
    progress_.epoch_validated(values);
    log_->write({"validation", param.epoch, nbatch_, values});
  }
  void end() { progress_.epoch_done(); }
  const Progress& progress() const { return progress_; }
  int trained() const { return trained_; }
  int epoch() const { return epoch_; }
  int nbatch() const { return nbatch_; }

 private:
  void write(const char* phase, std::vector<NameValue> values) {
    values.emplace_back("learning_rate", module_.optimizer()->learning_rate());
    values.emplace_back("samples_per_second", progress_.samples_per_second());
    if (phase == std::string_view("train"))
      values.emplace_back("seconds", progress_.epoch_seconds());
    log_->write({phase, epoch_, nbatch_, values});
  }

  Module& module_;
  std::unique_ptr<LogFile> log_;
  Progress progress_;
  std::int64_t log_every_;
  int epoch_ = -1, nbatch_ = 0, trained_ = 0;
  std::vector<NameValue> values_;
};

FitOptions fit_options(const Prepared& p, const RunFolder& folder, Watcher& watcher) {
  FitOptions fit;
  fit.eval_data = p.validation_iter.get();
  fit.eval_metric = p.metric;
  fit.validation_metric = MetricArg(p.validation_metric);
  fit.optimizer = p.config.text("optimizer");
  fit.optimizer_params = p.optimizer;
  fit.initializer = p.initializer;
  fit.num_epoch = static_cast<int>(p.config.integer("epochs"));
  fit.batch_end_callback =
      BatchEndCallback([&](const BatchEndParam& param) { watcher.after_batch(param); });
  fit.epoch_end_callback = EpochEndCallback([&](int epoch, const Symbol&, const NDArrayMap&,
                                                const NDArrayMap&) { watcher.after_epoch(epoch); });
  fit.eval_end_callback =
      BatchEndCallback([&](const BatchEndParam& param) { watcher.after_validation(param); });
  fit.checkpoint =
      CheckpointOptions{.prefix = folder.prefix(),
                        .every_n_epochs = static_cast<int>(p.config.integer("checkpoint-every")),
                        .every_n_batches = static_cast<int>(p.config.integer("checkpoint-batches")),
                        .keep_last = static_cast<int>(p.config.integer("keep")),
                        .keep_best = p.config.text("keep-best")};
  fit.resume = folder.prefix();
  return fit;
}

Result summary(const Prepared& p, const RunFolder& folder, const Watcher* watcher, int resumed) {
  const ModelFiles files = find_model(folder.path());
  Result result;
  result.document = {{"command", "train"},
                     {"run", folder.path()},
                     {"epochs", p.config.integer("epochs")},
                     {"trained_epochs", watcher == nullptr ? 0 : watcher->trained()},
                     {"resumed_from_epoch", resumed < 0 ? Json() : Json(resumed)},
                     {"examples", p.train.count},
                     {"checkpoint", files.params},
                     {"log", folder.log_path()},
                     {"config", folder.config_path()}};
  result.text =
      fmt::format("{}: {}{}\n", folder.path(), counted(p.config.integer("epochs"), "epoch"),
                  resumed < 0 ? "" : fmt::format(", resumed after epoch {}", resumed));
  std::vector<std::vector<std::string>> rows;
  if (watcher != nullptr) {
    const Progress& progress = watcher->progress();
    result.document["train"] = values_json(progress.train_values());
    rows.push_back({"train", values_text(progress.train_values())});
    if (!progress.validation_values().empty()) {
      result.document["validation"] = values_json(progress.validation_values());
      rows.push_back({"validation", values_text(progress.validation_values())});
    }
  } else {
    rows.push_back({"complete", "nothing is left to train; give a larger --epochs, or --restart"});
  }
  rows.push_back({"checkpoint", files.params});
  rows.push_back({"log", folder.log_path()});
  result.text += table(rows);
  return result;
}

Result run_train(const TrainOptions& o) {
  const Config given = given_config(o);
  RunFolder folder(o.runs, run_name(o, given));
  const std::optional<Config> saved = o.restart ? std::nullopt : folder.saved_config();
  Config config = saved.value_or(Config());
  if (saved)
    if (const auto changed = differences(*saved, given); !changed.empty())
      throw UsageError(fmt::format(
          "the run '{}' cannot be resumed with {}; leave these settings out to resume it, give "
          "another --run NAME, or --restart to train from scratch",
          folder.path(), fmt::join(changed, ", ")));
  config.merge(given);
  const Prepared p = prepare(std::move(config));

  const DeferInterrupts guard(DeferInterrupts::kSave);
  folder.open();
  if (o.restart)
    if (const std::string aside = folder.set_aside(); !aside.empty())
      say(fmt::format("the former run is now {}", aside));
  const std::optional<CheckpointInfo> newest = folder.newest();
  const int resumed = newest ? newest->epoch : -1;
  if (!newest) {  // what a run without a checkpoint logged does not count
    std::error_code ignored;
    std::filesystem::remove(folder.log_path(), ignored);
  }
  write_file(folder.config_path(), p.config.toml());
  if (newest && newest->epoch >= p.config.integer("epochs"))
    return summary(p, folder, nullptr, resumed);
  if (newest)
    say(fmt::format("resuming {} after epoch {}, batch {}", folder.path(), newest->epoch,
                    newest->batch));

  seed(static_cast<std::uint64_t>(p.config.integer("seed")));
  ModuleOptions options{.data_names = {}, .label_names = {}, .context = p.devices};
  for (const auto& [name, array] : p.train.data) options.data_names.push_back(name);
  for (const auto& [name, array] : p.train.label) options.label_names.push_back(name);
  Module module(p.symbol, options);
  Watcher watcher(p, folder, module);
  set_interrupt_check([] { return interrupt_recorded(); });
  try {
    module.fit(*p.train_iter, fit_options(p, folder, watcher));
  } catch (const Interrupted&) {
    if (folder.newest())
      say(fmt::format("stopped in epoch {} after {}; the same command resumes", watcher.epoch() + 1,
                      fmt::format("batch {}", watcher.nbatch() + 1)));
    throw;
  }
  watcher.end();
  // report.html belongs here: the folder has config.toml, log.jsonl and the checkpoint.
  return summary(p, folder, &watcher, resumed);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = add_command(
      app, "train", "Trains a network; resumes a run that has a checkpoint",
      "  symbind train --network lenet --data fashion-mnist --epochs 3 --run first\n"
      "  symbind train --run first --epochs 6                   resumes it\n"
      "  symbind train --config first.toml --set lr=0.05 --run second\n"
      "Settings are taken from the run that is resumed, then from --config, --set and flags.\n"
      "A run is the folder RUNS/NAME with config.toml, log.jsonl and checkpoints model-*.\n"
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
