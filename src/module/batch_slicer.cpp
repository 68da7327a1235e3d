// How a batch is split over devices.

#include <cmath>
#include <numeric>

#include <symbind/detail/executor_group.h>

#include "base/check.h"

namespace symbind {

std::vector<BatchSlice> split_batch(std::int64_t batch_size, const std::vector<double>& work_load) {
  const double total = std::accumulate(work_load.begin(), work_load.end(), 0.0);
  std::vector<std::int64_t> sizes;
  for (const double load : work_load) {
    // nearbyint rounds half to even, as Python's round does.
    sizes.push_back(std::llround(std::nearbyint(load * static_cast<double>(batch_size) / total)));
  }
  const std::int64_t given = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (given < batch_size) sizes.back() += batch_size - given;
  std::vector<BatchSlice> slices;
  std::int64_t end = 0;
  for (const std::int64_t size : sizes) {
    const std::int64_t begin = std::min(end, batch_size);
    end = std::min(begin + size, batch_size);
    check(begin < end,
          "Too many slices. Some splits are empty. A batch of {} rows cannot be split over {} "
          "devices\n  fix:  use a larger batch or fewer devices",
          batch_size, work_load.size());
    slices.push_back({begin, end});
  }
  return slices;
}

}  // namespace symbind
