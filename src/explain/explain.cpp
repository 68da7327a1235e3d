// explain: the same data in three formats.
//
// Decided here: the page contains its data as JSON; its title is set from there too.

#include <symbind/explain.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files.h"
#include "explain/explanation.h"
#include "explain/page_data.h"

namespace symbind {

extern const char* const kExplainPage;

namespace {

std::string amount(double value, const char* unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t power = 0;
  while (value >= 1000 && power < 4) {
    value /= 1000;
    ++power;
  }
  return fmt::format("{:.4g} {}{}", value, prefixes[power], unit);
}

std::string costs(const nlohmann::ordered_json& step) {
  std::string text =
      step["flops"].is_null() ? "? FLOP" : amount(step["flops"].get<double>(), "FLOP");
  text += ", " + amount(step["bytes"].get<double>(), "B");
  if (!step.contains("time")) return text;
  const auto& time = step["time"];
  const double average = time["total_ns"].get<double>() / time["runs"].get<double>();
  text += fmt::format(", {:.4f} ms on average of {}", average / 1e6, time["runs"].get<long>());
  if (!step["flops"].is_null())
    text += fmt::format(", {:.2f} GFLOP/s", step["flops"].get<double>() / average);
  return text;
}

// The plan's own text, then what each step costs.
std::string text_of(const Plan& plan, const nlohmann::ordered_json& json) {
  std::string text = plan.text();
  const auto& totals = json["totals"];
  text += fmt::format("costs: {}, {}\n", amount(totals["flops"].get<double>(), "FLOP"),
                      amount(totals["bytes"].get<double>(), "B"));
  std::size_t number = 0;
  for (const auto& step : json["steps"])
    text += fmt::format("{:5} {}: {}\n", number++, step["name"].get<std::string>(), costs(step));
  for (const auto& update : json["updates"])
    text += fmt::format("      {}: {}\n", update["name"].get<std::string>(), costs(update));
  return text;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string page_with_data(const char* page, const nlohmann::ordered_json& data) {
  std::string text;
  for (const char c : json_text(data)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  std::string html = page;
  constexpr std::string_view kMark = "\"page data\"";
  const std::size_t at = html.find(kMark);
  SYMBIND_ASSERT(at != std::string::npos);
  return html.replace(at, kMark.size(), text);
}

std::string explain(const Executor& executor, const ExplainOptions& options) {
  check(options.format == "html" || options.format == "json" || options.format == "text",
        "explain: format must be html, json or text, not '{}'", options.format);
  const Runner& runner = runner_of(executor);
  const std::string name = runner.bound().symbol.name();
  const auto json = explanation(executor, !options.title.empty() ? options.title
                                          : name.empty()         ? "network"
                                                                 : name);
  if (options.format == "json") return json_text(json);
  if (options.format == "text") return text_of(runner.plan(), json);
  return page_with_data(kExplainPage, json);
}

void explain_to_file(const Executor& executor, const std::string& path,
                     const ExplainOptions& options) {
  const std::string text = explain(executor, options);
  write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
}

}  // namespace symbind
