// A program in C reads a graph: the plain loop is C itself (plain_loop.c). Epochs, ends, failures
// and statistics are asked of programs in Python, which call the same functions.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>

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

INSTANTIATE_TEST_SUITE_P(Of, CPrograms, testing::Values(0, BRIGADE_IN_PROCESS),
                         [](const auto& value) { return value.param ? "Threads" : "Processes"; });

}  // namespace
}  // namespace brigade
