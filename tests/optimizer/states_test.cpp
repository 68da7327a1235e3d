// Files of states: MXNet's are read and continued, ours come back, and hostile ones end in an
// Error.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <symbind/detail/states.h>

#include "optimizer/recorded.h"

namespace symbind {
namespace {

using Kind = StateValue::Kind;
using namespace std::string_literals;

const nlohmann::json& recording() {
  static const nlohmann::json all = recorded::json("cases.json");
  return all;
}

// MXNet's states after step 3, continued here to step 8, give MXNet's result.
TEST(GoldenStates, continue_mxnets_training) {
  const nlohmann::json files = recorded::json("states.json");
  for (const auto& [file, facts] : files.items()) {
    SCOPED_TRACE(file);
    const nlohmann::json& setup = recording()["setup"];
    const nlohmann::json& one = recording()["cases"][facts["case"].get<std::string>()];
    Updater updater(facts["dump"] ? create_optimizer("test") : recorded::optimizer(setup, one));
    const std::string bytes = recorded::bytes(file + ".states");
    updater.set_states(bytes, file);
    EXPECT_EQ(updater.states().size(), 5U);
    for (const auto& [key, synced] : updater.states_synced()) EXPECT_FALSE(synced);
    const std::string params = recorded::bytes(file + ".params");
    const NDArrayMap arrays =
        load_frombuffer({reinterpret_cast<const std::byte*>(params.data()), params.size()}).map();
    std::vector<NDArray> weights;
    for (int i = 0; i < 5; ++i) weights.push_back(arrays.at(fmt::format("3/{}", i)).copy());

    // The same file written by us and read again is the same states.
    Updater again(updater.optimizer());
    again.set_states(updater.get_states(facts["dump"]), "again");
    EXPECT_EQ(again.get_states(), updater.get_states());

    for (int number = 4; number <= 8; ++number)
      recorded::step(again, setup, one, weights, number, facts["by_name"]);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_TRUE(recorded::near(weights[i].to_vector<double>(),
                                 arrays.at(fmt::format("8/{}", i)).to_vector<double>(),
                                 one["dtype"] == "float16" ? 1e-3 : 1e-5))
          << i;
  }
}

TEST(GoldenStates, the_optimizer_comes_with_them) {
  Updater updater(create_optimizer("adam"));
  updater.set_states(recorded::bytes("sgd_dump.states"));
  Optimizer& sgd = *updater.optimizer();
  EXPECT_EQ(sgd.class_name(), "SGD");
  EXPECT_EQ(sgd.wd, 0.05);
  EXPECT_EQ(sgd.clip_gradient, 0.4);
  EXPECT_EQ(sgd.num_update, 3);
  EXPECT_EQ(sgd.count_of(std::int64_t{4}), 3);
  EXPECT_EQ(sgd.idx2name().at(std::int64_t{4}), "emb_weight");
  EXPECT_EQ(sgd.wd_mult().at("bn_gamma"), 0.25);
  EXPECT_EQ(sgd.lr_mult().at("fc1_bias"), 2.0);
  ASSERT_NE(sgd.lr_scheduler(), nullptr);
  EXPECT_EQ(sgd.lr_scheduler()->class_name(), "FactorScheduler");
  EXPECT_EQ(sgd.lr_scheduler()->base_lr(), 0.1);
}

TEST(GoldenStates, every_protocol) {
  for (int protocol = 0; protocol <= 4; ++protocol) {
    SCOPED_TRACE(protocol);
    const StateValue v = load_states(recorded::bytes(fmt::format("protocol{}.states", protocol)));
    ASSERT_EQ(v.kind, Kind::kDict);
    ASSERT_EQ(v.items.size(), 8U);
    EXPECT_EQ(v.items[0].integer, 0);
    EXPECT_EQ(v.items[1].array.to_vector<float>(), (std::vector<float>{1.5F, -2}));
    EXPECT_EQ(v.items[3].kind, Kind::kTuple);
    EXPECT_EQ(v.items[3].items[1].array.scalar(), 4);
    EXPECT_EQ(v.items[4].text, "w");
    EXPECT_EQ(v.items[5].kind, Kind::kList);
    EXPECT_EQ(v.items[6].integer, -70000);
    EXPECT_EQ(v.items[7].kind, Kind::kTuple);
  }
}

TEST(States, what_is_written_comes_back) {
  StateValue all = StateValue::sequence(Kind::kList);
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{255}, std::int64_t{256},
                               std::int64_t{-1}, INT64_MAX, INT64_MIN})
    all.items.push_back(StateValue::of(i));
  for (const double d : {0.0, -1.5, 1e300}) all.items.push_back(StateValue::of(d));
  all.items.push_back(StateValue::of(true));
  all.items.push_back(StateValue::of(std::string(70000, 'x')));
  all.items.push_back(StateValue::of(NDArray()));
  all.items.push_back(StateValue::sequence(Kind::kTuple, std::vector<StateValue>(5)));
  const StateValue back = load_states(dump_states(all));
  ASSERT_EQ(back.items.size(), all.items.size());
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(back.items[i].integer, all.items[i].integer);
  for (std::size_t i = 6; i < 9; ++i) EXPECT_EQ(back.items[i].number, all.items[i].number);
  EXPECT_EQ(back.items[9].kind, Kind::kBool);
  EXPECT_EQ(back.items[10].text, all.items[10].text);
  EXPECT_FALSE(back.items[11].array.defined());
  EXPECT_EQ(back.items[12].items.size(), 5U);
}

// What Python writes for numpy.float64(1.5), numpy.int32(-3) and a long of 12 bytes.
TEST(States, numpy_and_large_numbers) {
  const std::string dtype =
      "\x8c\x05numpy\x8c\x05"
      "dtype\x93\x8c\x02";
  const auto scalar = [&](const std::string& type, const std::string& raw) {
    return "\x8c\x16numpy._core.multiarray\x8c\x06scalar\x93" + dtype + type +
           "\x89\x88\x87R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"s + "C" +
           static_cast<char>(raw.size()) + raw + "\x86R";
  };
  const StateValue v = load_states("\x80\x04(" + scalar("f8", "\0\0\0\0\0\0\xf8\x3f"s) +
                                   scalar("i4", "\xfd\xff\xff\xff") + "\x8a\x0c" +
                                   std::string(11, '\0') + "\x01" + "t.");
  ASSERT_EQ(v.items.size(), 3U);
  EXPECT_EQ(v.items[0].number, 1.5);
  EXPECT_EQ(v.items[1].integer, -3);
  EXPECT_EQ(v.items[2].text, "0x010000000000000000000000");
}

// ---- Bad input ----------------------------------------------------------------------------------

std::string refusal(const std::string& bytes, ErrorKind kind = ErrorKind::kIo) {
  try {
    load_states(bytes, "my.states");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "it was read";
  return {};
}

void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(BadInputStates, nothing_is_run) {
  expect_in(refusal("cos\nsystem\n(S'echo hello'\ntR."), {"my.states", "'os.system'", "byte 0"});
  expect_in(refusal("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R."), {"'posix.system'"});
  expect_in(refusal("c__builtin__\neval\n(S'1+1'\ntR."), {"'__builtin__.eval'"});
  expect_in(refusal("\x80\x04\x8c\x08"
                    "builtins\x8c\x04"
                    "exec\x93\x8c\x01x\x85R."),
            {"builtins.exec"});
  expect_in(refusal("cbuiltins\ngetattr\n."), {"'builtins.getattr'"});
  expect_in(refusal("cmxnet.optimizer.optimizer\nos.system\n."), {"os.system"});
  expect_in(refusal("cmxnet.optimizer.optimizer\nMine\n."), {"mxnet.optimizer.optimizer.Mine"});
  expect_in(refusal("(S'x'\nios\nsystem\n."), {"opcode 0x69"});
  expect_in(refusal("Pid\n."), {"opcode 0x50"});
  expect_in(refusal("\x80\x02\x82\x01."), {"opcode 0x82"});
  // Known names in places that are not theirs.
  refusal("cmxnet.optimizer.optimizer\nSGD\n(S'x'\ntR.");
  refusal("cbuiltins\nobject\n)\x81.");
  refusal("cbuiltins\nbytearray\n(I1000000000\ntR.");
  refusal("cbuiltins\nbytearray\n.");
}

TEST(BadInputStates, memo_bomb) {
  // Each level is a tuple of ten times the one before: 10^30 values in 600 bytes.
  std::string bomb = "\x80\x02)q\x00"s;
  for (int level = 1; level <= 30; ++level) {
    bomb += "(";
    for (int i = 0; i < 10; ++i) bomb += std::string("h") + static_cast<char>(level - 1);
    bomb += std::string("tq") + static_cast<char>(level);
  }
  expect_in(refusal(bomb + "."), {"memo", "my.states"});
  // The same for texts.
  std::string texts = "\x80\x02X"s + "\xa0\x86\x01\x00"s + std::string(100000, 'x') + "q\x00("s;
  for (int i = 0; i < 100000; ++i) texts += "h\x00"s;
  expect_in(refusal(texts + "t."), {"larger"});
  // And for bytes that are decoded again and again.
  std::string decoded = "c_codecs\nencode\nq\x01\x58"s + "\xa0\x86\x01\x00"s +
                        std::string(100000, 'x') + "X\x06\x00\x00\x00latin1\x86q\x02"s + "(";
  for (int i = 0; i < 100000; ++i) decoded += "h\x01h\x02R"s;
  expect_in(refusal(decoded + "t."), {"larger than those of any states file"});
}

TEST(BadInputStates, nesting_and_circles) {
  expect_in(refusal(std::string(100000, ']') + std::string(99999, 'a') + "."), {"nested deeper"});
  std::string tuples = ")";
  for (int i = 0; i < 100000; ++i) tuples += "\x85";
  expect_in(refusal(tuples + "."), {"nested deeper"});
  expect_in(refusal("]q\x00h\x00"
                    "a."s),
            {"contains itself"});
  expect_in(refusal("}q\x00K\x01h\x00s."s), {"contains itself"});
  refusal(std::string(100000, '('));
}

TEST(BadInputStates, lengths_beyond_the_file) {
  expect_in(refusal("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."), {"cut short"});
  expect_in(refusal("\x80\x04X\xff\xff\xff\xff."), {"bytes wanted"});
  expect_in(refusal("\x80\x04\x95\xff\xff\xff\xff\x00\x00\x00\x00."s), {"frame"});
  expect_in(refusal("\x80\x02\x8b\xff\xff\xff\x7f."), {"bytes wanted"});
  refusal("\x80\x02\x8b\xff\xff\xff\xff.");
  expect_in(refusal("\x80\x06N."), {"protocol 6"});
  expect_in(refusal(""), {"cut short"});
}

TEST(BadInputStates, damaged_stacks) {
  for (const char* bytes :
       {".",       "a.",     "s.",          "u.",          "t.",         "R.",
        "b.",      "NNb.",   "Na.",         "\x85.",       "0.",         "1.",
        "2.",      "h\x05.", "g7\n.",       "(K\x01u.",    "}(K\x01u.",  "I12",
        "Ix\n.",   "Fx\n.",  "Snoquote\n.", "V\\uzzzz\n.", "S'\\xz'\n.", "K\x01K\x02\x93.",
        "NN\x81.", "\x94."})
    refusal(bytes);
}

// Cut off at every byte, and with every byte turned over: an Error or some other value, no crash.
TEST(BadInputStates, truncated_and_damaged_at_every_byte) {
  for (const char* name :
       {"sgd_dump.states", "protocol0.states", "protocol2.states", "sgd_half.states"}) {
    const std::string whole = recorded::bytes(name);
    for (std::size_t n = 0; n < whole.size(); ++n)
      if (!(n + 1 == whole.size())) refusal(whole.substr(0, n));
    for (std::size_t n = 0; n < whole.size(); ++n) {
      for (const unsigned char bit : {0x01, 0x10, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[n] = static_cast<char>(static_cast<unsigned char>(damaged[n]) ^ bit);
        Updater updater(create_optimizer("sgd", {{"momentum", 0.9}}));
        try {
          updater.set_states(damaged);
        } catch (const Error&) {
          EXPECT_TRUE(updater.states().empty());
        }
      }
    }
  }
}

// mistakes.md 34
TEST(BadInputStates, states_of_another_optimizer) {
  const auto says = [](const char* file, const std::shared_ptr<Optimizer>& optimizer) {
    Updater updater(optimizer);
    const NDArray weight = NDArray::ones(Shape{1}, cpu());
    updater.state_for(std::int64_t{7}, weight);
    try {
      updater.set_states(recorded::bytes(file), file);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_EQ(updater.states().size(), 1U);  // nothing loaded
      return std::string(error.what());
    }
    ADD_FAILURE() << file << " was taken";
    return std::string();
  };
  expect_in(says("adam_index.states", create_optimizer("sgd", {{"momentum", 0.9}})),
            {"not states of SGD", "Adam", "adam_index.states"});
  expect_in(says("sgd_index.states", create_optimizer("adam")), {"not states of Adam", "SGD"});
  expect_in(says("rmsprop_name.states", create_optimizer("rmsprop")), {"of RMSProp", "FTML"});
  expect_in(says("sgd_none.states", create_optimizer("sgd", {{"momentum", 0.9}})), {"nothing"});
  expect_in(says("sgd_half.states", create_optimizer("sgd", {{"momentum", 0.9}})), {"SGD"});
}

TEST(BadInputStates, no_states_at_all) {
  for (const char* bytes :
       {"N.", "K\x05.", "]N\x61.", "}K\x01K\x02s.", "}G\x3f\xf0\0\0\0\0\0\0Ns."}) {
    Updater updater(create_optimizer("sgd"));
    EXPECT_THROW(updater.set_states(bytes), Error);
  }
  Updater updater(create_optimizer("sgd"));
  EXPECT_THROW(updater.set_states("}N\x86."), Error);  // a pair without optimizer
}

}  // namespace
}  // namespace symbind
