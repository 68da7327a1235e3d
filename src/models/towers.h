// Blocks of Inception v3 and v4: parallel towers of convolutions, concatenated.
#pragma once

#include <string>
#include <vector>

#include "models/layers.h"

namespace symbind::models {

/// One convolution of a tower; its name is the block's name plus `suffix`.
struct Conv {
  std::string suffix;
  int filters;
  Window window = {};
};
/// Convolutions in sequence.
using Tower = std::vector<Conv>;

inline Symbol build_tower(const std::string& block, Symbol x, const Tower& tower) {
  for (const Conv& conv : tower) x = conv2d(block + conv.suffix, x, conv.filters, conv.window);
  return x;
}

/// A window whose padding keeps the size.
inline Window same(int height, int width) {
  return {.kernel = {height, width}, .pad = {height / 2, width / 2}};
}
/// 3 x 3 with stride 2 and no padding.
inline Window halving() { return {.kernel = {3, 3}, .stride = {2, 2}}; }
inline Window unpadded3x3() { return {.kernel = {3, 3}}; }

}  // namespace symbind::models
