// Batches in a program in C: held, retained, released on any thread.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/pipeline/c_api/c_program.h"

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
  EXPECT_THAT(last_error(), AllOf(HasSubstr("`hold: 2` is reached"), HasSubstr("batch_test.cpp:")));
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

INSTANTIATE_TEST_SUITE_P(Of, CBatches, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
