#pragma once
// Boxes, (x1, y1, x2, y2) or centre and extent: their overlap.

#include <algorithm>

namespace symbind {

/// Intersection over union, computed in F; 0 if the union is empty.
template <class F, class T>
F box_overlap(const T* a, const T* b) {
  const auto at = [](const T* box, int i) { return static_cast<F>(box[i]); };
  const F w = std::max(F(0), std::min(at(a, 2), at(b, 2)) - std::max(at(a, 0), at(b, 0)));
  const F h = std::max(F(0), std::min(at(a, 3), at(b, 3)) - std::max(at(a, 1), at(b, 1)));
  const F common = w * h;
  const F all = (at(a, 2) - at(a, 0)) * (at(a, 3) - at(a, 1)) +
                (at(b, 2) - at(b, 0)) * (at(b, 3) - at(b, 1)) - common;
  return all <= 0 ? F(0) : common / all;
}

template <class F>
struct Centred {
  template <class T>
  explicit Centred(const T* box)
      : x((static_cast<F>(box[0]) + static_cast<F>(box[2])) / 2),
        y((static_cast<F>(box[1]) + static_cast<F>(box[3])) / 2),
        width(static_cast<F>(box[2]) - static_cast<F>(box[0])),
        height(static_cast<F>(box[3]) - static_cast<F>(box[1])) {}
  F x, y, width, height;
};

/// A box given by its corners, or by its centre and extent; a box with swapped corners has no area.
template <class F>
struct Corners {
  template <class T>
  Corners(const T* box, bool centred) {
    for (int axis = 0; axis < 2; ++axis) {
      const F first = static_cast<F>(box[axis]), second = static_cast<F>(box[axis + 2]);
      low[axis] = centred ? first - second / 2 : first;
      high[axis] = centred ? first + second / 2 : second;
      extent[axis] = centred ? second : second - first;
    }
    area = extent[0] < 0 || extent[1] < 0 ? F(0) : extent[0] * extent[1];
  }
  F low[2], high[2], extent[2], area;
};

/// Intersection over union; NaN if the union is empty.
template <class F>
F overlap(const Corners<F>& a, const Corners<F>& b) {
  F common = 1;
  for (int axis = 0; axis < 2; ++axis)
    common *=
        std::max(F(0), std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]));
  return common / (a.area + b.area - common);
}

}  // namespace symbind
