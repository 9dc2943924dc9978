// A program feeds a graph: slots that are held, dropped and submitted in any order on any thread, a
// graph without room, epochs. How it ends: input_ends_test.cpp.

#include "pipeline/application/input_queue.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string_view>
#include <thread>

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "tests/pipeline/application/feeding.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST_P(Feeding, OneThreadGivesABatchAndTakesIt) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  for (std::int64_t batch = 0; batch < 50; ++batch) {
    give_all(tasks, 8 * batch, 8 * batch + 8);
    const auto taken = results.next();
    ASSERT_TRUE(taken.ok() && *taken);
    EXPECT_EQ(values(**taken).front(), 8 * batch);
  }
  EXPECT_TRUE(tasks.close().ok());
  EXPECT_FALSE(results.next()->has_value());
  EXPECT_TRUE(run->wait().ok());
}

// The slots of one task, by two threads, the later ones first.
TEST_P(Feeding, SlotsAreSubmittedInAnyOrderOnAnyThread) {
  auto run = start(fed_graph("    chunk: 8\n"));
  std::thread feeder([tasks = run->input("tasks")]() mutable {
    for (std::int64_t round = 0; round < 40; ++round) {
      std::vector<Slot> first;
      std::vector<Slot> second;
      for (std::int64_t i = 0; i < 8; ++i) {
        Slot slot = std::move(**tasks.acquire());
        EXPECT_EQ(slot.sample().index, static_cast<std::uint64_t>(8 * round + i));
        (i % 2 == 0 ? first : second).push_back(std::move(slot));
      }
      const auto submit = [](std::vector<Slot>& slots) {
        for (; !slots.empty(); slots.pop_back()) {
          write(slots.back(), static_cast<std::int64_t>(slots.back().sample().index));
          EXPECT_TRUE(slots.back().submit().ok());
        }
      };
      std::thread other(submit, std::ref(second));
      submit(first);
      other.join();
    }
    EXPECT_TRUE(tasks.close().ok());
  });
  EXPECT_EQ(all_values(run->output("results")), up_to(320));
  feeder.join();
  EXPECT_TRUE(run->wait().ok());
}

TEST_P(Feeding, ASlotThatIsNotSubmittedIsADroppedSample) {
  auto run = start(fed_graph("", "  end: {consumer: count, from: work}\n"));
  std::vector<std::int64_t> given;
  std::thread feeder([&, tasks = run->input("tasks")]() mutable {
    for (std::int64_t value = 0; value < 500; ++value) {
      auto slot = tasks.acquire();
      write(**slot, value);
      if (value % 3 == 0 || value / 8 == 5) continue;  // of one batch all
      EXPECT_TRUE((*slot)->submit().ok());
      EXPECT_THAT((*slot)->submit().error().message, HasSubstr("was already submitted"));
      given.push_back(value);
    }
    EXPECT_TRUE(tasks.close().ok());
  });
  const auto taken = all_values(run->output("results"));
  feeder.join();
  EXPECT_EQ(taken, given);
  EXPECT_EQ(message_of(run->wait()), "no error");
  EXPECT_EQ(nlohmann::json::parse(*run->summary_json())["results"]["end"]["samples"], given.size());
}

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

TEST_P(Feeding, WhoAcquiresWaitsForRoom) {
  auto run = start(fed_graph());
  Input tasks = run->input("tasks");
  Output results = run->output("results");
  std::int64_t given = 0;
  for (;;) {
    auto slot = tasks.acquire_for(milliseconds(200));
    ASSERT_TRUE(slot.ok()) << slot.error().message;
    if (!*slot) break;
    write(**slot, given++);
    EXPECT_TRUE((*slot)->submit().ok());
  }
  EXPECT_GE(given, 16);
  EXPECT_LE(given, 3 * 1024);  // what the rings have
  EXPECT_FALSE(tasks.try_acquire()->has_value());
  EXPECT_FALSE(tasks.ended());
  std::thread reader([&] { EXPECT_EQ(all_values(results), up_to(given + 1)); });
  EXPECT_TRUE(give(tasks, given));
  EXPECT_TRUE(tasks.close().ok());
  reader.join();
  EXPECT_TRUE(run->wait().ok());
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

TEST_P(Feeding, EpochsEndWhereTheProgramSaysSo) {
  auto run = start("epochs: 4\n" + fed_graph());
  std::thread feeder([tasks = run->input("tasks")]() mutable {
    give_all(tasks, 0, 13);
    EXPECT_TRUE(tasks.end_epoch().ok());
    EXPECT_TRUE(tasks.end_epoch().ok());  // an empty one
    give_all(tasks, 13, 21);
    EXPECT_TRUE(tasks.end_epoch().ok());
    give_all(tasks, 21, 23);
    EXPECT_TRUE(tasks.end_epoch().ok());
    EXPECT_FALSE(tasks.end_epoch().ok());
    EXPECT_FALSE(tasks.acquire().ok());
  });
  Output results = run->output("results");
  std::string seen;
  for (const std::uint64_t epoch : {0, 1, 2, 3})
    for (const Batch& batch : results.epoch(epoch)) {
      EXPECT_EQ(batch.epoch(), epoch);
      seen += concat(epoch, ":", batch.sample(0).index, "+", batch.size(), " ");
    }
  EXPECT_EQ(seen, "0:0+8 0:8+5 2:0+8 3:0+2 ");
  feeder.join();
  EXPECT_FALSE(results.next()->has_value());
  EXPECT_EQ(message_of(run->wait()), "no error");
}

TEST_P(Feeding, TwoThreadsInAcquireAreRefused) {
  auto run = start(fed_graph("    chunk: 1\n"));
  Input tasks = run->input("tasks");
  const Slot held = std::move(**tasks.acquire());
  std::atomic<int> refused = 0;
  const auto ask = [&] {
    const auto slot = tasks.acquire();
    refused += slot.ok() || slot.error().message.find("two threads") == std::string::npos ? 0 : 1;
  };
  std::thread first(ask), second(ask);
  first.join();
  second.join();
  EXPECT_EQ(refused, 1);
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

}  // namespace
}  // namespace brigade
