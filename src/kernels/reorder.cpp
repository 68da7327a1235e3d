// Every layout here is (outer, rows, columns) or its transpose: between plain and a layout with `b`
// channels inside, each image's block of b channels is a matrix b × positions to be transposed. So
// one tiled transpose serves all; only between two channel layouts elements are copied one by one.
#include "kernels/reorder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/build.h"
#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"
#include "kernels/element_type.h"
#include "kernels/vector/transpose.h"

namespace symbind {

namespace {

/// Channels that are adjacent in this layout: 1, 8, 16 or all of them.
std::int64_t inner_channels(const Shape& shape, Layout layout) {
  switch (layout) {
    case Layout::kBlocked8: return 8;
    case Layout::kBlocked16: return 16;
    case Layout::kChannelsLast: return shape[1];
    default: return 1;
  }
}

/// out[c][r] = in[r][c] for a matrix of rows × columns.
template <class T>
void transpose(const T* in, T* out, std::int64_t rows, std::int64_t columns) {
  if constexpr (sizeof(T) == 4) return vector::transposes().best().words(in, out, rows, columns);
  constexpr std::int64_t kTile = 16;
  for (std::int64_t c0 = 0; c0 < columns; c0 += kTile)
    for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
      for (std::int64_t c = c0; c < std::min(columns, c0 + kTile); ++c)
        for (std::int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
          out[c * rows + r] = in[r * columns + c];
}

template <class T>
Prepared transposes(std::int64_t count, std::int64_t rows, std::int64_t columns) {
  return [=](const Args& args) {
    const T* in = args.in<T>(0);
    T* out = args.out<T>(0);
    const std::int64_t size = rows * columns;
    parallel_for(count, grain_of(size), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        transpose(in + i * size, out + i * size, rows, columns);
    });
  };
}

/// Between two layouts that both keep channels inside.
template <class T>
Prepared by_element(const Shape& shape, std::int64_t from, std::int64_t to) {
  return [from, to, channels = shape[1], positions = shape.count(2),
          images = shape[0]](const Args& args) {
    const T* in = args.in<T>(0);
    T* out = args.out<T>(0);
    const auto at = [=](std::int64_t inner, std::int64_t c, std::int64_t p) {
      return c / inner * positions * inner + p * inner + c % inner;
    };
    const std::int64_t grain = grain_of(channels * positions);
    parallel_for(images, grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        for (std::int64_t p = 0; p < positions; ++p)
          for (std::int64_t c = 0; c < channels; ++c)
            out[n * channels * positions + at(to, c, p)] =
                in[n * channels * positions + at(from, c, p)];
    });
  };
}

template <class T>
Prepared prepare_of(const TensorDesc& from, const TensorDesc& to) {
  const Shape& shape = from.shape;
  const std::int64_t a = inner_channels(shape, from.layout), b = inner_channels(shape, to.layout);
  if (a != 1 && b != 1) return by_element<T>(shape, a, b);
  const std::int64_t inner = a * b, positions = shape.count(2);
  SYMBIND_ASSERT(inner > 0 && shape[1] % inner == 0);
  const std::int64_t matrices = shape[0] * (shape[1] / inner);
  return a == 1 ? transposes<T>(matrices, inner, positions)
                : transposes<T>(matrices, positions, inner);
}

/// Between float32 and a 16-bit type. With another layout, too, it is for rare uses: it allocates.
Prepared change_type(const TensorDesc& from, const TensorDesc& to) {
  const Convert convert = fast_converter(from.dtype, to.dtype);
  SYMBIND_ASSERT(convert != nullptr);
  if (!same_bytes(from.shape, from.layout, to.layout)) {
    const TensorDesc between{.shape = from.shape, .dtype = to.dtype, .layout = from.layout};
    return [first = change_type(from, between), bytes = between.bytes(),
            second = prepare_reorder(between, to, DeviceType::kCpu)](const Args& args) {
      std::vector<char> memory(bytes);
      const TensorArg middle{memory.data(), nullptr};
      Args step = args;
      step.outputs = &middle;
      first(step);
      step = args;
      step.inputs = &middle;
      second(step);
    };
  }
  return [convert, n = from.shape.size(), a = size_of(from.dtype),
          b = size_of(to.dtype)](const Args& args) {
    const char* in = args.in<char>(0);
    char* out = args.out<char>(0);
    parallel_for(n, 1 << 15, [=](std::int64_t begin, std::int64_t end) {
      convert(in + static_cast<std::size_t>(begin) * a, out + static_cast<std::size_t>(begin) * b,
              end - begin);
    });
  };
}

}  // namespace

Prepared prepare_reorder(const TensorDesc& from, const TensorDesc& to, DeviceType device) {
  SYMBIND_ASSERT(from.shape == to.shape);
  if (from.dtype != to.dtype) {
    SYMBIND_ASSERT(device == DeviceType::kCpu);
    return change_type(from, to);
  }
  const std::size_t bytes = from.bytes();
  if (device == DeviceType::kGpu) {
    SYMBIND_ASSERT(same_bytes(from.shape, from.layout, to.layout));
    if constexpr (kCuda)
      return [bytes](const Args& args) {
        cuda::check_launch(
            cuda::copy(args.run->stream, args.inputs[0].data, args.outputs[0].data, bytes), "copy");
      };
  }
  if (bytes == 0 || same_bytes(from.shape, from.layout, to.layout))
    return [bytes](const Args& args) {
      if (bytes != 0) std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
    };
  switch (size_of(from.dtype)) {
    case 1: return prepare_of<std::uint8_t>(from, to);
    case 2: return prepare_of<std::uint16_t>(from, to);
    case 4: return prepare_of<std::uint32_t>(from, to);
    default: return prepare_of<std::uint64_t>(from, to);
  }
}

}  // namespace symbind
