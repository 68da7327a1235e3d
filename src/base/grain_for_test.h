#pragma once
// Splits the loops of small arrays, so that tests reach the boundaries between threads' chunks with
// them.

#include <cstdint>

namespace symbind {

/// During its lifetime, loops started by this thread use at most `most` items as their grain; 0
/// keeps every loop's grain. Only tests make one.
class GrainForTest {
 public:
  explicit GrainForTest(std::int64_t most);
  ~GrainForTest();
  GrainForTest(const GrainForTest&) = delete;
  GrainForTest& operator=(const GrainForTest&) = delete;

 private:
  std::int64_t before_;
};

}  // namespace symbind
