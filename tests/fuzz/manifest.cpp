// A checkpoint's manifest: the input is its inner object, which gets a true checksum here, over a
// set of files that a training has written. The training then resumes from it, and a Checkpointer
// clears up beside it. A file of the set whose "sha256" is empty gets its true size and checksum.

#include <filesystem>

#include <nlohmann/json.hpp>

#include <symbind/checkpoint.h>
#include <symbind/module.h>
#include <symbind/ops.h>

#include "base/files.h"
#include "base/sha256.h"
#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string contents(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One epoch of a small net that saves, or a second one that resumes.
void train(const std::string& prefix, const std::string& resume) {
  Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 2});
  net = SoftmaxOutput("softmax", BatchNorm("bn", net));
  Module module(net);
  NDArrayIter rows(NDArray::ones({5, 3}, cpu()), NDArray::zeros({5}, cpu()),
                   {.batch_size = 2, .shuffle = true, .last_batch_handle = "roll_over"});
  FitOptions options{.optimizer = "adam", .num_epoch = resume.empty() ? 1 : 2, .resume = resume};
  if (resume.empty()) options.checkpoint = CheckpointOptions{.prefix = prefix, .background = false};
  module.fit(rows, options);
}

/// The set of files the manifests speak of, and files beside it that are none of its business.
struct Set {
  Set() {
    train(folder() + "/set/model", "");
    for (const auto& entry : fs::directory_iterator(folder() + "/set"))
      files["set/" + entry.path().filename().string()] = contents(entry.path().string());
    manifest = Json::parse(files.at("set/model-0001.manifest.json"));
    files.erase("set/model-0001.manifest.json");
    for (const char* beside : {"outside", "set/other", "set/model-big-0001.params",
                               "set/model-notes.pending", "set/model-big-0001.params.pending"})
      files[beside] = "not a checkpoint's";
  }
  void restore() const {
    for (const auto& [name, text] : files) write_file(name, text);
  }
  void check() const {
    for (const auto& [name, text] : files) {
      const std::string path = folder() + "/" + name;
      must(fs::exists(path) && contents(path) == text,
           "no file but the manifest's own changes: " + name);
    }
  }
  std::map<std::string, std::string> files;
  Json manifest;
};

const Set& checkpoint_set() {
  static const Set kSet = [] {
    fs::create_directories(folder() + "/set");
    return Set();
  }();
  return kSet;
}

/// The manifest around `text`, or `text` itself where it is no JSON object.
std::string with_checksum(std::string_view text) {
  Json inner = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!inner.is_object()) return std::string(text);
  if (inner.contains("files") && inner["files"].is_object()) {
    for (auto& [name, file] : inner["files"].items()) {
      if (!file.is_object() || !file.contains("sha256") || file["sha256"] != "") continue;
      const auto found = checkpoint_set().files.find("set/model" + name);
      if (found == checkpoint_set().files.end()) continue;
      file = {{"size", found->second.size()}, {"sha256", sha256(found->second)}};
    }
  }
  const std::string body = inner.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json{{"checkpoint", Json::parse(body)}, {"sha256", sha256(body)}}.dump();
}

}  // namespace

std::string manifest_seed() {
  Json inner = checkpoint_set().manifest.at("checkpoint");
  for (auto& [name, file] : inner.at("files").items()) file = {{"size", 0}, {"sha256", ""}};
  return inner.dump(1);
}

int manifest(Bytes bytes) {
  const Set& set = checkpoint_set();
  set.restore();
  const std::string prefix = folder() + "/set/model";
  const std::string path =
      write_file("set/model-0001.manifest.json", with_checksum(text_of(bytes)));
  list_checkpoints(prefix);
  const bool loaded = answers([&] { load_training(path); });
  const bool resumed = loaded && answers([&] { train(prefix, path); });
  set.check();
  answers([&] { Checkpointer({.prefix = prefix, .background = false}); });
  set.check();
  fs::remove(path);
  return loaded + resumed;
}

}  // namespace symbind::fuzz
