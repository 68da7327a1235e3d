// Decided here: every worker gets the rows of all others and adds them up. Two gathers: how many
// rows each worker has, then its row numbers and rows. A row that a worker does not send is added
// as zeros: -0 + 0 is 0.

#include "kvstore/row_sums.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "kvstore/reduce.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

using Row = std::int64_t;
constexpr Row kEnd = std::numeric_limits<Row>::max();

std::vector<Row> nonzero_rows(const std::byte* data, std::size_t rows, std::size_t bytes) {
  std::vector<Row> found;
  for (std::size_t row = 0; row < rows; ++row)
    if (std::any_of(data + row * bytes, data + (row + 1) * bytes,
                    [](std::byte b) { return b != std::byte{0}; }))
      found.push_back(static_cast<Row>(row));
  return found;
}

/// What one worker sends: row numbers, ascending, then the rows.
struct Part {
  const std::byte* data;
  std::size_t rows, row_bytes, next = 0;

  Row row() const {
    Row value = kEnd;
    if (next < rows) std::memcpy(&value, data + next * sizeof value, sizeof value);
    return value;
  }
  const std::byte* values() const { return data + rows * sizeof(Row) + next * row_bytes; }
};

void add_rows(std::vector<Part> parts, const NDArray& sum, std::size_t rows) {
  std::byte* out = write_pointer(sum);
  std::memset(out, 0, sum.nbytes());
  const std::size_t bytes = parts.front().row_bytes;
  const std::vector<std::byte> zeros(bytes);
  std::vector<const std::byte*> in(parts.size());
  while (true) {
    Row row = kEnd;
    for (const Part& part : parts) row = std::min(row, part.row());
    if (row == kEnd) return;
    check(row >= 0 && static_cast<std::size_t>(row) < rows, ErrorKind::kState,
          "a worker sends row {} of an array with {} rows", row, rows);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool has = parts[i].row() == row;
      in[i] = has ? parts[i].values() : zeros.data();
      parts[i].next += has ? 1 : 0;
    }
    add_in_order(sum.dtype(), in, out + static_cast<std::size_t>(row) * bytes, bytes);
  }
}

}  // namespace

void RowSums::sum(const std::string& what, const NDArray& array) {
  if (array.size() == 0) return;
  const std::size_t n = static_cast<std::size_t>(job_.count());
  const std::size_t me = static_cast<std::size_t>(job_.rank());
  const std::size_t rows = static_cast<std::size_t>(array.shape()[0]);
  const std::size_t row_bytes = array.nbytes() / rows;
  const std::byte* data = read_pointer(array);
  const std::vector<Row> mine = nonzero_rows(data, rows, row_bytes);

  const NDArray counts({job_.count()}, cpu(), DType::kInt64);
  auto* count = reinterpret_cast<std::int64_t*>(write_pointer(counts));
  count[me] = static_cast<std::int64_t>(mine.size());
  job_.wait(*job_.start_gather(number_, count_++, counts), what);

  std::vector<std::size_t> bytes, offsets{0};
  for (std::size_t i = 0; i < n; ++i) {
    check(count[i] >= 0 && static_cast<std::size_t>(count[i]) <= rows, ErrorKind::kState,
          "worker {} sends {} rows of an array with {} rows", i, count[i], rows);
    bytes.push_back(static_cast<std::size_t>(count[i]) * (sizeof(Row) + row_bytes));
    offsets.push_back(offsets.back() + bytes.back());
  }
  const NDArray all({static_cast<std::int64_t>(offsets.back())}, cpu(), DType::kUint8);
  std::byte* place = write_pointer(all) + offsets[me];
  if (!mine.empty()) std::memcpy(place, mine.data(), mine.size() * sizeof(Row));
  place += mine.size() * sizeof(Row);
  for (std::size_t i = 0; i < mine.size(); ++i)
    std::memcpy(place + i * row_bytes, data + static_cast<std::size_t>(mine[i]) * row_bytes,
                row_bytes);
  job_.wait(*job_.start_gather(number_, count_++, all, bytes), what);

  std::vector<Part> parts;
  for (std::size_t i = 0; i < n; ++i)
    parts.push_back(
        {read_pointer(all) + offsets[i], static_cast<std::size_t>(count[i]), row_bytes});
  add_rows(std::move(parts), array, rows);
}

}  // namespace symbind
