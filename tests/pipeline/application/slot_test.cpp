// Slots of a task that a program holds all at once: acquire() waits for one `hold_timeout:`, which
// is said once, and is then an error that names them. In processes and in threads.

#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/pipeline/application/feeding.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

class HeldSlots : public Feeding {
 protected:
  /// A task is one slot.
  std::unique_ptr<brigade::Run> start_with(std::string_view hold_timeout) {
    return program_.start(fed_graph(concat("    chunk: 1\n    hold_timeout: ", hold_timeout, "\n")),
                          GetParam(), &events_);
  }
  const Events events_ = Events::open().value();
};

TEST_P(HeldSlots, AreNamedOnceWhileAnInputWaitsForOne) {
  auto run = start_with("300ms");
  {
    Input tasks = run->input("tasks");
    const Slot held = std::move(**tasks.acquire());
    for (int i = 0; i < 2; ++i) {
      const auto since = std::chrono::steady_clock::now();
      const auto refused = tasks.acquire();
      EXPECT_GE(std::chrono::steady_clock::now() - since, milliseconds(300));
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().refusal, Refusal::held);
      EXPECT_THAT(refused.error().message,
                  AllOf(HasSubstr("the program holds 1 slot that it has not submitted within "
                                  "`hold_timeout: 300ms`: sample 0 (taken at "),
                        HasSubstr("slot_test.cpp:"), HasSubstr("or raise `chunk:`")));
    }
    EXPECT_FALSE(tasks.acquire_for(milliseconds(10)).value().has_value());  // its own time
  }
  run.reset();
  const auto told = stalled_of(events_);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front().level, EventLevel::warning);
  EXPECT_EQ(told.front().stage, "tasks");
  EXPECT_THAT(event_text(told.front()),
              AllOf(HasSubstr("input \"tasks\" waits for the program to submit or drop slots, "
                              "for at most `hold_timeout: 300ms`: it holds sample 0 (taken at "),
                    HasSubstr("submit or drop these before requesting the next")));
}

TEST_P(HeldSlots, MayBeAnErrorAtOnce) {
  auto run = start_with("0s");
  {
    Input tasks = run->input("tasks");
    auto held = tasks.acquire();
    EXPECT_THAT(tasks.acquire().error().message, HasSubstr("within `hold_timeout: 0s`"));
    EXPECT_FALSE(tasks.try_acquire().value().has_value());
    held->reset();
    EXPECT_TRUE(tasks.acquire().value().has_value());
  }
  run.reset();
  EXPECT_TRUE(stalled_of(events_).empty());
}

// A second was the limit before the key.
TEST_P(HeldSlots, MayBeWaitedForLongerThanASecond) {
  auto run = start_with("1h");
  Input tasks = run->input("tasks");
  std::optional<Slot> held = std::move(*tasks.acquire());
  std::thread releases([&] {
    await_stalled(events_);
    std::this_thread::sleep_for(milliseconds(2100));
    held.reset();
  });
  const auto next = tasks.acquire();
  releases.join();
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_TRUE(next->has_value());
}

TEST_P(HeldSlots, AreNotWaitedForOnceTheRunIsStopped) {
  auto run = start_with("1h");
  Input tasks = run->input("tasks");
  const auto held = tasks.acquire();
  std::thread stops([&] {
    await_stalled(events_);
    run->stop();
    run->stop();
  });
  const auto next = tasks.acquire();
  stops.join();
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_FALSE(next->has_value());
}

INSTANTIATE_TEST_SUITE_P(All, HeldSlots, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
