// A thread of the program comes back from a wait where the program says so. By C, with signals:
// tests/pipeline/api/c/interrupted_test.cpp.

#include "pipeline/application/interruptible_sleep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/clock.h"
#include "tests/pipeline/application/feeding.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(InterruptibleSleep, EndsInTimeWithoutAQuestion) {
  std::atomic<std::uint32_t> word = 0;
  const Interrupted nobody;
  InterruptibleSleep sleep(nobody);
  const std::int64_t until = monotonic_ns() + 20'000'000;
  while (monotonic_ns() < until) sleep.until(word, 0, until);
  EXPECT_FALSE(sleep.interrupted());
}

TEST(InterruptibleSleep, AsksInTimeAndSleepsNoMoreAfterYes) {
  std::atomic<std::uint32_t> word = 0;
  int asked = 0;
  const Interrupted third = [&asked] { return ++asked == 3; };
  InterruptibleSleep sleep(third);
  const std::int64_t before = monotonic_ns();
  while (!sleep.interrupted()) sleep(word, 0);
  EXPECT_EQ(asked, 3);
  EXPECT_GE(monotonic_ns() - before, 3 * kInterruptedAskedEveryNs);
  sleep(word, 0);  // returns
  EXPECT_EQ(asked, 3);
}

TEST(InterruptibleSleep, DoesNotAskWhereItIsWoken) {
  std::atomic<std::uint32_t> word = 0;
  int asked = 0;
  const Interrupted ask = [&asked] { return ++asked > 0; };
  InterruptibleSleep sleep(ask);
  sleep(word, 1);  // as woken at once
  EXPECT_EQ(asked, 0);
}

class Interruptions : public Feeding {
 protected:
  std::unique_ptr<brigade::Run> start(const std::string& yaml) {
    auto run = Pipeline::from_text(yaml)
                   .quiet()
                   .in_process(GetParam())
                   .interrupted([this] { return yes_.load(); })
                   .start(program_.app());
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run ? std::move(*run) : nullptr;
  }
  std::atomic<bool> yes_ = true;
};

TEST_P(Interruptions, EndTheWaitForRoom) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  std::int64_t given = 0;
  const auto fill_up = [&] {  // returns why it waits
    for (;;) {
      auto slot = tasks.acquire();
      if (!slot) return slot.error().message;
      write(**slot, given++);
      EXPECT_TRUE((*slot)->submit().ok());
    }
  };
  EXPECT_THAT(fill_up(), HasSubstr("input \"tasks\": the wait for a free slot was interrupted"));
  EXPECT_FALSE(tasks.ended());
  yes_ = false;
  EXPECT_THAT(fill_up(), HasSubstr("has not read"));  // the control
  std::thread reader([&] { EXPECT_EQ(all_values(results), up_to(given + 100)); });
  give_all(tasks, given, given + 100);
  EXPECT_TRUE(tasks.close().ok());
  reader.join();
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(Interruptions, WaitClosesNothingWhereTheAnswerIsYesAtOnce) {
  auto run = start(fed_graph());
  EXPECT_THAT(run->wait().error().message, HasSubstr("was interrupted"));
  EXPECT_EQ(run->summary_json().error().refusal, Refusal::interrupted);
  yes_ = false;
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  std::thread reader([&] { EXPECT_EQ(all_values(results), up_to(20)); });
  give_all(tasks, 0, 20);
  EXPECT_TRUE(tasks.close().ok());
  reader.join();
  yes_ = true;
  while (!run->wait().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

INSTANTIATE_TEST_SUITE_P(All, Interruptions, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
