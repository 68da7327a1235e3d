// exchange_tool: our side of tools/oracle/exchange. The report's form is in tools/oracle/README.md.
//   exchange_tool read DIR    reports what the files of DIR hold
//   exchange_tool write DIR   writes files into DIR and reports them
//   exchange_tool check DIR   reads and compares with DIR/report.json; exit status 1 on a
//   difference
//   exchange_tool again DIR TO   reads every checkpoint of DIR and writes it into TO

#include <filesystem>
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

#include <symbind/symbind.h>

#include "base/sha256.h"
#include "samples.h"

using namespace symbind;
using Json = nlohmann::json;

namespace {

Json read_json(const std::filesystem::path& path) { return Json::parse(std::ifstream(path)); }

Json dims(const std::vector<Shape>& shapes) {
  Json list = Json::array();
  for (const Shape& shape : shapes) list.push_back(shape.dims());
  return list;
}

Json report_symbol(const std::string& path, const Json* shapes) {
  const Symbol symbol = Symbol::load(path);
  Json report = {{"arguments", symbol.list_arguments()},
                 {"auxiliary_states", symbol.list_auxiliary_states()},
                 {"outputs", symbol.list_outputs()},
                 {"internals", symbol.get_internals().list_outputs()},
                 {"attrs", symbol.attr_dict()}};
  if (shapes != nullptr) {
    ShapeMap given;
    for (const auto& [name, shape] : shapes->items())
      given[name] = Shape(shape.get<std::vector<std::int64_t>>());
    const InferredShapes found = symbol.infer_shape(given);
    report["arg_shapes"] = dims(found.args);
    report["out_shapes"] = dims(found.outputs);
    report["aux_shapes"] = dims(found.aux);
  }
  return report;
}

Json report_arrays(const std::string& path) {
  const bool before =
      set_np_shape(std::filesystem::path(path).filename().string().starts_with("v3"));
  const NamedArrays file = load(path);
  set_np_shape(before);
  Json list = Json::array();
  for (std::size_t i = 0; i < file.arrays.size(); ++i) {
    const NDArray& array = file.arrays[i];
    std::vector<std::byte> bytes(array.defined() ? array.nbytes() : 0);
    if (array.defined()) array.copy_to_host(bytes.data(), array.dtype());
    list.push_back({{"name", i < file.names.size() ? file.names[i] : ""},
                    {"shape", array.defined() ? Json(array.shape().dims()) : Json()},
                    {"dtype", array.defined() ? dtype_name(array.dtype()) : "none"},
                    {"sha256", sha256(bytes)}});
  }
  return list;
}

// A file that cannot be read is reported as such; the others are read nevertheless.
template <class F>
Json or_error(const F& read) {
  try {
    return read();
  } catch (const Error& e) {
    return {{"error", e.what()}};
  }
}

Json report(const std::filesystem::path& folder) {
  Json result = {{"symbols", Json::object()}, {"params", Json::object()}};
  const Json shapes = read_json(folder / "shapes.json");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (!entry.is_regular_file()) continue;
    if (name.ends_with("-symbol.json")) {
      const Json* given = shapes.contains(name) ? &shapes.at(name) : nullptr;
      result["symbols"][name] = or_error([&] { return report_symbol(path, given); });
    } else if (name.ends_with(".params")) {
      result["params"][name] = or_error([&] { return report_arrays(path); });
    }
  }
  return result;
}

void write(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Json shapes = Json::object();
  for (const auto& [name, sample] : sample_symbols()) {
    sample.symbol.save((folder / (name + "-symbol.json")).string());
    Json& given = shapes[name + "-symbol.json"] = Json::object();
    for (const auto& [input, shape] : sample.shapes) given[input] = shape.dims();
  }
  std::ofstream(folder / "shapes.json") << shapes.dump(1) << "\n";
  write_sample_arrays(folder.string());
}

int check(const std::filesystem::path& folder) {
  const Json differences = Json::diff(read_json(folder / "report.json"), report(folder));
  for (const Json& difference : differences) std::cerr << difference.dump() << "\n";
  std::cout << (differences.empty() ? "equal" : "different") << "\n";
  return differences.empty() ? 0 : 1;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The names of the files say what wrote them: sgd-half-dump-name-0005.states.
void again(const std::filesystem::path& folder, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("-0005.states")) continue;
    const std::string prefix = name.substr(0, name.size() - std::string("-0005.states").size());
    const Checkpoint read = load_checkpoint((folder / prefix).string(), 5);
    save_checkpoint((to / prefix).string(), 5, read.symbol, read.args, read.aux);
    const bool half = name.find("-half-") != std::string::npos;
    OptimizerParams params{{"multi_precision", half}};
    if (name.starts_with("sgd")) params.emplace("momentum", 0.9);
    Updater updater(create_optimizer(name.substr(0, name.find('-')), params));
    updater.set_states(bytes_of(entry.path()), name);
    write_file((to / name).string(), updater.get_states(name.find("-dump-") != std::string::npos));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  try {
    if (argc == 4 && std::string(argv[1]) == "again") return again(argv[2], argv[3]), 0;
    if (verb == "check") return check(argv[2]);
    if (verb == "write") write(argv[2]);
    if (verb == "read" || verb == "write") {
      std::cout << report(argv[2]).dump(1) << "\n";
      return 0;
    }
  } catch (const std::exception& e) {
    std::cerr << "exchange_tool: " << e.what() << "\n";
    return 1;
  }
  std::cerr << "usage: exchange_tool read|write|check DIR, or again DIR TO\n";
  return 2;
}
