#include "pipeline/run/ragged_rows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace brigade {
namespace {

TEST(ElementCount, IsTheProductOfTheSizes) {
  const std::int64_t sizes[] = {3, 5, 2};
  EXPECT_EQ(element_count(sizes, 3), 30u);
  EXPECT_EQ(element_count(sizes, 0), 1u);
}

/// Whether a byte of a shared megabyte is gone after a sample of `before` bytes and one of `now`.
bool gives_back(std::int64_t before, std::int64_t now, std::int64_t byte,
                std::uint64_t expected = 0) {
  constexpr std::size_t kBytes = 1 << 20;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kBytes);
  auto* const row = static_cast<std::byte*>(memory);
  shrink_row(row, expected, 1, &before, &now, 1);
  const bool gone = row[byte] == std::byte{0};
  munmap(memory, kBytes);
  return gone;
}

TEST(ShrinkRow, GivesBackWhatASmallerSampleLeavesFreeWhereItIsMuch) {
  EXPECT_TRUE(gives_back(1 << 20, 8192, 12288));
  EXPECT_FALSE(gives_back(1 << 20, 8192, 8191));
  EXPECT_FALSE(gives_back(100'000, 8192, 12288));
  EXPECT_FALSE(gives_back(8192, 100'000, 104'096));
}

TEST(ShrinkRow, KeepsWhatTheRowIsExpectedToTake) {
  constexpr std::uint64_t kExpected = 512 << 10;
  EXPECT_FALSE(gives_back(1 << 20, 8192, (512 << 10) - 1, kExpected));
  EXPECT_TRUE(gives_back(1 << 20, 8192, 512 << 10, kExpected));
  EXPECT_FALSE(gives_back(512 << 10, 8192, 12288, kExpected));
  EXPECT_FALSE(gives_back(1 << 20, 900 << 10, 800 << 10, kExpected));
}

}  // namespace
}  // namespace brigade
