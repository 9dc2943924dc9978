#include "transports/row_pool.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class TwoArrays : public testing::Test {
 protected:
  alignas(64) std::byte memory_[4096]{};
  RowPool pool_{memory_, 8, {{256, 16}, {1024, 64}}};
};

TEST_F(TwoArrays, ARowLiesAtItsNumberModuloTheRing) {
  EXPECT_EQ(pool_.row(0, 3), memory_ + 256 + 3 * 16);
  EXPECT_EQ(pool_.row(0, 11), pool_.row(0, 3));
  EXPECT_EQ(pool_.row(1, 7), memory_ + 1024 + 7 * 64);
  EXPECT_EQ(pool_.row(1, 8), memory_ + 1024);
  EXPECT_EQ(static_cast<void*>(pool_.headers(2)), memory_ + 2 * sizeof(RowHeader));
  EXPECT_EQ(pool_.headers(10), pool_.headers(2));
}

TEST_F(TwoArrays, RowsOfATaskThatDividesTheRingAreContiguous) {
  for (std::uint64_t task = 0; task < 6; ++task) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(pool_.row(1, 4 * task + i), pool_.row(1, 4 * task) + i * pool_.stride(1));
      EXPECT_EQ(pool_.headers(4 * task + i), pool_.headers(4 * task) + i);
    }
  }
}

TEST_F(TwoArrays, KnowsItsShape) {
  EXPECT_EQ(pool_.rows(), 8u);
  EXPECT_EQ(pool_.arrays(), 2u);
  EXPECT_EQ(pool_.stride(0), 16u);
}

TEST(RowHeader, ZeroedMemoryIsNoFullRow) {
  EXPECT_NE(static_cast<RowState>(0), RowState::full);
  EXPECT_NE(RowHeader{}.state, RowState::full);
}

}  // namespace
}  // namespace brigade
