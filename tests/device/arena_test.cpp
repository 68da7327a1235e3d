#include "device/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include <symbind/error.h>

#include "device/runtime.h"

namespace symbind {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Arena, grows_in_place_and_keeps_contents) {
  const auto arena = cpu_runtime().make_arena();
  EXPECT_EQ(arena->capacity(), 0u);
  arena->grow_to(1000);
  auto* base = static_cast<unsigned char*>(arena->base());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % (2 * kMiB), 0u);
  EXPECT_GE(arena->capacity(), 1000u);
  std::memset(base, 0x5a, 1000);
  arena->grow_to(9 * kMiB);
  EXPECT_EQ(arena->base(), base);
  EXPECT_GE(arena->capacity(), 9 * kMiB);
  EXPECT_EQ(base[0], 0x5a);
  EXPECT_EQ(base[999], 0x5a);
  base[9 * kMiB - 1] = 1;
  const std::size_t before = arena->capacity();
  arena->grow_to(10);
  EXPECT_EQ(arena->capacity(), before);
}

TEST(Arena, many_live_side_by_side) {
  std::vector<std::unique_ptr<Arena>> arenas;
  for (int i = 0; i < 100; ++i) {
    arenas.push_back(cpu_runtime().make_arena());
    arenas.back()->grow_to(kMiB);
    *static_cast<int*>(arenas.back()->base()) = i;
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(*static_cast<int*>(arenas[static_cast<std::size_t>(i)]->base()), i);
}

TEST(BadInputArena, ten_terabytes_is_an_error_and_the_arena_lives) {
  const auto arena = cpu_runtime().make_arena();
  arena->grow_to(kMiB);
  const std::size_t before = arena->capacity();
  try {
    arena->grow_to(std::size_t{10} << 40);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_NE(std::string(error.what()).find("needed"), std::string::npos);
  }
  EXPECT_EQ(arena->capacity(), before);
  arena->grow_to(4 * kMiB);
  static_cast<char*>(arena->base())[4 * kMiB - 1] = 1;
}

}  // namespace
}  // namespace symbind
