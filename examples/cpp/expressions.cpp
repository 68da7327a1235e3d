// ctest: run
// Symbols are arithmetic, and backward takes the gradient of what comes after (S29).

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

int main() {
  const Symbol a = Variable("a"), b = Variable("b");
  const Symbol c = 2.0 * a + b;
  expect(c.list_arguments() == std::vector<std::string>{"a", "b"}, "c is made of a and b");

  const NDArray a_grad = NDArray::zeros({2}), b_grad = NDArray::zeros({2});
  Executor executor =
      c.bind(cpu(), NDArrayMap{{"a", NDArray({1, 2}, {2})}, {"b", NDArray({2, 3}, {2})}},
             {.args_grad = NDArrayMap{{"a", a_grad}, {"b", b_grad}}});

  const NDArray out = executor.forward(true)[0];
  expect(out.to_vector<float>() == std::vector<float>{4, 7}, "c = 2 a + b = [4, 7]");

  // c is not a loss, so backward needs a head gradient: here c itself.
  executor.backward({out});
  expect(a_grad.to_vector<float>() == std::vector<float>{8, 14}, "da = 2 dc = [8, 14]");
  expect(b_grad.to_vector<float>() == std::vector<float>{4, 7}, "db = dc = [4, 7]");
}
