#pragma once
// Splits the loops of small arrays, so that tests reach the borders of threads' shares with them.

#include <cstdint>

namespace symbind {

/// While it lives, no loop started by this thread asks for more than `most` items in a chunk; 0
/// leaves every loop its own grain. Only tests make one.
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
