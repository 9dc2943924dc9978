#pragma once

// A program that feeds a graph and reads what comes out of it, in processes or in threads.

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <brigade/pipeline.h>
#include "tests/support/program.h"

namespace brigade {

/// Samples of three equal numbers, through two replicas, in batches of 8.
inline std::string fed_graph(const std::string& of_tasks = "", const std::string& more = "",
                             const std::string& max_wait = "1h") {
  return "stages:\n"
         "  tasks:\n    producer: application\n    tensors: {x: {dtype: i64, shape: [3]}}\n" +
         of_tasks +
         "  work: {transform: passthrough, from: tasks, replicas: 2, batch: 8,"
         " restart: {backoff: 0s, burst: 1000000}}\n"
         "  results:\n    consumer: application\n    from: {stage: work, max_wait: " +
         max_wait + "}\n" + more;
}

class Feeding : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<brigade::Run> start(const std::string& yaml) {
    return program_.start(yaml, GetParam());
  }
  static void write(Slot& slot, std::int64_t value) {
    for (std::int64_t& element : slot["x"].as<std::int64_t>()) element = value;
  }
  /// False: the run takes no more.
  static bool give(Input& input, std::int64_t value) {
    auto slot = input.acquire();
    EXPECT_TRUE(slot.ok()) << slot.error().message;
    if (!slot.ok() || !*slot) return false;
    write(**slot, value);
    return (*slot)->submit().ok();
  }
  static void give_all(Input& input, std::int64_t from, std::int64_t to) {
    for (std::int64_t value = from; value < to && give(input, value); ++value) continue;
  }
  static std::vector<std::int64_t> values(const Batch& batch) {
    std::vector<std::int64_t> values;
    const auto x = batch["x"].as<std::int64_t>();
    for (std::size_t i = 0; i < x.size(); i += 3) {
      EXPECT_TRUE(x[i] == x[i + 1] && x[i] == x[i + 2]);
      values.push_back(x[i]);
    }
    return values;
  }
  static std::vector<std::int64_t> all_values(Output results) {
    std::vector<std::int64_t> all;
    for (const Batch& batch : results)
      for (const std::int64_t value : values(batch)) all.push_back(value);
    return all;
  }
  static std::vector<std::int64_t> up_to(std::int64_t count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  Program program_;
};

}  // namespace brigade
