// Whether a higher metric is better: used by early stopping and rate schedules.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace symbind {

/// `mode` is "max", "min", or "auto", which decides by the metric's name.
inline bool more_is_better(std::string_view mode, std::string_view metric) {
  if (mode != "auto") return mode == "max";
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"acc", "f1", "mcc", "pcc", "pearson", "auc", "recall",
                                              "precision", "confusion"},
      [&](std::string_view part) { return metric.find(part) != metric.npos; });
}

}  // namespace symbind
