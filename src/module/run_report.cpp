// Decided here: curves come from the log, so that the report of a resumed run has all of them.

#include "module/run_report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <symbind/detail/resume.h>
#include <symbind/explain.h>
#include <symbind/libraries.h>
#include <symbind/runtime.h>

#include "base/files.h"
#include "explain/page_data.h"

namespace symbind {

extern const char* const kReportPage;

namespace {

using Json = nlohmann::ordered_json;

std::string now_text() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The command line of this process, quoted as a shell reads it.
std::string command_line() {
  std::string text, word;
  for (const char c : bytes_of("/proc/self/cmdline")) {
    if (c != '\0') {
      word += c;
      continue;
    }
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0"
                                            "123456789._-/=,:+@%") == std::string::npos;
    std::string quoted;
    for (const char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
    word.clear();
  }
  return text;
}

Json machine() {
  Json libraries_used = Json::array();
  for (const LibraryInfo& library : libraries())
    libraries_used.push_back(library.name + " " + library.version);
  return {{"cpu", cpu_model()},
          {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"instructions", cpu_instructions()},
          {"threads", cpu_threads()},
          {"libraries", libraries_used}};
}

/// A value as TOML has it; empty for what TOML has not.
std::string toml_value(const StateValue& value) {
  switch (value.kind) {
    case StateValue::Kind::kBool: return value.integer != 0 ? "true" : "false";
    case StateValue::Kind::kInt: return std::to_string(value.integer);
    case StateValue::Kind::kFloat: return fmt::format("{}", value.number);
    case StateValue::Kind::kText: return Json(value.text).dump();
    default: return {};
  }
}

/// Which steps take how long: of the layers of the first network, averages of the timed steps.
Json layers(Training& training) {
  Json rows = Json::array();
  const auto networks = training.networks();
  if (networks.empty() || networks.front()->group().execs().empty()) return rows;
  const Json plan =
      Json::parse(explain(networks.front()->group().execs().front(), {.format = "json"}));
  const auto average = [](const Json& step) {
    return step["time"]["total_ns"].get<double>() / step["time"]["runs"].get<double>();
  };
  const Json& steps = plan["steps"];
  std::map<std::size_t, std::size_t> row_of;  // of a forward step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Json& step = steps[i];
    if (!step.contains("time")) continue;
    const std::size_t of = step.contains("of") ? step["of"].get<std::size_t>() : i;
    if (!row_of.contains(of)) {
      row_of[of] = rows.size();
      rows.push_back({{"name", steps[of]["name"]},
                      {"op", steps[of]["op"]},
                      {"kernel", steps[of]["kernel"]},
                      {"forward", 0.0},
                      {"backward", 0.0}});
    }
    Json& total = rows[row_of[of]][step["phase"].get<std::string>()];
    total = total.get<double>() + average(step);
  }
  double updates = 0;
  for (const Json& update : plan["updates"])
    if (update.contains("time")) updates += average(update);
  if (updates > 0)
    rows.push_back(
        {{"name", "updates"}, {"op", ""}, {"kernel", ""}, {"forward", 0.0}, {"backward", updates}});
  return rows;
}

/// The lines of the log: the last one of each moment, in order of time.
Json log_lines(const std::string& path) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Json> lines;
  const std::vector<std::byte> bytes = read_file(path);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::string line; std::getline(text, line);) {
    Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto is_whole = [&](const char* key) {
      return event.contains(key) && event[key].is_number_integer();
    };
    // Truncated by a crash, or not ours.
    if (!event.is_object() || !is_whole("epoch") || !is_whole("nbatch")) continue;
    if (!event.contains("phase") || !event["phase"].is_string()) continue;
    const std::string phase = event["phase"];
    const std::int64_t epoch = event["epoch"];
    const std::int64_t batch =
        phase == "interval" ? event["nbatch"].get<std::int64_t>() : INT64_MAX;
    lines[{epoch, batch, phase}] = std::move(event);
  }
  Json all = Json::array();
  for (auto& [moment, line] : lines) all.push_back(std::move(line));
  return all;
}

}  // namespace

void RunReport::begin(Training& training, const RunOptions& run) {
  const auto networks = training.networks();
  const StateValue random = random_facts();
  const StateValue* seed = random.find("seed");
  facts_ = {{"run", run.name},           {"version", version()},
            {"command", command_line()}, {"folder", std::filesystem::current_path().string()},
            {"started", now_text()},     {"seed", seed != nullptr ? Json(seed->integer) : Json()},
            {"machine", machine()}};
  config_ = fmt::format("batch-size = {}\n", training.batch_size());
  if (networks.empty()) return;
  TrainedNetwork& network = *networks.front();
  std::vector<std::string> devices;
  for (const Context& context : network.group().contexts())
    devices.push_back(Json(context.str()).dump());
  config_ += fmt::format("devices = [{}]\n", fmt::join(devices, ", "));
  const StateValue optimizer = optimizer_config(network.optimizer());
  config_ += "\n[optimizer]\nname = " + toml_value(optimizer.at("class", "optimizer")) + "\n";
  const StateValue& fields = optimizer.at("fields", "optimizer");
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2)
    if (const std::string text = toml_value(fields.items[i + 1]); !text.empty())
      config_ += fmt::format("{} = {}\n", fields.items[i].text, text);
}

void RunReport::measure(Training& training) {
  const auto is_accuracy = [](const NameValue& value) {
    return value.first.find("accuracy") != std::string::npos;
  };
  if (!std::ranges::any_of(training.metric_values(), is_accuracy)) return;
  const std::optional<NDArray> counts = training.confusion();
  if (!counts) return;
  const std::vector<double> numbers = counts->astype(DType::kFloat64).to_vector<double>();
  const auto classes = static_cast<std::size_t>(counts->shape()[0]);
  confusion_ = Json::array();
  for (std::size_t row = 0; row < classes; ++row)
    confusion_.push_back(
        std::vector<double>(numbers.begin() + static_cast<std::ptrdiff_t>(row * classes),
                            numbers.begin() + static_cast<std::ptrdiff_t>((row + 1) * classes)));
}

void RunReport::write(const RunFolder& folder, Training& training, const std::string& state,
                      const std::string& error) const {
  Json data = facts_;
  data["state"] = state;
  data["error"] = error;
  data["written"] = now_text();
  data["config"] = config_;
  data["log"] = log_lines(folder.log_path());
  data["layers"] = layers(training);
  data["confusion"] = confusion_;
  const std::string html = page_with_data(kReportPage, data);
  write_file_atomic(folder.report_path(), [&](FileWriter& file) { file.write(html); });
}

}  // namespace symbind
