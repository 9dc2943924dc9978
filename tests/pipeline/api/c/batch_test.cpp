// Batches in a program in C: what may be held, rows, and flags.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CBatches : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CBatches, AreToldWhichBatchesTheyHold) {
  const Opened opened(graph_yaml("epochs: 1000\n", "    hold: 2\n"), GetParam());
  const std::array held{opened.take(), opened.take()};
  EXPECT_EQ(brigade_output_full(opened.train), 1);
  brigade_batch* refused = nullptr;
  EXPECT_EQ(brigade_output_next(opened.train, &refused), BRIGADE_ERROR_HELD);
  EXPECT_EQ(refused, nullptr);
  EXPECT_THAT(last_error(), AllOf(HasSubstr("`hold: 2` is reached"), HasSubstr("c_program.h:")));
  brigade_batch_release(held[0]);
  EXPECT_EQ(brigade_output_full(opened.train), 0);
  brigade_batch_release(opened.take());  // the run is as it was
  brigade_batch_release(held[1]);
}

TEST_P(CBatches, HaveRaggedRowsInTheirOwnShapes) {
  const Opened opened(
      "stages:\n"
      "  numbers: {producer: synthetic, params: {count: 40, shape: [5, 2], vary: true}, batch: 8}\n"
      "  train: {consumer: application, from: numbers}\n",
      GetParam());
  brigade_batch* const batch = opened.take();
  std::set<std::int64_t> sizes;
  for (std::uint64_t i = 0; i < 8; ++i) {
    brigade_tensor row{}, shape{};
    row.size = shape.size = sizeof row;
    ASSERT_EQ(brigade_batch_row(batch, i, "data", &row), BRIGADE_OK) << last_error();
    ASSERT_EQ(brigade_batch_row(batch, i, "data.shape", &shape), BRIGADE_OK) << last_error();
    EXPECT_EQ(row.rank, 2);
    EXPECT_EQ(row.shape[0], static_cast<const std::int64_t*>(shape.data)[0]);
    EXPECT_EQ(row.bytes, static_cast<std::uint64_t>(row.shape[0]) * 2 * 8);
    EXPECT_EQ(row.flags & BRIGADE_RAGGED, 0u);
    sizes.insert(row.shape[0]);
  }
  EXPECT_GT(sizes.size(), 1u);
  brigade_tensor data{};
  data.size = sizeof data;
  ASSERT_EQ(brigade_batch_find(batch, "data", &data), BRIGADE_OK);
  EXPECT_EQ(data.flags & BRIGADE_RAGGED, unsigned{BRIGADE_RAGGED});
  EXPECT_EQ(data.shape[1], 5);
  const auto* const first = static_cast<const std::byte*>(data.data);
  for (std::uint64_t i = 0; i < 8; ++i) {  // with the room that is between them
    brigade_tensor row{};
    row.size = sizeof row;
    ASSERT_EQ(brigade_batch_row(batch, i, "data", &row), BRIGADE_OK);
    const std::int64_t elements = static_cast<std::int64_t>(i) * data.strides[0];
    EXPECT_EQ(row.data, first + elements * data.element_bytes);
  }
  EXPECT_GT(data.strides[0], 5 * 2);
  EXPECT_EQ(brigade_batch_row(batch, 8, "data", &data), BRIGADE_ERROR_ARGUMENT);
  brigade_batch_release(batch);
}

INSTANTIATE_TEST_SUITE_P(Of, CBatches, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
