// A program outside the project: it sees what was installed and nothing else.
#include <symbind/symbind.h>

#include <cstdio>

using namespace symbind;

int main() {
  const Symbol data = Variable("data");
  const Symbol fc1 = FullyConnected("fc1", data, {.num_hidden = 128});
  const Symbol act1 = Activation("relu1", fc1, {.act_type = "relu"});
  const Symbol fc2 = FullyConnected("fc2", act1, {.num_hidden = 10});
  const Symbol out = SoftmaxOutput("softmax", fc2);

  std::printf("consumer: %s", out.str().c_str());
  for (const std::string& name : out.list_arguments()) std::printf(" %s", name.c_str());
  std::printf("\n");
  const bool same = Symbol::load_json(out.tojson()).tojson() == out.tojson();
  return same && out.list_arguments().size() == 6 ? 0 : 1;
}
