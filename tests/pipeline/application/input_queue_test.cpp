// A program feeds a graph, in processes and in threads: batches that are closed in time, waits and
// what they say, how an input ends. What is given, dropped and submitted in any order on any thread
// is tested by conformance, and what Python sees by python/tests/input_test.py.

#include "pipeline/application/input_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string_view>
#include <thread>

#include <brigade/text.h>
#include "tests/pipeline/application/feeding.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST_P(Feeding, ABatchThatWasBegunIsClosedAfterMaxWait) {
  auto run = start(fed_graph("", "", "20ms"));
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  std::vector<std::int64_t> taken;
  for (std::int64_t given = 3; given <= 15; given += 3) {
    give_all(tasks, given - 3, given);
    while (static_cast<std::int64_t>(taken.size()) < given) {  // nobody gives more
      const auto batch = results.next();
      ASSERT_TRUE(batch.ok() && *batch);
      EXPECT_EQ((*batch)->sample(0).index, taken.size());
      for (const std::int64_t value : values(**batch)) taken.push_back(value);
    }
  }
  EXPECT_EQ(taken, up_to(15));
}

// Its negative controls: a slot that is held is about to be submitted, and a long max_wait waits.
TEST_P(Feeding, ABatchStaysOpenWhileMoreMayCome) {
  for (const char* const max_wait : {"1h", "20ms"}) {
    const bool held = std::string_view(max_wait) == "20ms";
    auto run = start(fed_graph("    chunk: 8\n", "", max_wait));
    Input tasks = run->input("tasks");
    std::vector<Slot> slots;
    for (int i = 0; i < 8 && held; ++i) slots.push_back(std::move(**tasks.acquire()));
    if (!held) give_all(tasks, 0, 7);
    for (std::size_t i = 0; i < 7 && held; ++i) EXPECT_TRUE(slots[i].submit().ok());
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_TRUE(held ? slots.back().submit().ok() : give(tasks, 7));
    EXPECT_EQ(run->output("results").next()->value().size(), 8);
  }
}

TEST_P(Feeding, AnInputBehindAnOutputThatIsNotReadSaysSo) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  for (;;) {
    auto slot = tasks.acquire();
    if (slot.ok()) {
      EXPECT_TRUE((**slot).submit().ok());
      continue;
    }
    EXPECT_THAT(slot.error().message,
                AllOf(HasSubstr("input \"tasks\" has no free slot, and no stage makes progress"),
                      HasSubstr("has not read from \"results\"; read that output between writes")));
    EXPECT_EQ(slot.error().refusal, Refusal::unread);
    break;
  }
  EXPECT_TRUE(results.next().ok());  // and it goes on
  EXPECT_TRUE(results.next().ok());
  EXPECT_TRUE(tasks.acquire().ok());
}

// Negative control of the one before: whoever reads in another thread may take its time.
TEST_P(Feeding, AThreadThatIsSlowToReadIsNoStandstill) {
  auto run = start(fed_graph());
  Output results = run->output("results");
  std::atomic<std::int64_t> read = 0;
  std::thread reader([&] {
    for (const Batch& batch : results) {
      if (read == 0) std::this_thread::sleep_for(milliseconds(2500));
      read += batch.size();
    }
  });
  Input tasks = run->input("tasks");
  EXPECT_TRUE(give(tasks, 0));
  give_all(tasks, 1, 400);
  EXPECT_TRUE(tasks.close().ok());
  reader.join();
  EXPECT_EQ(read, 400);
}

TEST_P(Feeding, AreToldWhichSlotsTheyHold) {
  auto run = start(fed_graph("    chunk: 2\n"));
  Input tasks = run->input("tasks");
  std::vector<Slot> held;
  for (int i = 0; i < 2; ++i) held.push_back(std::move(**tasks.acquire()));
  const auto refused = tasks.acquire();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().refusal, Refusal::held);
  EXPECT_THAT(
      refused.error().message,
      AllOf(HasSubstr("input \"tasks\": the program holds 2 slots that it has not submitted "
                      "within `hold_timeout: 1s`: sample 0 (taken at "),
            HasSubstr("input_queue_test.cpp:"), HasSubstr("sample 1 (taken at "),
            HasSubstr("or raise `chunk:`")));
  EXPECT_FALSE(tasks.try_acquire()->has_value());
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    held.clear();
  });
  EXPECT_TRUE(tasks.acquire()->has_value());
  later.join();
  EXPECT_FALSE(tasks.full());
}

TEST_P(Feeding, AnInputIsClosedOnce) {
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

TEST_P(Feeding, AnInputIsClosedWithItsLastHandleOrByWait) {
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

TEST_P(Feeding, AStopEndsItWithWhatWasGiven) {
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
TEST_P(Feeding, AStopNeedsNoThreadOfTheProgram) {
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

TEST_P(Feeding, AFailureEndsIt) {
  auto run =
      start(fed_graph("", "  end: {consumer: faulty, from: work, params: {process: fail}}\n"));
  Input tasks = run->input("tasks");
  for (std::int64_t value = 0; give(tasks, value); ++value) ASSERT_LT(value, 100'000);
  EXPECT_TRUE(tasks.ended());
  EXPECT_THAT(run->wait().error().message, HasSubstr("it failed as told"));
}

TEST_P(Feeding, AForkedChildIsRefused) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  std::optional<Slot> held = std::move(*tasks.acquire());
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = !tasks.acquire().ok() && !tasks.close().ok() && !held->submit().ok();
    held.reset();
    _exit(refused && tasks.ended() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  write(*held, 0);
  EXPECT_TRUE(held->submit().ok());  // and the parent goes on
  EXPECT_TRUE(tasks.close().ok());
  EXPECT_EQ(all_values(run->output("results")), up_to(1));
}

INSTANTIATE_TEST_SUITE_P(All, Feeding, testing::Bool(), threads_or_processes);

struct FeedingProcesses : Feeding {};

TEST_P(FeedingProcesses, WhatAnInputCannotBe) {
  EXPECT_THAT(program_.start_failure("checkpoint: {file: a.ckpt}\n" + fed_graph()),
              HasSubstr("is fed by a program, whose data cannot be read again"));
  EXPECT_THAT(program_.start_failure("stages:\n  tasks: {producer: application}\n"
                                     "  end: {consumer: count, from: tasks}\n"),
              HasSubstr("the tensors of the program are not declared; write `tensors: "));
}
INSTANTIATE_TEST_SUITE_P(All, FeedingProcesses, testing::Values(false));

}  // namespace
}  // namespace brigade
