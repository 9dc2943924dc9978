// Batches in a program in C: held, retained, released on any thread.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CBatches : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CBatches, HoldBatchesAndReturnThemOnOtherThreads) {
  const Opened opened(graph_yaml("epochs: 4\n", "    hold: 6\n"), GetParam());
  std::array<std::thread, 3> threads;
  std::mutex mutex;
  std::vector<brigade_batch*> held;
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> samples = 0;
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      while (!over) {
        brigade_batch* one = nullptr;
        {
          const std::lock_guard lock(mutex);
          if (!held.empty()) one = std::exchange(held.back(), nullptr);
          if (!held.empty()) held.pop_back();
        }
        if (one == nullptr) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          continue;
        }
        brigade_batch_retain(one);
        brigade_batch_release(one);
        samples += values(one).size() / 3;
        brigade_batch_release(one);
      }
    });
  for (brigade_batch* batch = nullptr;;) {
    const brigade_status status = brigade_output_next(opened.train, &batch);
    if (status == BRIGADE_END) break;
    if (status == BRIGADE_ERROR_HELD) continue;  // a thread has not run for a second
    ASSERT_EQ(status, BRIGADE_OK) << last_error();
    const std::lock_guard lock(mutex);
    held.push_back(batch);
  }
  while (samples < 4000) std::this_thread::sleep_for(std::chrono::microseconds(50));
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(samples, 4000u);
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_OK) << last_error();
}

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

TEST_P(CBatches, KeepBatchesBeyondTheEndOfTheRun) {
  brigade_batch* kept = nullptr;
  std::vector<std::int64_t> before;
  {
    const Opened opened(graph_yaml("epochs: 1000\n"), GetParam());
    kept = opened.take();
    before = values(kept);
  }
  EXPECT_EQ(values(kept), before);
  brigade_batch_release(kept);
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

TEST_P(CBatches, MayBeWrittenWhereNobodyElseReads) {
  const auto flags = [](const Opened& opened) {
    brigade_batch* const batch = opened.take();
    brigade_tensor data{};
    data.size = sizeof data;
    EXPECT_EQ(brigade_batch_find(batch, "data", &data), BRIGADE_OK);
    if (data.flags & BRIGADE_WRITABLE) *static_cast<std::int64_t*>(data.data) = 1;
    brigade_batch_release(batch);
    return data.flags;
  };
  EXPECT_EQ(flags(Opened(graph_yaml(), GetParam())), unsigned{BRIGADE_WRITABLE});
  const std::string counted = "  end: {consumer: count, from: work}\n";
  EXPECT_EQ(flags(Opened(graph_yaml("", counted), GetParam())), 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, CBatches, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
