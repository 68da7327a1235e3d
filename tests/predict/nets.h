#pragma once
// Networks of the predictor's tests, and what they compute by other means: an executor bound for
// the very shape.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <symbind/executor.h>
#include <symbind/model.h>
#include <symbind/ops.h>
#include <symbind/predictor.h>

#include "support/golden.h"
#include "support/host_tensor.h"

namespace symbind {

using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// The recorded network of this name: convolutions and a global pool ("gap"), two inputs ("pair"),
/// float64 ("wide").
inline Checkpoint recorded_net(const std::string& name) {
  return load_checkpoint(golden::path_of("predict/" + name), 0);
}
inline Predictor recorded_predictor(const std::string& name, const PredictorOptions& options = {}) {
  return Predictor::load(golden::path_of("predict/" + name), 0, options);
}

inline NDArray image(std::int64_t batch, std::int64_t height = 8, std::int64_t width = 8,
                     std::uint64_t seed = 7) {
  return HostTensor::formula({batch, 3, height, width}, seed).array();
}

/// What an executor of its own answers.
inline std::vector<Floats> by_executor(const Checkpoint& net, const NDArrayMap& inputs) {
  ShapeMap shapes;
  for (const auto& [name, array] : inputs) shapes.emplace(name, array.shape());
  Executor executor = net.symbol.simple_bind(cpu(), shapes, {.grad_req = "null"});
  executor.copy_params_from(net.args, net.aux);
  std::vector<Floats> answers;
  for (const NDArray& output : executor.forward(false, inputs))
    answers.push_back(output.to_vector<float>());
  return answers;
}

inline std::vector<Floats> numbers(const std::vector<NDArray>& arrays) {
  std::vector<Floats> all;
  for (const NDArray& array : arrays) all.push_back(array.to_vector<float>());
  return all;
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs `call`, which must throw an Error of this kind with all these parts in its text.
template <class F, class... Parts>
void expect_error(ErrorKind kind, F&& call, const Parts&... parts) {
  try {
    call();
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.kind(), kind) << text;
    for (const std::string& part : std::vector<std::string>{parts...})
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
    return;
  }
  ADD_FAILURE() << "no error";
}

}  // namespace symbind
