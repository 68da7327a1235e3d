#pragma once
// MXNet's reshape codes.

#include <cstdint>
#include <vector>

#include <symbind/shape.h>

namespace symbind {

/// The shape that `codes` make of `from` (fully known):
///   n > 0 that extent · 0 copy the next · -1 whatever is left · -2 copy all the rest
///   -3 the next two multiplied · -4 a b split the next into a × b, one of them may be -1
/// `reverse` reads both from the right, so that the factors of a split precede their -4.
/// Throws kShape if the codes do not fit.
Shape apply_reshape_codes(const Shape& from, const std::vector<std::int64_t>& codes, bool reverse);

}  // namespace symbind
