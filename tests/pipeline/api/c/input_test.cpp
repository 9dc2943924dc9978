// What only a program in C sees of inputs: statuses, tensors, sizes. What inputs do is asked of
// programs in C++ (tests/pipeline/application) and in Python.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <utility>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMillisecond = 1'000'000;

/// Samples of three numbers, in batches of 8.
std::string fed_graph(const std::string& of_tasks = "") {
  return "stages:\n"
         "  tasks:\n    producer: application\n    tensors: {data: {dtype: i64, shape: [3]}}\n" +
         of_tasks +
         "  work: {transform: passthrough, from: tasks, replicas: 2, batch: 8}\n"
         "  train: {consumer: application, from: {stage: work, max_wait: 1h}}\n";
}

/// Three numbers from 3 * `value` on.
void write(brigade_slot* slot, std::int64_t value) {
  brigade_tensor data{};
  data.size = sizeof data;
  ASSERT_EQ(brigade_slot_find(slot, "data", &data), BRIGADE_OK) << last_error();
  std::iota(static_cast<std::int64_t*>(data.data), static_cast<std::int64_t*>(data.data) + 3,
            3 * value);
}

/// A run of such a graph, its input `tasks` and its output `train`.
struct Fed : Opened {
  brigade_input* tasks = nullptr;

  Fed(const std::string& yaml, std::uint64_t flags) : Opened(yaml, flags) {
    EXPECT_EQ(brigade_run_input(run, "tasks", &tasks), BRIGADE_OK) << last_error();
  }
  ~Fed() { brigade_input_close(tasks); }

  void close() { brigade_input_close(std::exchange(tasks, nullptr)); }
  brigade_slot* acquire() const {
    brigade_slot* slot = nullptr;
    EXPECT_EQ(brigade_input_acquire(tasks, BRIGADE_FOR_EVER, &slot), BRIGADE_OK) << last_error();
    return slot;
  }
  void give(std::int64_t from, std::int64_t to) const {
    for (std::int64_t value = from; value < to; ++value) {
      brigade_slot* const slot = acquire();
      write(slot, value);
      EXPECT_EQ(brigade_slot_submit(slot), BRIGADE_OK) << last_error();
    }
  }
};

class CInputs : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CInputs, ShowTheTensorsOfOneSample) {
  const Fed fed(fed_graph(), GetParam());
  fed.give(0, 5);
  brigade_slot* const slot = fed.acquire();
  brigade_sample sample{};
  sample.size = sizeof sample;
  ASSERT_EQ(brigade_slot_sample(slot, &sample), BRIGADE_OK) << last_error();
  EXPECT_EQ(sample.index, 5u);
  EXPECT_EQ(brigade_slot_tensors(slot), 1u);
  brigade_tensor data{};
  data.size = sizeof data;
  ASSERT_EQ(brigade_slot_tensor(slot, 0, &data), BRIGADE_OK) << last_error();
  EXPECT_STREQ(data.name, "data");
  EXPECT_EQ(data.rank, 1);
  EXPECT_EQ(data.shape[0], 3);
  EXPECT_EQ(data.strides[0], 1);
  EXPECT_EQ(data.bytes, 24u);
  EXPECT_EQ(data.dtype, BRIGADE_I64);
  EXPECT_EQ(data.flags, unsigned{BRIGADE_WRITABLE});
  brigade_slot_drop(slot);
}

TEST_P(CInputs, HaveRaggedTensorsInTheShapesOfTheirSamples) {
  const Fed fed(
      "stages:\n"
      "  tasks: {producer: application, tensors: {data: {dtype: i64, shape: [<=4, 2]}}}\n"
      "  train: {consumer: application, from: {stage: tasks, batch: 2}}\n",
      GetParam());
  for (const std::int64_t rows : {3, 1}) {
    brigade_slot* const slot = fed.acquire();
    const std::int64_t sizes[] = {rows, 2};
    const std::int64_t too_many[] = {5, 2};
    EXPECT_EQ(brigade_slot_resize(slot, "data", too_many, 2), BRIGADE_ERROR_ARGUMENT);
    EXPECT_THAT(last_error(), HasSubstr("[5, 2]"));
    EXPECT_EQ(brigade_slot_resize(slot, "data", sizes, 9), BRIGADE_ERROR_ARGUMENT);
    EXPECT_EQ(last_error(), "rank 9 is not in 0 .. 8");
    const std::int64_t narrow[] = {rows, 1};
    ASSERT_EQ(brigade_slot_resize(slot, "data", narrow, 2), BRIGADE_OK) << last_error();
    EXPECT_EQ(brigade_slot_submit(slot), BRIGADE_ERROR_ARGUMENT);  // and it can be mended
    EXPECT_THAT(last_error(), HasSubstr("input \"tasks\": "));
    ASSERT_EQ(brigade_slot_resize(slot, "data", sizes, 2), BRIGADE_OK) << last_error();
    brigade_tensor data{};
    data.size = sizeof data;
    ASSERT_EQ(brigade_slot_find(slot, "data", &data), BRIGADE_OK) << last_error();
    EXPECT_EQ(data.shape[0], rows);
    EXPECT_EQ(data.flags, unsigned{BRIGADE_WRITABLE | BRIGADE_RAGGED});
    std::fill_n(static_cast<std::int64_t*>(data.data), 2 * rows, rows);
    EXPECT_EQ(brigade_slot_submit(slot), BRIGADE_OK) << last_error();
  }
  brigade_batch* const batch = fed.take();
  brigade_tensor row{};
  row.size = sizeof row;
  ASSERT_EQ(brigade_batch_row(batch, 0, "data", &row), BRIGADE_OK) << last_error();
  EXPECT_EQ(row.shape[0], 3);
  EXPECT_EQ(static_cast<const std::int64_t*>(row.data)[5], 3);
  brigade_batch_release(batch);
}

TEST_P(CInputs, EndWithTheRun) {
  Fed fed(fed_graph("    chunk: 4\n"), GetParam());
  fed.give(0, 4);
  brigade_slot* const submitted = fed.acquire();
  brigade_slot* const kept = fed.acquire();
  write(submitted, 4);
  brigade_run_close(std::exchange(fed.run, nullptr));
  write(kept, 5);  // its memory is there
  EXPECT_EQ(brigade_slot_submit(submitted), BRIGADE_ERROR_RUN);
  EXPECT_THAT(last_error(), HasSubstr("the run has ended and takes no more samples"));
  EXPECT_EQ(brigade_slot_submit(submitted), BRIGADE_ERROR_ARGUMENT);
  brigade_slot_drop(submitted);
  for (const std::uint64_t timeout : {std::uint64_t{0}, kMillisecond, BRIGADE_FOR_EVER}) {
    brigade_slot* slot = nullptr;
    EXPECT_EQ(brigade_input_acquire(fed.tasks, timeout, &slot), BRIGADE_END);
  }
  EXPECT_EQ(brigade_input_ended(fed.tasks), 1);
  fed.close();
  brigade_slot_drop(kept);
}

TEST_P(CInputs, OneThreadAtATimeIsInACall) {
  const Fed fed(fed_graph("    chunk: 1\n"), GetParam());
  brigade_slot* const held = fed.acquire();
  std::atomic<int> busy = 0;
  std::atomic<int> refused = 0;
  const auto ask = [&] {
    brigade_slot* slot = nullptr;
    const brigade_status status = brigade_input_acquire(fed.tasks, BRIGADE_FOR_EVER, &slot);
    busy += status == BRIGADE_ERROR_BUSY;
    refused += status == BRIGADE_ERROR_HELD;
    EXPECT_THAT(last_error(),
                HasSubstr(status == BRIGADE_ERROR_BUSY ? "another thread" : "input_test.cpp:"));
  };
  std::thread first(ask), second(ask);
  first.join();
  second.join();
  EXPECT_EQ(busy, 1);
  EXPECT_EQ(refused, 1);
  brigade_slot_drop(held);
}

INSTANTIATE_TEST_SUITE_P(Of, CInputs, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

TEST(CBadUse, OfInputsAndSlotsHasItsLine) {
  const Fed fed(fed_graph(), BRIGADE_IN_PROCESS);
  brigade_input* input = nullptr;
  brigade_slot* slot = nullptr;
  brigade_sample sample{};
  brigade_tensor tensor{};
  tensor.size = sizeof tensor;
  const auto refused = [](brigade_status status, const std::string& why) {
    EXPECT_EQ(status, BRIGADE_ERROR_ARGUMENT) << why;
    EXPECT_THAT(last_error(), HasSubstr(why));
  };
  refused(brigade_run_input(nullptr, "tasks", &input), "run is NULL");
  refused(brigade_run_input(fed.run, nullptr, &input), "name is NULL");
  refused(brigade_run_input(fed.run, "tasks", nullptr), "input is NULL");
  refused(brigade_run_input(fed.run, "train", &input),
          "there is no input \"train\": the graph has tasks");
  refused(brigade_input_acquire(nullptr, 0, &slot), "input is NULL");
  refused(brigade_input_acquire(fed.tasks, 0, nullptr), "slot is NULL");
  refused(brigade_input_end_epoch(nullptr), "input is NULL");
  refused(brigade_slot_submit(nullptr), "slot is NULL");
  refused(brigade_slot_find(nullptr, "data", &tensor), "slot is NULL");
  slot = fed.acquire();
  refused(brigade_slot_find(slot, nullptr, &tensor), "name is NULL");
  refused(brigade_slot_find(slot, "image", &tensor),
          "the slot has no tensor \"image\": its tensors are data");
  refused(brigade_slot_find(slot, "data", nullptr), "tensor is NULL");
  refused(brigade_slot_tensor(slot, 1, &tensor), "there is no tensor 1: expected an index below 1");
  refused(brigade_slot_sample(slot, &sample), "the size of sample is 0");
  refused(brigade_slot_resize(slot, "data", nullptr, 1), "sizes is NULL");
  tensor.size = 0;
  refused(brigade_slot_find(slot, "data", &tensor), "the size of tensor is 0");
  tensor.size = sizeof tensor;
  EXPECT_EQ(brigade_slot_submit(slot), BRIGADE_OK) << last_error();
  refused(brigade_slot_submit(slot), "was already submitted or dropped: each slot is one sample");
  refused(brigade_slot_find(slot, "data", &tensor), "was already submitted or dropped");
  EXPECT_EQ(brigade_slot_tensors(slot), 0u);
  brigade_slot_drop(slot);
  brigade_slot_drop(nullptr);
  brigade_input_close(nullptr);
}

}  // namespace
}  // namespace brigade
