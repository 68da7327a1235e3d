// dumps(): the statistics as text. MXNet's tables and JSON, with its units and its widths, because
// people parse them; then a table of the nodes, which MXNet does not have.

#include <symbind/profiler.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/profiling.h"
#include "kernels/peak.h"

namespace symbind::profiler {
namespace {

using Json = nlohmann::ordered_json;
using profiling::Snapshot;
using profiling::Statistics;

struct Row {
  std::string name;
  const profiling::Subject* subject = nullptr;
  Statistics statistics = {};
};
using Tables = std::map<std::string, std::vector<Row>>;  ///< by category

void merge(Statistics& into, const Statistics& s) {
  into.count += s.count;
  into.total += s.total;
  into.min = std::min(into.min, s.min);
  into.max = std::max(into.max, s.max);
  into.last = s.last;
  into.flops += s.flops;
  into.bytes += s.bytes;
}

/// One row per name: an operator's nodes together.
Tables by_name(const std::vector<Snapshot::Row>& rows) {
  std::map<std::pair<std::string, std::string>, Statistics> merged;
  for (const Snapshot::Row& r : rows)
    merge(merged[{r.subject->category, r.subject->name}], r.statistics);
  Tables tables;
  for (const auto& [key, statistics] : merged)
    tables[key.first].push_back({.name = key.second, .statistics = statistics});
  return tables;
}

/// One row per node, over all its shapes.
std::vector<Row> nodes_of(const std::vector<Snapshot::Row>& rows) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, Row> merged;
  for (const Snapshot::Row& r : rows) {
    const profiling::Subject& s = *r.subject;
    if (!s.is_node()) continue;
    Row& row = merged[{s.node, s.name, s.kernel, s.device}];
    row.name = s.node;
    row.subject = r.subject;
    merge(row.statistics, r.statistics);
  }
  std::vector<Row> nodes;
  for (auto& [key, row] : merged) nodes.push_back(std::move(row));
  return nodes;
}

double average(const Statistics& s) {
  return s.count > 0 ? s.total / static_cast<double>(s.count) : 0;
}

double key_of(const Statistics& s, const std::string& by) {
  if (by == "avg") return average(s);
  if (by == "min") return s.min;
  if (by == "max") return s.max;
  if (by == "count") return static_cast<double>(s.count);
  return s.total;
}

void sort(std::vector<Row>& rows, const DumpsOptions& o) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    const double x = key_of(a.statistics, o.sort_by), y = key_of(b.statistics, o.sort_by);
    return o.ascending ? x < y : y < x;
  });
}

double milliseconds(double nanoseconds) { return nanoseconds / 1e6; }

/// A node's speed relative to this machine's peak; NaN if unknown.
struct Reached {
  double gflops = NAN, share = NAN, gbytes = NAN, bandwidth = NAN;
  Reached(const Row& row, const Peak& peak) {
    const Statistics& s = row.statistics;
    if (s.total <= 0) return;
    gflops = s.flops / s.total;  // FLOPs per nanosecond
    gbytes = s.bytes / s.total;
    if (!row.subject->device.starts_with("cpu")) return;
    share = 1e9 * gflops / peak.flops;
    bandwidth = 1e9 * gbytes / peak.bytes;
  }
};

// ---- Text ---------------------------------------------------------------------------------------

std::string heading(const std::string& title) { return title + "\n=================\n"; }

std::string time_table(const std::string& title, const std::vector<Row>& rows) {
  std::string text = heading(title);
  text += fmt::format("{:<25}{:>16} {:>16} {:>16} {:>16} {:>16}\n", "Name", "Total Count",
                      "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)");
  text += fmt::format("{:<25}{:>16} {:>16} {:>16} {:>16} {:>16}\n", "----", "-----------",
                      "---------", "-------------", "-------------", "-------------");
  for (const Row& r : rows)
    text += fmt::format("{:<25}{:>16} {:>16.4f} {:>16.4f} {:>16.4f} {:>16.4f}\n", r.name,
                        r.statistics.count, milliseconds(r.statistics.total),
                        milliseconds(r.statistics.min), milliseconds(r.statistics.max),
                        milliseconds(average(r.statistics)));
  return text + "\n";
}

std::string value_table(const std::string& title, const std::vector<Row>& rows, const char* what,
                        double unit) {
  std::string text = heading(title);
  text += fmt::format("{:<25}{:>16} {:>16} {:>16} {:>16}\n", "Name", "Total Count",
                      fmt::format("Min {}", what), fmt::format("Max {}", what),
                      fmt::format("Avg {}", what));
  text += fmt::format("{:<25}{:>16} {:>16} {:>16} {:>16}\n", "----", "-----------", "-------------",
                      "-------------", "-------------");
  for (const Row& r : rows)
    text +=
        fmt::format("{:<25}{:>16} {:>16.4f} {:>16.4f} {:>16.4f}\n", r.name, r.statistics.count,
                    r.statistics.min / unit, r.statistics.max / unit, average(r.statistics) / unit);
  return text + "\n";
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f}", 100 * share);
}
std::string rate(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

std::string node_table(const std::vector<Row>& rows, const Peak& peak) {
  std::string text = heading("Nodes");
  text += fmt::format("{:<32}{:<28}{:<12}{:<9}{:>8}{:>12}{:>12}{:>10}{:>8}{:>10}{:>8}\n", "Name",
                      "Operator", "Kernel", "Device", "Count", "Time (ms)", "Avg (ms)", "GFLOP/s",
                      "% peak", "GB/s", "% mem");
  for (const Row& r : rows) {
    const Reached reached(r, peak);
    text += fmt::format("{:<32}{:<28}{:<12}{:<9}{:>8}{:>12.4f}{:>12.4f}{:>10}{:>8}{:>10}{:>8}\n",
                        r.name, r.subject->name, r.subject->kernel, r.subject->device,
                        r.statistics.count, milliseconds(r.statistics.total),
                        milliseconds(average(r.statistics)), rate(reached.gflops),
                        percent(reached.share), rate(reached.gbytes), percent(reached.bandwidth));
  }
  text += fmt::format("peak measured here: {:.1f} GFLOP/s float32, {:.1f} GB/s of memory\n\n",
                      peak.flops / 1e9, peak.bytes / 1e9);
  return text;
}

// ---- JSON ---------------------------------------------------------------------------------------

Json time_entry(const Statistics& s) {
  return {{"Count", s.count},
          {"Total", milliseconds(s.total)},
          {"Min", milliseconds(s.min)},
          {"Max", milliseconds(s.max)},
          {"Avg", milliseconds(average(s))}};
}

Json value_entry(const Statistics& s, double unit) {
  return {
      {"Count", s.count}, {"Min", s.min / unit}, {"Max", s.max / unit}, {"Avg", average(s) / unit}};
}

Json node_entry(const Row& r, const Peak& peak) {
  Json entry = {{"Name", r.name},
                {"Operator", r.subject->name},
                {"Kernel", r.subject->kernel},
                {"Device", r.subject->device}};
  entry.update(time_entry(r.statistics));
  const auto runs = static_cast<double>(r.statistics.count);
  entry["FLOPs"] = r.statistics.flops / runs;
  entry["Bytes"] = r.statistics.bytes / runs;
  const Reached reached(r, peak);
  const auto add = [&](const char* name, double value) {
    if (!std::isnan(value)) entry[name] = value;
  };
  add("GFLOP/s", reached.gflops);
  add("PeakShare", reached.share);
  add("GB/s", reached.gbytes);
  add("MemoryShare", reached.bandwidth);
  return entry;
}

}  // namespace

std::string dumps(const DumpsOptions& options) {
  const std::vector<std::string> formats = {"table", "json"},
                                 keys = {"total", "avg", "min", "max", "count"};
  check(std::ranges::find(formats, options.format) != formats.end(), ErrorKind::kState,
        "Invalid value provided for format: {}. Support: 'table', 'json'", options.format);
  check(std::ranges::find(keys, options.sort_by) != keys.end(), ErrorKind::kState,
        "Invalid value provided for sort_by: {}. Support: 'total', 'avg', 'min', 'max', 'count'",
        options.sort_by);
  const Snapshot all = profiling::snapshot(options.reset);
  Tables times = by_name(all.spans), memory = by_name(all.memory), counters = by_name(all.counters);
  std::vector<Row> nodes = nodes_of(all.spans);
  for (Tables* tables : {&times, &memory, &counters})
    for (auto& [category, rows] : *tables) sort(rows, options);
  sort(nodes, options);
  const Peak peak = nodes.empty() ? Peak{} : cpu_peak();

  if (options.format == "table") {
    std::string text =
        "\nProfile Statistics:\n\tNote the difference in units for different entries.\n";
    for (const auto& [category, rows] : memory)
      text += value_table(category, rows, "Use  (kB)", 1e3);
    for (const auto& [category, rows] : times) text += time_table(category, rows);
    for (const auto& [category, rows] : counters) text += value_table(category, rows, "Value", 1);
    if (!nodes.empty()) text += node_table(nodes, peak);
    return text;
  }
  Json json = {{"Time", Json::object()},
               {"Memory", Json::object()},
               {"Counter", Json::object()},
               {"Node", Json::array()},
               {"Unit", {{"Time", "ms"}, {"Memory", "kB"}}}};
  for (const auto& [category, rows] : times) {
    Json& section = json["Time"][category] = Json::object();
    for (const Row& r : rows) section[r.name] = time_entry(r.statistics);
  }
  for (const auto& [category, rows] : memory)
    for (const Row& r : rows) json["Memory"][category][r.name] = value_entry(r.statistics, 1e3);
  for (const auto& [category, rows] : counters)
    for (const Row& r : rows) json["Counter"][category][r.name] = value_entry(r.statistics, 1);
  for (const Row& r : nodes) json["Node"].push_back(node_entry(r, peak));
  if (!nodes.empty()) json["Peak"] = {{"GFLOP/s", peak.flops / 1e9}, {"GB/s", peak.bytes / 1e9}};
  return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace symbind::profiler
