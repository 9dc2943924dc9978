// A program in C reads a graph: the plain loop is C itself (plain_loop.c).

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "tests/pipeline/api/c/c_program.h"
#include "tests/pipeline/api/c/plain_loop.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class CPrograms : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CPrograms, ReadEverySampleOfEveryEpoch) {
  plain_loop seen;
  EXPECT_EQ(run_plain_loop(this_program, graph_yaml("epochs: 3\n").c_str(),
                           BRIGADE_QUIET | GetParam(), &seen),
            BRIGADE_OK)
      << last_error();
  EXPECT_EQ(seen.samples, 3000u);
  EXPECT_EQ(seen.batches, 3 * 63u);
  EXPECT_EQ(seen.id_sum, 3u * 999 * 1000 / 2);
  EXPECT_EQ(seen.wrong, 0u);
}

TEST_P(CPrograms, ReadAnEpochAtATime) {
  const Opened opened(graph_yaml("epochs: 2\n"), GetParam());
  for (const std::uint64_t epoch : {0, 1}) {
    std::size_t batches = 0;
    brigade_batch* batch = nullptr;
    while (brigade_output_next_in_epoch(opened.train, epoch, &batch) == BRIGADE_OK) {
      brigade_batch_info info{};
      info.size = sizeof info;
      EXPECT_EQ(brigade_batch_describe(batch, &info), BRIGADE_OK);
      EXPECT_EQ(info.epoch, epoch);
      brigade_batch_release(batch);
      ++batches;
    }
    EXPECT_EQ(batches, 63u);
  }
}

/// Another run goes on where `begun` has come to, or with a later epoch.
void go_on(Opened& begun, std::uint64_t flags, std::uint64_t epoch) {
  const void* state = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(brigade_run_state_at_epoch(begun.run, epoch, &state, &bytes), BRIGADE_OK)
      << last_error();
  ASSERT_EQ(brigade_graph_set_state(begun.graph, state, bytes), BRIGADE_OK);
  const brigade_run_options options = run_options(flags);
  brigade_run* run = nullptr;
  ASSERT_EQ(brigade_run_start(begun.graph, this_program, &options, &run), BRIGADE_OK)
      << last_error();
  brigade_output_close(std::exchange(begun.train, nullptr));
  ASSERT_EQ(brigade_run_output(run, "train", &begun.train), BRIGADE_OK) << last_error();
  brigade_run_close(std::exchange(begun.run, run));
}

struct GoesOn {
  int taken;
  std::uint64_t epoch;
  int from;
};

TEST_P(CPrograms, KeepTheirStateForAnotherRun) {
  const std::string yaml = graph_yaml("epochs: 3\n");
  // Within an epoch; in the next one, without the rest of the first; in one that it is in already.
  for (const auto& [taken, epoch, from] :
       {GoesOn{70, 0, 70}, {40, 1, 63}, {70, 1, 70}, {70, 2, 126}}) {
    const Opened whole(yaml, GetParam());
    Opened begun(yaml, GetParam());
    for (int i = 0; i < from; ++i) brigade_batch_release(whole.take());
    for (int i = 0; i < taken; ++i) brigade_batch_release(begun.take());
    go_on(begun, GetParam(), epoch);
    for (int i = from; i < 3 * 63; ++i) {
      brigade_batch* const expected = whole.take();
      brigade_batch* const resumed = begun.take();
      EXPECT_EQ(values(resumed), values(expected));
      brigade_batch_release(expected);
      brigade_batch_release(resumed);
    }
    brigade_batch* batch = nullptr;
    EXPECT_EQ(brigade_output_next(begun.train, &batch), BRIGADE_END);
  }
}

TEST_P(CPrograms, MarkTheirPlaceForAStateThatIsMadeLater) {
  const Opened opened(
      "epochs: 3\nstages:\n"
      "  few: {producer: synthetic, params: {count: 40}}\n"
      "  many: {producer: synthetic, params: {count: 100}}\n"
      "  train: {consumer: application, join: epochs,\n"
      "          from: [{stage: few, batch: 16}, {stage: many, batch: 40}]}\n",
      GetParam());
  const void *data = nullptr, *later = nullptr;
  std::size_t bytes = 0, later_bytes = 0;
  for (int i = 0; i < 8; ++i) brigade_batch_release(opened.take());
  ASSERT_EQ(brigade_run_mark(opened.run, &data, &bytes), BRIGADE_OK) << last_error();
  const std::string mark(static_cast<const char*>(data), bytes);
  ASSERT_EQ(brigade_run_state(opened.run, &data, &bytes), BRIGADE_OK) << last_error();
  const std::string state(static_cast<const char*>(data), bytes);
  brigade_batch_release(opened.take());
  ASSERT_EQ(brigade_run_state_at_mark(opened.run, mark.data(), mark.size(), &later, &later_bytes),
            BRIGADE_OK)
      << last_error();
  EXPECT_EQ(std::string(static_cast<const char*>(later), later_bytes), state);
  ASSERT_EQ(brigade_run_state(opened.run, &later, &later_bytes), BRIGADE_OK) << last_error();
  EXPECT_NE(std::string(static_cast<const char*>(later), later_bytes), state);  // the control
  const std::string ahead(mark.size(), '\x7f');
  for (const std::string& other : {mark + mark, mark.substr(1), std::string(), ahead}) {
    EXPECT_EQ(
        brigade_run_state_at_mark(opened.run, other.data(), other.size(), &later, &later_bytes),
        BRIGADE_ERROR_RUN);
    EXPECT_THAT(last_error(), HasSubstr("expected a mark of this run, from mark()"));
  }
}

TEST_P(CPrograms, ReadTheLinesOfARunThemselves) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    brigade_run_options options{};
    options.size = sizeof options;
    options.flags = GetParam();
    options.log_descriptor = ends[1];
    const Opened opened(graph_yaml("epochs: 1\n"), options);
    close(ends[1]);
    options.log_descriptor = 1'000'000;
    brigade_run* none = nullptr;
    EXPECT_EQ(brigade_run_start(opened.graph, this_program, &options, &none),
              BRIGADE_ERROR_ARGUMENT);
    EXPECT_THAT(last_error(), HasSubstr("log_descriptor is 1000000, which is not open"));
    brigade_run_stop(opened.run);
  }
  std::string text;
  char bytes[4096];
  for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) text.append(bytes, got);
  close(ends[0]);
  EXPECT_THAT(text, HasSubstr("brigade: "));  // and the end of the file: nobody else has it
}

TEST_P(CPrograms, StopARunAndReadItsSummary) {
  const Opened opened(graph_yaml("epochs: 1000000\n"), GetParam());
  brigade_batch_release(opened.take());
  const char* stats = nullptr;
  EXPECT_EQ(brigade_run_stats(opened.run, &stats), BRIGADE_OK) << last_error();
  const auto now = nlohmann::json::parse(stats);
  EXPECT_EQ(now["end"], "running");
  EXPECT_GT(now["stages"][0]["samples"], 0) << "which the batch was made of";
  std::thread stopper([&] { EXPECT_EQ(brigade_run_stop(opened.run), BRIGADE_OK); });
  brigade_batch* batch = nullptr;
  while (brigade_output_next(opened.train, &batch) == BRIGADE_OK) brigade_batch_release(batch);
  stopper.join();
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_OK) << last_error();
  const char* json = nullptr;
  EXPECT_EQ(brigade_run_summary(opened.run, &json), BRIGADE_OK);
  EXPECT_EQ(nlohmann::json::parse(json)["end"], "stopped");
}

INSTANTIATE_TEST_SUITE_P(Of, CPrograms, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

TEST(CBadUse, AFailureIsTheErrorOfWait) {
  const Opened opened(
      "stages:\n"
      "  numbers: {producer: synthetic, params: {count: 100, shape: [3]}}\n"
      "  slow: {transform: delay, from: numbers, params: {fail_at: [10]}, batch: 4}\n"
      "  train: {consumer: application, from: slow}\n");
  brigade_batch* batch = nullptr;
  brigade_status status = BRIGADE_OK;
  while ((status = brigade_output_next(opened.train, &batch)) == BRIGADE_OK)
    brigade_batch_release(batch);
  EXPECT_EQ(status, BRIGADE_END);
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_ERROR_RUN);
  EXPECT_THAT(last_error(), HasSubstr("stage \"slow\""));
}

}  // namespace
}  // namespace brigade
