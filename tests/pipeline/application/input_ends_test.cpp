// A program feeds a graph: how an input ends, and how a run does that is fed, and what an
// input cannot be.

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <brigade/text.h>
#include "tests/pipeline/application/feeding.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

struct FeedingEnds : Feeding {};

TEST_P(FeedingEnds, AnInputIsClosedOnce) {
  auto run = start("epochs: 3\n" + fed_graph());
  Input tasks = run->input("tasks");
  EXPECT_TRUE(give(tasks, 0));
  EXPECT_TRUE(tasks.close().ok());
  const std::string closed = "input \"tasks\" is closed: close it once, after the last sample";
  EXPECT_EQ(tasks.close().error().message, closed);
  EXPECT_EQ(tasks.acquire().error().message, closed);
  EXPECT_EQ(all_values(run->output("results")), up_to(1));
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(FeedingEnds, AnInputIsClosedWithItsLastHandleOrByWait) {
  {
    auto run = start(fed_graph("", "  end: {consumer: count, from: work}\n"));
    {
      Input tasks = run->input("tasks");
      give_all(tasks, 0, 5);
    }
    EXPECT_THAT(run->input("tasks").acquire().error().message, HasSubstr("its last handle"));
    EXPECT_EQ(all_values(run->output("results")), up_to(5));
    EXPECT_TRUE(run->wait().ok());
  }
  auto run = start(fed_graph("", "  end: {consumer: count, from: work}\n"));
  EXPECT_TRUE(run->wait().ok());
  EXPECT_THAT(run->input("tasks").acquire().error().message, HasSubstr("was closed by wait()"));
}

TEST_P(FeedingEnds, AStopEndsItWithWhatWasGiven) {
  auto run = start(fed_graph());
  Output results = run->output("results");
  std::atomic<std::int64_t> given = 0;
  std::thread feeder([&, tasks = run->input("tasks")]() mutable {
    while (give(tasks, given)) ++given;
    EXPECT_TRUE(tasks.ended());
  });
  std::vector<std::int64_t> taken;
  for (const Batch& batch : results) {
    for (const std::int64_t value : values(batch)) taken.push_back(value);
    if (taken.size() == 80) run->stop();
  }
  feeder.join();
  EXPECT_EQ(taken, up_to(given));
  EXPECT_EQ(message_of(run->wait()), "no error");
}

// Nobody of the program is in a call: the supervisor's thread does what is left.
TEST_P(FeedingEnds, AStopNeedsNoThreadOfTheProgram) {
  auto run = start(fed_graph("    chunk: 4\n", "  end: {consumer: count, from: work}\n"));
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  give_all(tasks, 0, 14);
  EXPECT_TRUE(results.next()->has_value());  // 8 of them; the run goes
  Slot held = std::move(**tasks.acquire());
  write(held, 14);
  run->stop();
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_TRUE(held.submit().ok());
  });
  EXPECT_EQ(all_values(results), (std::vector<std::int64_t>{8, 9, 10, 11, 12, 13, 14}));
  later.join();
  EXPECT_FALSE(tasks.acquire()->has_value());
  EXPECT_EQ(message_of(run->wait()), "no error");
}

TEST_P(FeedingEnds, AFailureEndsIt) {
  auto run =
      start(fed_graph("", "  end: {consumer: faulty, from: work, params: {process: fail}}\n"));
  Input tasks = run->input("tasks");
  for (std::int64_t value = 0; give(tasks, value); ++value) ASSERT_LT(value, 100'000);
  EXPECT_TRUE(tasks.ended());
  EXPECT_THAT(run->wait().error().message, HasSubstr("it failed as told"));
}

TEST_P(FeedingEnds, ASlotMayBeHeldBeyondTheRun) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  Slot held = std::move(**tasks.acquire());
  Slot dropped = std::move(**tasks.acquire());
  run.reset();
  write(held, 1);
  EXPECT_THAT(held.submit().error().message, HasSubstr("the run has ended"));
  EXPECT_FALSE(tasks.acquire()->has_value());
  EXPECT_TRUE(tasks.close().ok());
}

INSTANTIATE_TEST_SUITE_P(All, FeedingEnds, testing::Bool(), threads_or_processes);

struct FeedingProcesses : Feeding {};

constexpr int kKillsMax = 40;  // where a worker takes long to start, they would be all there is

TEST_P(FeedingProcesses, WhatAnInputCannotBe) {
  EXPECT_THAT(program_.start_failure(fed_graph("    replicas: 2\n")),
              HasSubstr("`replicas:` applies to stages that run in their own processes"));
  EXPECT_THAT(program_.start_failure(fed_graph("    restart: never\n")),
              HasSubstr("`restart:` applies to stages"));
  EXPECT_THAT(program_.start_failure("checkpoint: {file: a.ckpt}\n" + fed_graph()),
              HasSubstr("is fed by a program, whose data cannot be read again"));
  EXPECT_THAT(program_.start_failure(fed_graph("    shuffle: true\n")),
              HasSubstr("`shuffle` applies to producers"));
  EXPECT_THAT(program_.start_failure("stages:\n  tasks: {producer: application}\n"
                                     "  end: {consumer: count, from: tasks}\n"),
              HasSubstr("the tensors of the program are not declared; write `tensors: "));
  EXPECT_THAT(
      program_.start_failure("stages:\n  a: {producer: synthetic, params: {count: 3}, tensors: "
                             "{x: {dtype: f32, shape: []}}}\n  end: {consumer: count, from: a}\n"),
      HasSubstr("`tensors:` applies to `producer: application`"));
}
INSTANTIATE_TEST_SUITE_P(All, FeedingProcesses, testing::Values(false));

}  // namespace
}  // namespace brigade
