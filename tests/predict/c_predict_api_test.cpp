// The C predict API: MXNet's recorded answers through it, and every wrong argument gives -1 and a
// reason. tests/install builds a C program with it against the installed copy.

#include "tests/predict/nets.h"

#include <mxnet/c_predict_api.h>

#include <cstring>
#include <thread>

#include <nlohmann/json.hpp>

namespace symbind {
namespace {

using Json = nlohmann::json;

const std::string& json_of(const std::string& net) {
  static std::map<std::string, std::string> all;
  std::string& text = all[net];
  if (text.empty()) text = file_text(golden::path_of("predict/" + net + "-symbol.json"));
  return text;
}
const std::string& params_of(const std::string& net) {
  static std::map<std::string, std::string> all;
  std::string& bytes = all[net];
  if (bytes.empty()) bytes = file_text(golden::path_of("predict/" + net + "-0000.params"));
  return bytes;
}

/// Shapes as the API takes them.
struct CShapes {
  explicit CShapes(const std::vector<std::pair<std::string, std::vector<std::uint32_t>>>& shapes) {
    for (const auto& [name, shape] : shapes) {
      names.push_back(name);
      dims.insert(dims.end(), shape.begin(), shape.end());
      begins.push_back(static_cast<std::uint32_t>(dims.size()));
    }
    for (const std::string& name : names) keys.push_back(name.c_str());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(names.size()); }
  std::vector<std::string> names;
  std::vector<const char*> keys;
  std::vector<std::uint32_t> begins = {0}, dims;
};

PredictorHandle create(const std::string& net, CShapes shapes) {
  PredictorHandle handle = nullptr;
  EXPECT_EQ(MXPredCreate(json_of(net).c_str(), params_of(net).data(),
                         static_cast<int>(params_of(net).size()), 1, 0, shapes.count(),
                         shapes.keys.data(), shapes.begins.data(), shapes.dims.data(), &handle),
            0)
      << MXGetLastError();
  return handle;
}

Floats output(PredictorHandle handle, std::uint32_t index = 0) {
  std::uint32_t *shape = nullptr, rank = 0;
  EXPECT_EQ(MXPredGetOutputShape(handle, index, &shape, &rank), 0) << MXGetLastError();
  std::uint32_t size = 1;
  for (std::uint32_t i = 0; i < rank; ++i) size *= shape[i];
  Floats values(size);
  EXPECT_EQ(MXPredGetOutput(handle, index, values.data(), size), 0) << MXGetLastError();
  return values;
}

Floats forward(PredictorHandle handle, const NDArray& data) {
  const Floats values = data.to_vector<float>();
  EXPECT_EQ(
      MXPredSetInput(handle, "data", values.data(), static_cast<std::uint32_t>(values.size())), 0)
      << MXGetLastError();
  EXPECT_EQ(MXPredForward(handle), 0) << MXGetLastError();
  return output(handle);
}

/// -1, and a reason with all these parts.
template <class... Parts>
void expect_failure(int status, const Parts&... parts) {
  EXPECT_EQ(status, -1);
  const std::string text = MXGetLastError();
  for (const std::string& part : std::vector<std::string>{parts...})
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
}

TEST(GoldenCPredict, answers_as_mxnet_does) {
  const Json recorded = golden::read_json(golden::path_of("predict/predict.json"));
  int compared = 0;
  for (const Json& one : recorded.at("cases")) {
    const std::string net = one.at("net");
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> given;
    std::vector<golden::Tensor> data;
    for (const auto& [name, how] : one.at("inputs").items()) {
      data.push_back(golden::read_tensor(how));
      data.back().name = name;
      given.emplace_back(name, how.at("shape").get<std::vector<std::uint32_t>>());
    }
    CShapes shapes(given);
    PredictorHandle handle = nullptr;
    const auto size = static_cast<int>(params_of(net).size());
    if (one.contains("outputs")) {
      Names nodes;
      std::vector<const char*> keys;
      for (const std::string& name : one["outputs"].get<Names>())
        nodes.push_back(name.substr(0, name.size() - std::strlen("_output")));
      for (const std::string& name : nodes) keys.push_back(name.c_str());
      ASSERT_EQ(MXPredCreatePartialOut(json_of(net).c_str(), params_of(net).data(), size, 1, 0,
                                       shapes.count(), shapes.keys.data(), shapes.begins.data(),
                                       shapes.dims.data(), static_cast<std::uint32_t>(keys.size()),
                                       keys.data(), &handle),
                0)
          << MXGetLastError();
    } else if (net == "wide") {
      const char* typed[] = {"data"};
      const int types[] = {1};
      ASSERT_EQ(MXPredCreateEx(json_of(net).c_str(), params_of(net).data(), size, 1, 0,
                               shapes.count(), shapes.keys.data(), shapes.begins.data(),
                               shapes.dims.data(), 1, typed, types, &handle),
                0)
          << MXGetLastError();
    } else {
      handle = create(net, shapes);
    }
    for (const golden::Tensor& t : data) {
      const NDArray array = t.array();
      ASSERT_EQ(MXPredSetInput(handle, t.name.c_str(), static_cast<const float*>(array.data()),
                               static_cast<std::uint32_t>(array.size())),
                0)
          << MXGetLastError();
    }
    ASSERT_EQ(MXPredForward(handle), 0) << MXGetLastError();
    for (std::size_t i = 0; i < one.at("results").size(); ++i) {
      const golden::Tensor want = golden::read_tensor(one.at("results")[i]);
      const auto index = static_cast<std::uint32_t>(i);
      std::uint32_t *shape = nullptr, rank = 0;
      ASSERT_EQ(MXPredGetOutputShape(handle, index, &shape, &rank), 0);
      EXPECT_EQ(Shape(std::vector<std::int64_t>(shape, shape + rank)), want.shape);
      int type = -1;
      ASSERT_EQ(MXPredGetOutputType(handle, index, &type), 0);
      EXPECT_EQ(static_cast<DType>(type), want.dtype);
      NDArray got(want.shape, cpu(), want.dtype);
      ASSERT_EQ(MXPredGetOutput(handle, index, static_cast<float*>(got.mutable_data()),
                                static_cast<std::uint32_t>(got.size())),
                0);
      EXPECT_TRUE(
          golden::matches(HostTensor::from(got), want, golden::recorded_tolerance(want.dtype)));
    }
    EXPECT_EQ(MXPredFree(handle), 0);
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

TEST(CPredict, equals_the_predictor) {
  const PredictorHandle handle = create("gap", CShapes({{"data", {2, 3, 8, 8}}}));
  EXPECT_EQ(forward(handle, image(2)),
            recorded_predictor("gap").predict(image(2))[0].to_vector<float>());
  EXPECT_EQ(MXPredFree(handle), 0);
}

// The label's shape follows, and need not be named as MXNet wants it.
TEST(CPredict, reshape_shares_weights_and_leaves_the_old_one) {
  const PredictorHandle one = create("gap", CShapes({{"data", {1, 3, 8, 8}}}));
  const CShapes larger({{"data", {3, 3, 10, 9}}});
  PredictorHandle three = nullptr;
  auto keys = larger.keys;
  ASSERT_EQ(MXPredReshape(1, keys.data(), larger.begins.data(), larger.dims.data(), one, &three), 0)
      << MXGetLastError();
  const Predictor predictor = recorded_predictor("gap");
  EXPECT_EQ(forward(three, image(3, 10, 9)),
            predictor.predict(image(3, 10, 9))[0].to_vector<float>());
  EXPECT_EQ(forward(one, image(1)), predictor.predict(image(1))[0].to_vector<float>());
  EXPECT_EQ(MXPredFree(one), 0);
  EXPECT_EQ(forward(three, image(3, 10, 9, 5)),
            predictor.predict(image(3, 10, 9, 5))[0].to_vector<float>());
  EXPECT_EQ(MXPredFree(three), 0);
}

TEST(CPredict, step_by_step) {
  const PredictorHandle handle = create("gap", CShapes({{"data", {1, 3, 8, 8}}}));
  const Floats wanted = forward(handle, image(1));
  const Floats other = image(1, 8, 8, 3).to_vector<float>();
  ASSERT_EQ(MXPredSetInput(handle, "data", other.data(), 192), 0);
  int left = 1, steps = 0, before = 0;
  for (; left != 0; ++steps) {
    ASSERT_EQ(MXPredPartialForward(handle, steps, &left), 0) << MXGetLastError();
    EXPECT_TRUE(steps == 0 || left == before - 1);
    before = left;
  }
  EXPECT_GT(steps, 5);
  EXPECT_EQ(output(handle),
            recorded_predictor("gap").predict(image(1, 8, 8, 3))[0].to_vector<float>());
  expect_failure(MXPredPartialForward(handle, -1, &left), "step is -1");
  ASSERT_EQ(MXPredPartialForward(handle, 0, &left), 0);
  expect_failure(MXPredPartialForward(handle, 2, &left), "step 2 cannot follow step 0");
  EXPECT_EQ(forward(handle, image(1)), wanted);  // a run that was begun is given up
  EXPECT_EQ(MXPredFree(handle), 0);
}

TEST(ThreadsCPredict, one_handle_for_each_thread) {
  constexpr int kThreads = 8;
  CShapes shapes({{"data", {2, 3, 8, 8}}});
  PredictorHandle handles[kThreads] = {};
  ASSERT_EQ(MXPredCreateMultiThread(json_of("gap").c_str(), params_of("gap").data(),
                                    static_cast<int>(params_of("gap").size()), 1, 0, 1,
                                    shapes.keys.data(), shapes.begins.data(), shapes.dims.data(),
                                    kThreads, handles),
            0)
      << MXGetLastError();
  const Predictor serial = recorded_predictor("gap", {.threads = 1});
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto at = static_cast<std::size_t>(t);
      for (std::uint64_t i = 0; i < 30; ++i) {
        const NDArray x = image(2, 8, 8, static_cast<std::uint64_t>(t) * 100 + i);
        wrong[at] += forward(handles[at], x) != serial.predict(x)[0].to_vector<float>();
      }
      wrong[at] += MXPredForward(nullptr) != -1;
      wrong[at] += std::string(MXGetLastError()).find("null pointer") == std::string::npos;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
  for (const PredictorHandle handle : handles) EXPECT_EQ(MXPredFree(handle), 0);
}

TEST(CPredict, errors_belong_to_their_thread) {
  expect_failure(MXPredForward(nullptr), "PredictorHandle is a null pointer");
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = MXGetLastError(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_NE(std::string(MXGetLastError()).find("null pointer"), std::string::npos);
}

TEST(CPredict, lists_of_arrays) {
  const std::string bytes = file_text(golden::path_of("predict/wide-0000.params"));
  NDListHandle list = nullptr;
  std::uint32_t count = 0;
  ASSERT_EQ(MXNDListCreate(bytes.data(), static_cast<int>(bytes.size()), &list, &count), 0)
      << MXGetLastError();
  const NDArrayMap wanted = load(golden::path_of("predict/wide-0000.params")).map();
  ASSERT_EQ(count, wanted.size());
  std::vector<const float*> datas;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    const float* data = nullptr;
    const std::uint32_t* shape = nullptr;
    std::uint32_t rank = 0;
    ASSERT_EQ(MXNDListGet(list, i, &key, &data, &shape, &rank), 0) << MXGetLastError();
    const NDArray& array = wanted.at(key);
    EXPECT_EQ(Shape(std::vector<std::int64_t>(shape, shape + rank)), array.shape());
    EXPECT_EQ(Floats(data, data + array.size()), array.to_vector<float>());
  }
  const char* key = nullptr;
  const float* data = nullptr;
  const std::uint32_t* shape = nullptr;
  std::uint32_t rank = 0;
  expect_failure(MXNDListGet(list, count, &key, &data, &shape, &rank), "was requested");
  EXPECT_EQ(MXNDListFree(list), 0);
  expect_failure(MXNDListGet(list, 0, &key, &data, &shape, &rank),
                 "NDListHandle was already freed");
  expect_failure(MXNDListFree(list), "NDListHandle was already freed");
  expect_failure(MXNDListCreate("no arrays", 9, &list, &count));
  expect_failure(MXNDListCreate(nullptr, 9, &list, &count), "nd_file_bytes is a null pointer");
}

TEST(BadInputCPredict, handles) {
  const PredictorHandle handle = create("gap", CShapes({{"data", {1, 3, 8, 8}}}));
  const float number = 0;
  float answer[5];
  expect_failure(MXPredGetOutput(handle, 0, answer, 5), "call MXPredForward first");
  ASSERT_EQ(MXPredForward(handle), 0);
  expect_failure(MXPredGetOutput(handle, 1, answer, 5), "output 1 was requested", "softmax_output");
  expect_failure(MXPredGetOutput(handle, 0, answer, 4), "size is 4", "(1, 5)");
  expect_failure(MXPredGetOutput(handle, 0, nullptr, 5), "data is a null pointer");
  expect_failure(MXPredSetInput(handle, "dta", &number, 1), "no input 'dta'", "data");
  expect_failure(MXPredSetInput(handle, "fc_weight", &number, 1), "'fc_weight' is a parameter");
  expect_failure(MXPredSetInput(handle, "data", &number, 1), "size is 1", "(1, 3, 8, 8)", "192");
  expect_failure(MXPredSetInput(handle, nullptr, &number, 1), "key is a null pointer");
  expect_failure(MXPredSetInput(handle, "data", nullptr, 192), "data is a null pointer");
  expect_failure(MXPredPartialForward(handle, 0, nullptr), "step_left is a null pointer");
  expect_failure(MXPredGetOutputShape(handle, 0, nullptr, nullptr), "null pointer");
  expect_failure(MXPredGetOutputType(handle, 0, nullptr), "null pointer");
  EXPECT_EQ(MXPredForward(handle), 0);
  EXPECT_EQ(MXPredFree(handle), 0);
  // A newer handle does not make the old one good again.
  const PredictorHandle newer = create("gap", CShapes({{"data", {1, 3, 8, 8}}}));
  expect_failure(MXPredForward(handle), "PredictorHandle was already freed");
  expect_failure(MXPredFree(handle), "PredictorHandle was already freed");
  expect_failure(MXPredFree(nullptr), "null pointer");
  expect_failure(MXNDListFree(newer), "NDListHandle was already freed, or never created");
  int left = 0;
  expect_failure(MXPredPartialForward(handle, 0, &left), "freed");
  EXPECT_EQ(MXPredFree(newer), 0);
}

TEST(BadInputCPredict, creation) {
  CShapes shapes({{"data", {1, 3, 8, 8}}});
  PredictorHandle out = nullptr;
  const auto make = [&](const char* json, const void* params, int size, int device, CShapes given,
                        PredictorHandle* to) {
    return MXPredCreate(json, params, size, device, 0, given.count(), given.keys.data(),
                        given.begins.data(), given.dims.data(), to);
  };
  const char* json = json_of("gap").c_str();
  const void* params = params_of("gap").data();
  const auto size = static_cast<int>(params_of("gap").size());
  expect_failure(make(nullptr, params, size, 1, shapes, &out), "symbol_json_str is a null pointer");
  expect_failure(make(json, nullptr, size, 1, shapes, &out), "param_bytes is a null pointer");
  expect_failure(make(json, params, size, 1, shapes, nullptr), "out is a null pointer");
  expect_failure(make(json, params, -1, 1, shapes, &out), "param_size is -1");
  expect_failure(make(json, params, size, 9, shapes, &out), "dev_type is 9");
  expect_failure(make("{", params, size, 1, shapes, &out));
  expect_failure(make(json, params, size / 2, 1, shapes, &out));
  expect_failure(make(json, params_of("pair").data(), static_cast<int>(params_of("pair").size()), 1,
                      shapes, &out),
                 "missing:", "conv1_weight");
  expect_failure(make(json, params, size, 1, CShapes({{"dta", {1, 3, 8, 8}}}), &out), "data",
                 "input_keys has 'dta'");
  expect_failure(make(json, params, size, 1, CShapes({{"data", {1, 4, 8, 8}}}), &out), "conv1");
  expect_failure(MXPredCreate(json, params, size, 1, 0, 1, nullptr, nullptr, nullptr, &out),
                 "input_keys is a null pointer");
  const std::uint32_t backwards[] = {4, 0};
  expect_failure(MXPredCreate(json, params, size, 1, 0, 1, shapes.keys.data(), backwards,
                              shapes.dims.data(), &out),
                 "input_shape_indptr");
  const char* inside[] = {"relu9"};
  expect_failure(MXPredCreatePartialOut(json, params, size, 1, 0, 1, shapes.keys.data(),
                                        shapes.begins.data(), shapes.dims.data(), 1, inside, &out),
                 "relu9_output", "relu1_output");
  expect_failure(MXPredCreateMultiThread(json, params, size, 1, 0, 1, shapes.keys.data(),
                                         shapes.begins.data(), shapes.dims.data(), 0, &out),
                 "num_threads is 0");
  expect_failure(
      MXPredCreateMultiThread(json, params, size, 1, 0, 1, shapes.keys.data(), shapes.begins.data(),
                              shapes.dims.data(), 2147483647, &out),
      "2147483647 threads");
  EXPECT_EQ(out, nullptr);
  // As in MXNet, a name that the network does not have is ignored if the others suffice.
  ASSERT_EQ(make(json, params, size, 1, CShapes({{"data", {1, 3, 8, 8}}, {"other", {4}}}), &out),
            0);
  const CShapes bad({{"data", {1, 4, 8, 8}}});
  auto keys = bad.keys;
  PredictorHandle reshaped = nullptr;
  expect_failure(MXPredReshape(1, keys.data(), bad.begins.data(), bad.dims.data(), out, &reshaped),
                 "conv1");
  EXPECT_EQ(MXPredForward(out), 0);
  EXPECT_EQ(MXPredFree(out), 0);
  expect_failure(MXPredReshape(1, keys.data(), bad.begins.data(), bad.dims.data(), out, &reshaped),
                 "freed");
}

}  // namespace
}  // namespace symbind
