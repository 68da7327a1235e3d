// ctest: run
// An executor works on the very arrays it was bound to (S30).

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

int main() {
  const Symbol y = Variable("x") + 1.0;
  NDArray x({1, 2}, {2});
  Executor executor = y.bind(cpu(), NDArrayMap{{"x", x}});
  expect(executor.forward()[0].to_vector<float>() == std::vector<float>{2, 3}, "x + 1 = [2, 3]");

  x.set({1}, 3.0);
  expect(executor.forward()[0].to_vector<float>() == std::vector<float>{2, 4},
         "a change of x is seen by the next forward: [2, 4]");
  expect(executor.arg_arrays()[0].aliases(x), "they are one array");

  // Values given to forward are copied into that array; its memory stays where it is.
  executor.forward(false, {{"x", NDArray({10, 20}, {2})}});
  expect(x.to_vector<float>() == std::vector<float>{10, 20}, "forward(x=...) writes into x");
}
