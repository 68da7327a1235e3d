#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include <symbind/error.h>

#include "device/runtime.h"

namespace symbind {
namespace {

TEST(CpuRuntime, blocks_are_aligned) {
  DeviceRuntime& host = cpu_runtime();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{5} << 20}) {
    void* data = host.allocate(bytes);
    const std::size_t alignment = bytes > (std::size_t{4} << 20) ? std::size_t{2} << 20 : 64;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % alignment, 0u) << bytes;
    std::memset(data, 1, bytes);
    host.release(data, bytes);
  }
  EXPECT_EQ(host.allocate(0), nullptr);
}

TEST(CpuRuntime, copies_and_clears) {
  DeviceRuntime& host = cpu_runtime();
  int source[3] = {1, 2, 3}, target[3] = {};
  host.copy(target, source, sizeof source, CopyKind::kDeviceToDevice);
  EXPECT_EQ(target[2], 3);
  host.zero(target, sizeof target);
  EXPECT_EQ(target[0], 0);
}

TEST(CpuRuntime, knows_its_memory) {
  const MemoryInfo info = cpu_runtime().memory();
  EXPECT_GT(info.total, std::size_t{1} << 26);
  EXPECT_GT(info.free, 0u);
}

TEST(BadInputMemory, ten_terabytes_names_needed_and_free) {
  try {
    cpu_runtime().allocate(std::size_t{10'000'000'000'000});
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_NE(text.find("needed 10 TB (10000000000000 bytes)"), std::string::npos) << text;
    EXPECT_NE(text.find("free "), std::string::npos) << text;
  }
  void* data = cpu_runtime().allocate(64);
  EXPECT_NE(data, nullptr);
  cpu_runtime().release(data, 64);
}

}  // namespace
}  // namespace symbind
