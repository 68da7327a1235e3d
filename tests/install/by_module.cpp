// What Module says where predict.c asks the C predict API; the same arguments, the same print.
#include <symbind/symbind.h>

#include <cstdio>
#include <cstdlib>

using namespace symbind;

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const Shape shape{std::atoi(argv[3]), 3, std::atoi(argv[4]), std::atoi(argv[5])};
  Symbol net = Symbol::load(argv[1]);
  if (argc > 6) net = net.get_internals()[std::string(argv[6]) + "_output"];
  const ModelParams params = load_params(std::string(argv[2]));
  std::vector<std::string> labels;
  if (argc == 6) labels = {"softmax_label"};
  Module module(net, {.label_names = labels});
  module.bind({{"data", shape}}, {}, {.for_training = false});
  module.set_params(params.args, params.aux, {.allow_extra = true});
  std::vector<float> input(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>(i * 7 % 101) / 101.0F - 0.5F;
  DataBatch batch;
  batch.data = {NDArray::from_vector(input, shape)};
  module.forward(batch, false);
  for (const float value : module.get_outputs()[0].to_vector<float>())
    std::printf("%.9g\n", static_cast<double>(value));
}
