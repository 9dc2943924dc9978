#include "pipeline/plan/pool_layout.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(PoolLayout, HeadersComeFirstAndArraysStartOnPages) {
  PlanPool pool;
  pool.rows = 100;
  pool.tensors = pool_tensors({{"image", u8, {28, 28, 1}}, {"label", i64, {}}});
  lay_out_pool(pool);
  ASSERT_EQ(pool.tensors.size(), 2u);
  EXPECT_EQ(pool.tensors[0].offset, 4096u);       // 100 headers of 32 bytes
  EXPECT_EQ(pool.tensors[1].offset, 4096u * 21);  // 78400 bytes: 19.1 pages
  EXPECT_EQ(pool.bytes, 4096u * 22);
}

TEST(PoolLayout, DenseRowsFollowEachOtherWithoutAGap) {
  const auto tensors = pool_tensors({{"x", f32, {3, 7}}});
  EXPECT_EQ(tensors[0].row_bytes, 84u);
  EXPECT_EQ(tensors[0].row_stride, 84u);
}

TEST(PoolLayout, RaggedRowsAreAsFarApartAsTheirBoundAndHaveAShapeArray) {
  const auto tensors = pool_tensors({{"image", u8, {up_to(10), up_to(10), 3}}, {"y", u8, {}}});
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].row_bytes, 300u);
  EXPECT_EQ(tensors[0].row_stride, 320u);
  EXPECT_EQ(tensors[1].type.name, "image.shape");
  EXPECT_EQ(tensors[1].type.dtype, i64);
  EXPECT_EQ(tensors[1].row_stride, 24u);
  EXPECT_EQ(tensors[2].type.name, "y");
}

TEST(PoolLayout, RowBytesCountEveryArrayAndTheHeader) {
  EXPECT_EQ(pool_row_bytes({}), 32u);
  EXPECT_EQ(pool_row_bytes(pool_tensors({{"x", f32, {3, 7}}, {"y", u8, {}}})), 32u + 84 + 1);
}

TEST(PoolLayout, WithoutTensorsHasHeadersOnly) {
  PlanPool pool;
  pool.rows = 129;
  lay_out_pool(pool);
  EXPECT_EQ(pool.bytes, 8192u);
}

TEST(PoolLayout, SticksAtTheTop) {
  PlanPool pool;
  pool.rows = std::uint64_t{1} << 40;
  pool.tensors = pool_tensors({{"x", f64, {std::int64_t{1} << 40}}, {"y", u8, {}}});
  lay_out_pool(pool);
  EXPECT_EQ(pool.bytes, ~std::uint64_t{0});
}

}  // namespace
}  // namespace brigade
