#pragma once

// A graph that a program in C feeds and reads, for the tests of inputs.

#include <brigade/c.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {

/// Samples of three numbers, in batches of 8.
inline std::string fed_graph(const std::string& of_tasks = "", const std::string& top = "") {
  return top +
         "stages:\n"
         "  tasks:\n    producer: application\n    tensors: {data: {dtype: i64, shape: [3]}}\n" +
         of_tasks +
         "  work: {transform: passthrough, from: tasks, replicas: 2, batch: 8}\n"
         "  train: {consumer: application, from: {stage: work, max_wait: 1h}}\n";
}

/// A run of such a graph, its input `tasks` and its output `train`.
struct Fed : Opened {
  brigade_input* tasks = nullptr;

  Fed(const std::string& yaml, const brigade_run_options& options) : Opened(yaml, options) {
    EXPECT_EQ(brigade_run_input(run, "tasks", &tasks), BRIGADE_OK) << last_error();
  }
  Fed(const std::string& yaml, std::uint64_t flags) : Fed(yaml, run_options(flags)) {}
  ~Fed() { brigade_input_close(tasks); }

  void close() { brigade_input_close(std::exchange(tasks, nullptr)); }
  brigade_slot* acquire() const {
    brigade_slot* slot = nullptr;
    EXPECT_EQ(brigade_input_acquire(tasks, BRIGADE_FOR_EVER, &slot), BRIGADE_OK) << last_error();
    return slot;
  }
  void give(std::int64_t from, std::int64_t to) const;
  /// What is left, by sample.
  std::vector<std::int64_t> all() const;
};

/// Three numbers from 3 * `value` on.
inline void write(brigade_slot* slot, std::int64_t value) {
  brigade_tensor data{};
  data.size = sizeof data;
  ASSERT_EQ(brigade_slot_find(slot, "data", &data), BRIGADE_OK) << last_error();
  std::iota(static_cast<std::int64_t*>(data.data), static_cast<std::int64_t*>(data.data) + 3,
            3 * value);
}

inline void Fed::give(std::int64_t from, std::int64_t to) const {
  for (std::int64_t value = from; value < to; ++value) {
    brigade_slot* const slot = acquire();
    write(slot, value);
    EXPECT_EQ(brigade_slot_submit(slot), BRIGADE_OK) << last_error();
  }
}

inline std::vector<std::int64_t> Fed::all() const {
  std::vector<std::int64_t> all;
  brigade_batch* batch = nullptr;
  while (brigade_output_next(train, &batch) == BRIGADE_OK) {
    for (const std::int64_t value : values(batch)) all.push_back(value);
    brigade_batch_release(batch);
  }
  return all;
}

/// What such samples are together.
inline std::vector<std::int64_t> numbers(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(3 * (to - from)));
  std::iota(all.begin(), all.end(), 3 * from);
  return all;
}

}  // namespace brigade
