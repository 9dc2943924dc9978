// Batches that a program holds: the next one waits for `hold_timeout:`, which is said once, and is
// then an error that names them. In processes and in threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string held_graph(std::string_view hold) {
  return concat(
      "epochs: 1000\nstages:\n"
      "  numbers: {producer: synthetic, params: {count: 1000, shape: [3]}, batch: 16}\n"
      "  train: {consumer: application, from: numbers, ",
      hold, "}\n");
}

class HeldBatches : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<brigade::Run> start(const std::string& yaml, const Events& events) {
    return program_.start(yaml, GetParam(), &events);
  }

  const Program program_{};
};

TEST_P(HeldBatches, AreNamedOnceThereAreTooMany) {
  auto run = start(held_graph("hold: 3"), Events::open().value());
  Output train = run->output("train");
  std::vector<Batch> held;
  for (int i = 0; i < 3; ++i) held.push_back(std::move(**train.next()));
  EXPECT_TRUE(train.full());
  const auto refused = train.next();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().refusal, Refusal::held);
  EXPECT_THAT(
      refused.error().message,
      AllOf(HasSubstr("output \"train\": `hold: 3` is reached"), HasSubstr("batch 0 (taken at "),
            HasSubstr("hold_test.cpp:"), HasSubstr("batch 2 (taken at "),
            HasSubstr("`hold_timeout: 1s`"), HasSubstr("release batches before")));
  held.erase(held.begin() + 1);  // the window counts from the oldest
  EXPECT_TRUE(train.full());
  EXPECT_FALSE(train.next().ok());
  held.erase(held.begin());
  EXPECT_FALSE(train.full());
  EXPECT_TRUE(train.next().ok());  // the run is as it was
}

TEST_P(HeldBatches, AreNamedOnceWhileAnOutputWaitsForOne) {
  const Events events = Events::open().value();
  auto run = start(held_graph("hold: 2, hold_timeout: 300ms"), events);
  Output train = run->output("train");
  std::vector<Batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(std::move(**train.next()));
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(train.next().error().message, HasSubstr("within `hold_timeout: 300ms`"));
  run.reset();
  const auto stalled = stalled_of(events);
  ASSERT_EQ(stalled.size(), 1u);
  EXPECT_EQ(stalled.front().level, EventLevel::warning);
  EXPECT_EQ(stalled.front().stage, "train");
  EXPECT_THAT(event_text(stalled.front()),
              AllOf(HasSubstr("output \"train\" waits for the program to release a batch, for at "
                              "most `hold_timeout: 300ms`: the program holds 2 of `hold: 2`"),
                    HasSubstr("batch 0 (taken at "), HasSubstr("hold_test.cpp:"),
                    HasSubstr("release batches before requesting the next one")));
}

TEST_P(HeldBatches, AreNotWaitedForOnceTheRunIsStopped) {
  const Events events = Events::open().value();
  auto run = start(held_graph("hold: 1, hold_timeout: 1h"), events);
  Output train = run->output("train");
  const auto held = train.next();
  std::thread stops([&] {
    await_stalled(events);
    run->stop();
    run->stop();
  });
  const auto next = train.next();
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_FALSE(next->has_value());
  stops.join();
}

INSTANTIATE_TEST_SUITE_P(All, HeldBatches, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
