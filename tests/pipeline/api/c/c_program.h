#pragma once

// Graphs for the tests of the C ABI, which call it as a program does, through libbrigade.so.

#include <brigade/c.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace brigade {

/// Opened by main() (c_main.cpp).
extern brigade_app* this_program;

/// 1000 samples an epoch in batches of 16; `end`: more of the output, or more stages.
inline std::string graph_yaml(const std::string& top = "", const std::string& end = "") {
  return top +
         "stages:\n"
         "  numbers: {producer: synthetic, params: {count: 1000, shape: [3]}, shuffle: true}\n"
         "  work: {transform: passthrough, from: numbers, replicas: 2, batch: 16}\n"
         "  train:\n    consumer: application\n    from: work\n" +
         end;
}

inline std::string last_error() { return brigade_last_error(); }

inline brigade_run_options run_options(std::uint64_t flags, std::uint64_t limit = 0) {
  brigade_run_options options{};
  options.size = sizeof options;
  options.flags = BRIGADE_QUIET | flags;
  options.limit = limit;
  return options;
}

/// A run of a graph and its output `train`.
struct Opened {
  brigade_graph* graph = nullptr;
  brigade_run* run = nullptr;
  brigade_output* train = nullptr;

  explicit Opened(const std::string& yaml, std::uint64_t flags = 0,
                  const brigade_app* app = this_program)
      : Opened(yaml, run_options(flags), app) {}
  Opened(const std::string& yaml, const brigade_run_options& options,
         const brigade_app* app = this_program) {
    EXPECT_EQ(brigade_graph_from_text(yaml.c_str(), "test", &graph), BRIGADE_OK);
    EXPECT_EQ(brigade_run_start(graph, app, &options, &run), BRIGADE_OK) << last_error();
    EXPECT_EQ(brigade_run_output(run, "train", &train), BRIGADE_OK) << last_error();
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    brigade_output_close(train);
    brigade_run_close(run);
    brigade_graph_close(graph);
  }
  brigade_batch* take() const {
    brigade_batch* batch = nullptr;
    EXPECT_EQ(brigade_output_next(train, &batch), BRIGADE_OK) << last_error();
    return batch;
  }
};

inline std::vector<std::int64_t> values(const brigade_batch* batch) {
  brigade_tensor data{};
  data.size = sizeof data;
  EXPECT_EQ(brigade_batch_find(batch, "data", &data), BRIGADE_OK) << last_error();
  const auto* first = static_cast<const std::int64_t*>(data.data);
  return {first, first + data.bytes / 8};
}

}  // namespace brigade
