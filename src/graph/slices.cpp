// The rules of the column `slices` that several operators share.

#include <symbind/operator.h>

namespace symbind {

SlicesRule slices_rule(Slices rule) {
  return [rule](const void*, std::span<const Shape> in, const Shape& out) {
    std::vector<bool> sliced(in.size(), false);
    for (std::size_t i = 0; i < in.size(); ++i)
      sliced[i] = rule == Slices::kFirst
                      ? i == 0
                      : in[i].rank() == out.rank() && in[i].rank() > 0 && in[i][0] == out[0];
    return sliced;
  };
}

}  // namespace symbind
