// Reading MXNet's array files, V0 to V3, from untrusted sources.
//
// Decided here: every number is checked against the remaining bytes before memory is allocated for
// it; any fault is an Error kIo with path, offset and what the file looks like. Arrays are created
// on cpu(0), whatever context the file names. Sparse records become dense, with a note in the log,
// and are saved as sparse again; their total size per file is limited (base/limits.h). An empty
// record is NDArray(). Bytes after the end cause a warning only, as in MXNet.

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <symbind/log.h>
#include <symbind/ndarray.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/settings.h"
#include "device/runtime.h"
#include "ndarray/access.h"
#include "ndarray/convert.h"
#include "ndarray/params_format.h"
#include "ndarray/params_read.h"
#include "ndarray/stored_form.h"

namespace symbind {
namespace {

class RecordReader {
 public:
  RecordReader(ByteReader& in, SparseBudget& sparse) : in_(in), sparse_(sparse) {}

  NDArray read() {
    const auto version = in_.read<std::uint32_t>();
    // In V3 an extent of 0 has another meaning than in older records; MXNet refuses to mix them,
    // except for scalars.
    if (version != params::kV3 && is_np_shape())
      in_.fail("an array of MXNet's legacy shapes; read it outside np_shape (set_np_shape(false))");
    if (version == params::kV2 || version == params::kV3) return read_v2(version == params::kV3);
    if (version == params::kV1) return read_legacy(read_shape<std::int64_t>(read_rank()));
    if (version > kMaxRank)
      in_.fail(fmt::format("{:#010x} is not the start of an array record", version));
    return read_legacy(read_shape<std::uint32_t>(static_cast<int>(version)));
  }

 private:
  struct Part {
    Shape shape;
    DType dtype = DType::kUnknown;
    std::size_t bytes = 0;
  };

  NDArray read_v2(bool scalars) {
    const auto type = in_.read<std::int32_t>();
    if (type < params::kDense || type > params::kCsr)
      in_.fail(fmt::format("storage type {} is unknown", type));
    const bool sparse = type != params::kDense;
    Shape stored;
    if (sparse) stored = read_shape<std::int64_t>(read_rank());
    const auto rank = in_.read<std::int32_t>();
    if (scalars && rank == -1) return {};
    if (!scalars && rank == 0) return {};
    if (scalars && rank != 0 && !is_np_shape())
      in_.fail("an array saved under np_shape; read it inside np_shape (set_np_shape(true))");
    const Shape shape = read_shape<std::int64_t>(checked_rank(rank));
    skip_context();
    const DType dtype = read_dtype();
    if (!sparse) return read_data(available(shape, dtype));
    return read_sparse(type, shape, measure(stored, dtype));
  }

  NDArray read_legacy(const Shape& shape) {
    if (shape.rank() == 0) return {};
    skip_context();
    return read_data(available(shape, read_dtype()));
  }

  int read_rank() { return checked_rank(in_.read<std::int32_t>()); }

  int checked_rank(std::int32_t rank) {
    if (rank < 0 || rank > kMaxRank)
      in_.fail(fmt::format("an array of {} axes (the most is {})", rank, kMaxRank));
    return rank;
  }

  template <class Dim>
  Shape read_shape(int rank) {
    Shape shape;
    for (int axis = 0; axis < rank; ++axis) {
      const auto dim = static_cast<std::int64_t>(in_.read<Dim>());
      if (dim < 0) in_.fail(fmt::format("axis {} has the extent {}", axis, dim));
      shape.push_back(dim);
    }
    return shape;
  }

  void skip_context() {
    const auto type = in_.read<std::int32_t>();
    const auto id = in_.read<std::int32_t>();
    const bool known = type == 1 || type == 2 || type == 3 || type == 5;
    if (!known || id < 0) in_.fail(fmt::format("device type {} with id {} is unknown", type, id));
  }

  DType read_dtype() {
    const auto flag = in_.read<std::int32_t>();
    if (flag < 0 || flag > static_cast<std::int32_t>(DType::kBFloat16))
      in_.fail(fmt::format("dtype flag {} is unknown", flag));
    return static_cast<DType>(flag);
  }

  /// The bytes of shape × dtype; overflow is an error of the file.
  Part measure(const Shape& shape, DType dtype) {
    try {
      return {shape, dtype, bytes_of(shape, dtype)};
    } catch (const Error&) {
      in_.fail(fmt::format("an array of shape {} is impossibly large", shape.str()));
    }
  }

  Part available(const Shape& shape, DType dtype) {
    Part part = measure(shape, dtype);
    if (part.bytes > in_.remaining())
      in_.fail(
          fmt::format("the file ends too early: an array of shape {} and dtype {} wants {} "
                      "bytes, {} are left",
                      shape.str(), dtype_name(dtype), part.bytes, in_.remaining()));
    return part;
  }

  NDArray read_data(const Part& part) {
    const std::span<const std::byte> bytes = in_.bytes(part.bytes);
    NDArray array = NDArray::from_host(bytes.data(), part.shape, part.dtype, cpu());
    if (part.dtype == DType::kBool) {
      // Reading a bool other than 0 and 1 is undefined behaviour.
      std::byte* data = write_pointer(array);
      for (std::size_t i = 0; i < part.bytes; ++i)
        if (data[i] != std::byte{0}) data[i] = std::byte{1};
    }
    return array;
  }

  NDArray read_sparse(std::int32_t type, const Shape& shape, const Part& stored) {
    std::vector<Part> aux;
    for (int i = 0; i < (type == params::kRowSparse ? 1 : 2); ++i) {
      const DType dtype = read_dtype();
      if (dtype != DType::kInt64 && dtype != DType::kInt32)
        in_.fail(
            fmt::format("a sparse index of dtype {}; int64 and int32 are read", dtype_name(dtype)));
      aux.push_back(measure(read_shape<std::int64_t>(read_rank()), dtype));
    }
    const NDArray values = read_data(available(stored.shape, stored.dtype));
    std::vector<NDArray> index;
    std::vector<std::vector<std::int64_t>> places;
    for (const Part& part : aux) {
      index.push_back(read_data(available(part.shape, part.dtype)));
      places.push_back(index.back().to_vector<std::int64_t>());
    }
    check_dense_size(measure(shape, stored.dtype));
    log_info(fmt::format("{}: a {} array of shape {} was read as a dense one", in_.path(),
                         type == params::kRowSparse ? "row_sparse" : "csr", shape.str()));
    NDArray result = NDArray::zeros(shape, cpu(), stored.dtype);
    if (type == params::kRowSparse)
      scatter_rows(values, places[0], result);
    else
      scatter_csr(values, places[0], places[1], result);
    note_stored_form(result, static_cast<params::StorageType>(type), std::move(index));
    return result;
  }

  void check_dense_size(const Part& dense) {
    const auto refuse = [&](std::string_view why) {
      in_.fail(fmt::format("a sparse array of shape {} wants {} bytes when dense: {}",
                           dense.shape.str(), dense.bytes, why));
    };
    try {
      sparse_.take(dense.bytes);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (dense.bytes > cpu_runtime().memory().free / 2) refuse("more than half of the free memory");
  }

  void scatter_rows(const NDArray& values, const std::vector<std::int64_t>& rows,
                    const NDArray& into) {
    const Shape& shape = into.shape();
    Shape wanted = shape;
    if (shape.rank() > 0) wanted[0] = static_cast<std::int64_t>(rows.size());
    if (shape.rank() == 0 || !(values.shape() == wanted))
      in_.fail(fmt::format("row_sparse rows of shape {} do not fit {}", values.shape().str(),
                           shape.str()));
    const std::size_t row_bytes =
        bytes_of(shape, into.dtype()) == 0 ? 0 : into.nbytes() / static_cast<std::size_t>(shape[0]);
    std::byte* out = write_pointer(into);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      check_index(rows[i], shape[0]);
      if (row_bytes > 0)
        std::memcpy(out + static_cast<std::size_t>(rows[i]) * row_bytes,
                    read_pointer(values) + i * row_bytes, row_bytes);
    }
  }

  void scatter_csr(const NDArray& values, const std::vector<std::int64_t>& starts,
                   const std::vector<std::int64_t>& columns, const NDArray& into) {
    const Shape& shape = into.shape();
    const auto count = static_cast<std::int64_t>(columns.size());
    if (shape.rank() != 2 || values.size() != count ||
        static_cast<std::int64_t>(starts.size()) != shape[0] + 1)
      in_.fail(fmt::format("csr parts do not fit the shape {}", shape.str()));
    if (starts.front() != 0 || starts.back() != count)
      in_.fail(fmt::format("csr rows run from {} to {} and there are {} values", starts.front(),
                           starts.back(), count));
    const std::size_t item = size_of(into.dtype());
    std::byte* out = write_pointer(into);
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      const std::int64_t begin = starts[static_cast<std::size_t>(row)];
      const std::int64_t end = starts[static_cast<std::size_t>(row) + 1];
      if (begin < 0 || begin > end || end > count)
        in_.fail(fmt::format("csr row {} runs from {} to {} of {}", row, begin, end, count));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = columns[static_cast<std::size_t>(i)];
        check_index(column, shape[1]);
        std::memcpy(out + static_cast<std::size_t>(row * shape[1] + column) * item,
                    read_pointer(values) + static_cast<std::size_t>(i) * item, item);
      }
    }
  }

  void check_index(std::int64_t index, std::int64_t size) {
    if (index < 0 || index >= size)
      in_.fail(fmt::format("a sparse index {} is out of bounds for size {}", index, size));
  }

  ByteReader& in_;
  SparseBudget& sparse_;
};

constexpr std::size_t kLeastRecord = 4;  // a version word
constexpr std::size_t kLeastName = 8;    // a length

std::vector<std::string> read_names(ByteReader& in, std::uint64_t arrays) {
  const auto count = in.read<std::uint64_t>();
  if (count != 0 && count != arrays) in.fail(fmt::format("{} names for {} arrays", count, arrays));
  if (count > in.remaining() / kLeastName)
    in.fail(fmt::format("the file ends too early for {} names", count));
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bytes = in.bytes(in.read<std::uint64_t>());
    check_limit(Limit::kNameBytes, static_cast<std::int64_t>(bytes.size()), in.path(),
                ErrorKind::kIo);
    names.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!seen.insert({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).second)
      in.fail(fmt::format("the name '{}' occurs twice", names.back().substr(0, 100)));
  }
  return names;
}

NamedArrays read_list(ByteReader& in) {
  if (in.read<std::uint64_t>() != params::kListMagic) in.fail("not an NDArray file");
  if (in.read<std::uint64_t>() != 0) in.fail("the reserved word of the header is not 0");
  const auto count = in.read<std::uint64_t>();
  if (count > in.remaining() / kLeastRecord)
    in.fail(fmt::format("the file ends too early for {} arrays", count));
  check_limit(Limit::kFileArrays, static_cast<std::int64_t>(count), in.path(), ErrorKind::kIo);
  NamedArrays result;
  SparseBudget sparse(in.path(), in.offset() + in.remaining());
  for (std::uint64_t i = 0; i < count; ++i) {
    try {
      result.arrays.push_back(RecordReader(in, sparse).read());
    } catch (const Error& error) {
      throw error.with_context(fmt::format("in array {} of {}", i + 1, count));
    }
  }
  result.names = read_names(in, count);
  if (in.remaining() > 0)
    log_warning(
        fmt::format("{}: {} bytes after the last array are ignored", in.path(), in.remaining()));
  return result;
}

/// Runs `read`; adds to its errors what the bytes look like.
template <class F>
auto explain(std::span<const std::byte> bytes, const char* wanted, F&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) throw;
    std::uint64_t magic = 0;
    if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
    const bool ours = magic == params::kListMagic;
    throw error.with_context(fmt::format(
        "looks like: {}; wanted: {}", ours ? "a damaged NDArray file" : looks_like(bytes), wanted));
  }
}

NamedArrays read_named(std::span<const std::byte> bytes, const std::string& path) {
  return explain(bytes, "an NDArray file (.params)", [&] {
    ByteReader in(bytes, path);
    return read_list(in);
  });
}

}  // namespace

NDArrayMap NamedArrays::map() const {
  check(names.size() == arrays.size(), "a list of {} arrays without names is not a map",
        arrays.size());
  NDArrayMap result;
  for (std::size_t i = 0; i < names.size(); ++i) result.emplace(names[i], arrays[i]);
  return result;
}

NamedArrays load(const std::string& path) {
  settings::refresh();
  return read_named(read_file(path), path);
}

NamedArrays load_frombuffer(std::span<const std::byte> bytes) {
  settings::refresh();
  return read_named(bytes, "<buffer>");
}

void SparseBudget::take(std::size_t bytes) {
  taken_ = checked_add(taken_, static_cast<std::int64_t>(bytes), "what sparse arrays take");
  check_limit(Limit::kSparseBytes, taken_, owner_, ErrorKind::kIo);
  constexpr std::int64_t kAlways = std::int64_t{256} << 20, kTimes = 4096;
  const auto grown = mul_fits(static_cast<std::int64_t>(file_bytes_), kTimes);
  check(taken_ <= kAlways || !grown || taken_ <= *grown, ErrorKind::kIo,
        "{} has {} bytes of sparse arrays made dense, more than 256 MiB and more than {} times its "
        "{} bytes",
        owner_, taken_, kTimes, file_bytes_);
}

NDArray from_record(std::span<const std::byte> bytes) {
  SparseBudget sparse("the record", bytes.size());
  return read_record(bytes, sparse);
}

NDArray read_record(std::span<const std::byte> bytes, SparseBudget& sparse) {
  return explain(bytes, "one array record", [&] {
    ByteReader in(bytes, "<record>");
    NDArray array = RecordReader(in, sparse).read();
    if (in.remaining() > 0) in.fail(fmt::format("{} bytes after the record", in.remaining()));
    return array;
  });
}

}  // namespace symbind
