// Untrusted manifests and folders: only a checkpoint's own files are opened or removed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include <symbind/detail/resume.h>
#include <symbind/model.h>

#include "resume/sets.h"

namespace symbind {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Json = nlohmann::json;

std::string text_at(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Changes a manifest and signs it: a checksum is no secret.
void change(const std::string& path, const std::function<void(Json&)>& edit) {
  Json manifest = Json::parse(text_at(path));
  edit(manifest["checkpoint"]);
  manifest["sha256"] = sha256(manifest["checkpoint"].dump());
  put(path, manifest.dump());
}

std::string error_of(const std::string& where) {
  try {
    load_training(where);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << error.what();
    return error.what();
  }
  return "it was loaded";
}

struct Saved {
  Saved() {
    Checkpointer saver(direct(folder.prefix()));
    saver.save(state_of(1, 1));
  }
  std::string manifest() const { return folder.prefix() + "-0001.manifest.json"; }
  std::string refused(const std::function<void(Json&)>& edit) const {
    const std::string before = text_at(manifest());
    change(manifest(), edit);
    std::string text = error_of(folder.prefix());
    put(manifest(), before);
    return text;
  }
  const Folder folder;
};

TEST(BadInputManifest, names_that_leave_the_set_are_refused) {
  for (const std::string name :
       {"/../victim", "-0001/../../victim", "-0001.params/../../victim", "-0001victim",
        "-0001-x.states", "-0002.params", "-00001.params", "-0001.params.pending", "-notes.txt",
        "-0001-b000001.params", "-01-symbol.json", "-0001-1.params", ""}) {
    const Saved saved;
    const std::string victim = fs::path(saved.folder.path + "/victim").string();
    put(victim, "mine");
    put(saved.folder.prefix() + "-0001victim", "mine");
    put(saved.folder.prefix() + "-notes.txt", "mine");
    const Json digest = {{"size", 4}, {"sha256", sha256(std::string_view("mine"))}};
    change(saved.manifest(), [&](Json& m) { m["files"][name] = digest; });
    EXPECT_THAT(error_of(saved.folder.prefix()), HasSubstr("it lists the file '" + name + "'"));
    // keep_last removes the set that says so, and nothing it names.
    Checkpointer saver({.prefix = saved.folder.prefix(), .keep_last = 1, .background = false});
    for (const int epoch : {2, 3}) saver.save(state_of(2, epoch));
    EXPECT_THAT(saved.folder.names(), Contains("victim")) << name;
    EXPECT_THAT(saved.folder.names(), Contains("model-0001victim")) << name;
    EXPECT_THAT(saved.folder.names(), Contains("model-notes.txt")) << name;
  }
}

TEST(BadInputManifest, numbers_that_are_out_of_range) {
  const Saved saved;
  const auto set = [&](const char* name, const Json& value) {
    return saved.refused([&](Json& m) { m[name] = value; });
  };
  const auto huge = std::numeric_limits<std::int64_t>::max();
  for (const char* name : {"epoch", "batch", "sequence", "parts", "format"}) {
    for (const Json& value : {Json(huge), Json(std::uint64_t{1} << 63), Json(-1), Json(1e300),
                              Json(1.5), Json("1"), Json(nullptr)})
      EXPECT_THAT(set(name, value), HasSubstr(std::string("its ") + name + " is")) << value.dump();
  }
  EXPECT_THAT(set("parts", 20'000'000), HasSubstr("its parts is 20000000"));
  EXPECT_THAT(set("epoch", 7), HasSubstr("it is of epoch 7, batch 0, but its name is-0001"));
  EXPECT_THAT(saved.refused([&](Json& m) { m["files"]["-0001.params"]["size"] = -5; }),
              HasSubstr("its size is -5"));
  EXPECT_EQ(loaded_mark(saved.folder.prefix()), 1);
}

TEST(BadInputManifest, nested_too_deeply) {
  const Saved saved;
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  std::string text = Json::parse(text_at(saved.manifest())).dump();
  text.insert(text.find("\"training\":{") + 12, "\"deep\":" + deep + ",");
  put(saved.manifest(), text);
  EXPECT_THAT(error_of(saved.folder.prefix()), HasSubstr("levels of nesting; the limit is 64"));
  // What a training may save comes back.
  TrainingState state = state_of(2, 2);
  StateValue value = StateValue::of(std::int64_t{5});
  for (int i = 0; i < 60; ++i)
    value = StateValue::sequence(StateValue::Kind::kTuple, {std::move(value)});
  state.facts.add("deep", value);
  const Folder other;
  { Checkpointer(direct(other.prefix())).save(state); }
  const auto loaded = load_training(other.prefix());
  const StateValue* inner = &loaded->facts.at("deep", "test");
  for (int i = 0; i < 60; ++i) inner = &inner->items.at(0);
  EXPECT_EQ(inner->integer, 5);
}

TEST(Checkpoint, other_files_in_the_folder_are_untouched) {
  const Folder folder;
  Checkpointer(direct(folder.prefix("model-big"))).save(state_of(1, 1));
  Checkpointer(direct(folder.prefix("model-0001"))).save(state_of(1, 1));
  const std::vector<std::string> users = {"model-notes.pending",
                                          "model-big-0001.params.pending",
                                          "model-big-0002.states.pending",
                                          "model-big-0001.manifest.json.tmp-999999999-0",
                                          "model-1.params.pending",
                                          "model-00001.params.pending",
                                          "model-0001-x.states.pending",
                                          "model-0001-0001.params.pending",
                                          "model-0001.params.pending.old",
                                          "model-0001.txt.tmp-999999999-0",
                                          "model-notes.tmp-999999999-0",
                                          "model-0001.params.tmp-999999999",
                                          "model-0001-b000001.json.pending"};
  for (const std::string& name : users) put(folder.path + "/" + name, "a user's");
  const std::vector<std::string> own = {"model-0001.params.pending",
                                        "model-0007-b000012.states.pending",
                                        "model-0007-1.states.pending",
                                        "model-symbol.json.pending",
                                        "model-0007.extra.pending",
                                        "model-0007.params.pending.tmp-999999999-3",
                                        "model-0007.manifest.json.tmp-999999999-0"};
  for (const std::string& name : own) put(folder.path + "/" + name, "left by a killed save");
  const std::vector<std::string> before = folder.names();
  Checkpointer saver({.prefix = folder.prefix(), .keep_last = 1, .background = false});
  for (const int epoch : {1, 2, 3}) saver.save(state_of(2, epoch));
  const std::vector<std::string> after = folder.names();
  for (const std::string& name : before)
    if (std::ranges::find(own, name) == own.end()) {
      EXPECT_THAT(after, Contains(name));
    }
  for (const std::string& name : own)
    EXPECT_EQ(std::ranges::count(after, name), 0) << name << " is a killed save's";
  for (const std::string& name : users) EXPECT_EQ(text_at(folder.path + "/" + name), "a user's");
  EXPECT_EQ(loaded_mark(folder.prefix("model-big")), 1);
  EXPECT_EQ(loaded_mark(folder.prefix()), 2);
}

TEST(BadInputManifest, prefixes_with_nul_are_refused) {
  const Saved saved;
  const std::string bad = saved.folder.prefix() + std::string("\0x", 2);
  EXPECT_THROW(load_training(bad), Error);
  EXPECT_THROW(Checkpointer(direct(bad)), Error);
  EXPECT_THROW(checkpoint_epochs(bad), Error);
}

// ---- What a manifest says of a training ---------------------------------------------------------

std::string io_error(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << error.what();
    return error.what();
  }
  return "it was taken";
}

TEST(BadInputResume, counts_of_a_metric_are_finite) {
  const auto metric = create_metric("acc");
  for (const std::size_t which : {1, 3}) {
    for (const double value : {std::nan(""), -1.0, std::numeric_limits<double>::infinity()}) {
      StateValue facts = metric_facts(*metric);
      for (std::size_t i = 0; i < facts.items.size(); i += 2)
        if (facts.items[i].text == "sums") facts.items[i + 1].items[which].number = value;
      EXPECT_THAT(io_error([&] { set_metric_facts(*metric, facts); }), HasSubstr("accuracy"));
      EXPECT_EQ(metric->num_inst, 0);
    }
  }
}

TEST(BadInputResume, devices_of_the_random_numbers_exist) {
  const StateValue before = random_facts();
  for (const auto& [type, id] : {std::pair<std::int64_t, std::int64_t>{77, 0},
                                 {1, -1},
                                 {1, std::numeric_limits<std::int64_t>::max()},
                                 {257, 0}}) {
    StateValue device = StateValue::dict(), devices = StateValue::sequence(StateValue::Kind::kList);
    device.add("type", StateValue::of(type));
    device.add("id", StateValue::of(id));
    device.add("seed", StateValue::of(std::int64_t{1}));
    device.add("draws", StateValue::of(std::int64_t{1}));
    devices.items.push_back(device);
    StateValue facts = StateValue::dict();
    facts.add("seed", StateValue::of(std::int64_t{3}));
    facts.add("devices", devices);
    EXPECT_THAT(io_error([&] { set_random_facts(facts); }), HasSubstr("there is no device"));
  }
  set_random_facts(before);
}

TEST(BadInputResume, places_of_iterators_are_within_reach) {
  const DataBatch all = batch(24);
  NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
  StateValue state = *data.state();
  state.add("cursor", StateValue::of(std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(io_error([&] { data.set_state(state); }), HasSubstr("cursor 9223372036854775807"));
  auto inner =
      std::make_shared<NDArrayIter>(all.data[0], all.label[0], NDArrayIterOptions{.batch_size = 8});
  ResizeIter resized(inner, 5);
  for (const std::int64_t given :
       {std::int64_t{-1}, std::int64_t{6}, std::numeric_limits<std::int64_t>::max()}) {
    StateValue other = *resized.state();
    other.add("given", StateValue::of(given));
    EXPECT_THAT(io_error([&] { resized.set_state(other); }), HasSubstr("batches given of 5"));
  }
}

}  // namespace
}  // namespace symbind
