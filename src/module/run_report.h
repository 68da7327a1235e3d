#pragma once
// report.html of a run: curves, learning rate, time per layer, confusion matrix, how to reproduce
// it.

#include <string>

#include <nlohmann/json.hpp>

#include <symbind/detail/training_session.h>
#include <symbind/run.h>

namespace symbind {

class RunReport {
 public:
  /// Notes what reproduces the training: version, command, machine, seed, sizes.
  void begin(Training& training, const RunOptions& run);
  /// What fit was given, in TOML.
  const std::string& config_text() const { return config_; }
  void set_config(std::string text) { config_ = std::move(text); }
  /// At the end of a training of a classifier, which has an accuracy among its metrics: evaluates
  /// once more to count which class is taken for which.
  void measure(Training& training);
  /// Writes the page from these and the log. `state`: "training", "complete", "stopped".
  void write(const RunFolder& folder, Training& training, const std::string& state,
             const std::string& error) const;

 private:
  nlohmann::ordered_json facts_;
  nlohmann::ordered_json confusion_;
  std::string config_;
};

}  // namespace symbind
