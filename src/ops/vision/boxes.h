#pragma once
// Boxes (x1, y1, x2, y2): their overlap, their centre and extent.

#include <algorithm>

namespace symbind {

/// Intersection by union, computed in F; 0 where there is no union.
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

}  // namespace symbind
