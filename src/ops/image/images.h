#pragma once
// Shared by the operators on images: an image is (height, width, channels), or a batch of such.

#include <symbind/rules.h>

#include "base/check.h"

namespace symbind {

/// A shape as images: `count` of them.
struct Images {
  explicit Images(const Shape& s)
      : count(s.rank() == 4 ? s[0] : 1),
        height(s[s.rank() - 3]),
        width(s[s.rank() - 2]),
        channels(s[s.rank() - 1]) {}
  std::int64_t size() const { return height * width * channels; }
  std::int64_t count, height, width, channels;
};

/// Throws for a known rank that is not an image's.
inline void check_image_rank(const Shape& shape, const char* op, bool batches = true) {
  check(shape.rank() == 3 || (batches && shape.rank() == 4), ErrorKind::kShape,
        "{} needs an image (height, width, channels){}, not shape {}", op,
        batches ? " or a batch of them" : "", shape.str());
}

/// The shape with another height and width.
inline Shape image_shape(Shape shape, std::int64_t height, std::int64_t width) {
  shape[shape.rank() - 3] = height;
  shape[shape.rank() - 2] = width;
  return shape;
}

}  // namespace symbind
