// A program that holds batches while the padding at the end of an epoch goes by.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct PaddedEpochs : testing::TestWithParam<bool> {
  std::unique_ptr<brigade::Run> start(const std::string& yaml) {
    return program_.start(yaml, GetParam());
  }
  const Program program_{};
};

TEST_P(PaddedEpochs, TakeNothingOfTheWindow) {
  // The other reader's batches make an epoch of 10 samples 64 long.
  auto run = start(
      "epochs: 3\n"
      "stages:\n"
      "  numbers: {producer: synthetic, params: {count: 10}}\n"
      "  train: {consumer: application, from: {stage: numbers, batch: 1}, hold: 2}\n"
      "  sum: {consumer: count, from: {stage: numbers, batch: 64}}\n");
  std::optional<Batch> last;  // a loop's variable holds a batch while the next is asked for
  Output train = run->output("train");
  std::size_t batches = 0;
  for (;;) {
    auto next = train.next();
    ASSERT_TRUE(next.ok()) << next.error().message;
    if (!*next) break;
    last = std::move(**next);
    ++batches;
  }
  EXPECT_EQ(batches, 30u);
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(PaddedEpochs, SayWhoHoldsTheMemoryThatTheyNeed) {
  auto run = start(
      "epochs: 2\n"
      "stages:\n"
      "  numbers: {producer: synthetic, params: {count: 17}}\n"
      "  work: {transform: passthrough, from: {stage: numbers, batch: 64}}\n"
      "  train: {consumer: application, from: {stage: work, batch: 16}, hold: 2}\n");
  Output train = run->output("train");
  std::vector<Batch> held;
  held.push_back(**train.next());
  held.push_back(**train.next());
  const auto next = train.next();
  ASSERT_FALSE(next.ok());
  EXPECT_THAT(next.error().message, HasSubstr("release batches before requesting the next one"));
  held.clear();
  EXPECT_EQ(train.next()->value().epoch(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, PaddedEpochs, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
