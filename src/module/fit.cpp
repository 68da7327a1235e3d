// fit: the training loop.
//
// `step` is the fused form of forward_backward, update and update_metric; with a monitor it makes
// these calls one by one. A callback that throws StopTraining ends the training as
// if it were complete; any other exception propagates unchanged. The session handles checkpoints.

#include <chrono>

#include <fmt/format.h>

#include <symbind/log.h>
#include <symbind/module.h>

#include "base/check.h"
#include "base/settings.h"
#include "module/fit_parts.h"
#include "module/module_training.h"

namespace symbind {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void log_values(int epoch, const char* what, const std::vector<NameValue>& values) {
  for (const auto& [name, value] : values)
    log_info(fmt::format("Epoch[{}] {}-{}={:f}", epoch, what, name, value));
}

/// The error stays the one that is thrown, whatever the callbacks do.
void fail_fit(TrainingSession& session, const FitOptions& o, FitParam fit,
              const std::exception& error) {
  session.failed(error.what());
  fit.error = &error;
  try {
    o.fit_error_callback(fit);
  } catch (const std::exception& e) {
    log_warning(fmt::format("fit_error_callback failed: {}", e.what()));
  }
}

}  // namespace

void BaseModule::fit(DataIter& train, FitOptions o) {
  settings::refresh();
  check(o.num_epoch > 0, ErrorKind::kState, "please specify number of epochs (num_epoch)");
  if (o.dry_run) return log_info(dry_run(train, o).text());
  bind(train.provide_data(), train.provide_label(),
       {.for_training = true, .force_rebind = o.force_rebind});
  const GuardedFit guarded(guard_, o);
  if (o.monitor) install_monitor(*o.monitor);
  init_params({.initializer = o.initializer,
               .arg_params = o.arg_params,
               .aux_params = o.aux_params,
               .allow_missing = o.allow_missing,
               .force_init = o.force_init});
  init_optimizer(
      {.kvstore = o.kvstore, .optimizer = o.optimizer, .optimizer_params = o.optimizer_params});
  begin_updates(o.updates);
  EvalMetric& metric = *o.eval_metric.metric();
  const MetricArg validation = o.validation_metric.value_or(o.eval_metric);

  ModuleTraining training(*this, train, metric, o);
  TrainingSession session(training,
                          {o.checkpoint, o.resume, o.begin_epoch, o.num_epoch, o.run, o.progress});
  FitParam fit{this, session.begin_epoch(), o.num_epoch, &metric};

  try {
    o.fit_begin_callback(fit);
    for (int epoch = session.begin_epoch(); epoch < o.num_epoch; ++epoch) {
      const auto start = std::chrono::steady_clock::now();
      auto [nbatch, more] = session.start_epoch(epoch);
      for (; more; ++nbatch) {
        if (o.monitor) o.monitor->tic();
        step(training.batch, metric);
        if (o.monitor) o.monitor->toc_print();
        session.after_update(nbatch + 1);
        more = training.fetch();
        if (more) training.prepare();
        o.batch_end_callback(BatchEndParam{epoch, nbatch, &metric});
        session.after_callbacks(epoch, nbatch + 1, more);
      }
      policy_.finish_epoch(update_parts(), [this] { update(); });
      check(nbatch > 0, ErrorKind::kValue,
            "the training data have no batch in epoch {}: the iterator is empty, or was not reset",
            epoch);
      session.after_batches(epoch, nbatch);
      std::vector<NameValue> values = metric.get_global();
      log_values(epoch, "Train", values);
      log_info(fmt::format("Epoch[{}] Time cost={:.3f}", epoch, seconds_since(start)));

      const ModelParams params = get_params();
      set_params(params.args, params.aux);  // makes devices that have diverged equal
      std::optional<std::string> stop;
      try {
        o.epoch_end_callback(epoch, symbol(), params.args, params.aux);
        if (o.eval_data) {
          const auto evaluate = [&] {
            return score(*o.eval_data, validation,
                         {.batch_end_callback = o.eval_batch_end_callback,
                          .score_end_callback = o.eval_end_callback,
                          .epoch = epoch});
          };
          values = o.updates.eval_ema ? with_average(*this, evaluate) : evaluate();
          log_values(epoch, "Validation", values);
        }
      } catch (const StopTraining& e) {
        stop = e.what();
      }
      stop = session.decided_stop(stop);
      if (stop) throw StopTraining(*stop);
      values = session.decided(values);
      tell_schedulers(values);
      train.reset();
      session.after_epoch(epoch + 1, values, o.eval_data != nullptr);
    }
  } catch (const StopTraining& stop) {
    log_info(stop.what());
    session.stopped(stop.what());
  } catch (const Interrupted& e) {
    session.interrupted();
    fail_fit(session, o, fit, e);
    throw;
  } catch (const std::exception& e) {
    fail_fit(session, o, fit, e);
    throw;
  }
  session.finish();
  o.fit_end_callback(fit);
}

}  // namespace symbind
