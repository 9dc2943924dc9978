// The protocol under real threads; run under ThreadSanitizer as well.

#include <gtest/gtest.h>

#include "tests/support/line_threads.h"

namespace brigade {
namespace {

using support::LineThreads;
using support::StageSpec;
using namespace std::chrono_literals;

void expect_every_sample_once(const LineThreads& line, std::uint64_t samples) {
  EXPECT_EQ(line.wrong_rows(), 0);
  for (int s = 0; s < static_cast<int>(line.shape().stages.size()); ++s) {
    EXPECT_EQ(line.low(s), samples);
    for (std::uint64_t n = 0; n < samples; ++n) {
      ASSERT_EQ(line.seen(s, n), 1) << "sample " << n << " in stage " << s;
    }
  }
}

void expect_exact_books(LineThreads& line, std::uint64_t full) {
  for (int s = 0; s < static_cast<int>(line.shape().stages.size()); ++s) {
    for (int input : line.shape().stages[static_cast<std::size_t>(s)].lanes[0].inputs) {
      const EdgeAudit audit = audit_edge(line.control(), input, s, 0);
      EXPECT_EQ(audit.produced, full);
      EXPECT_EQ(audit.delivered, full);
      EXPECT_EQ(audit.dropped, 0u);
      EXPECT_EQ(audit.leaked, 0);
    }
  }
}

struct Line {
  const char* name;
  std::vector<StageSpec> stages;
};

class EveryLine : public testing::TestWithParam<Line> {};

TEST_P(EveryLine, DeliversEverySampleOnceAndItsBooksBalance) {
  const std::uint64_t samples = 4800;
  LineThreads line(GetParam().stages, samples);
  line.is_hole = [](std::uint64_t sample) { return sample % 7 == 3; };
  line.run();
  expect_every_sample_once(line, samples);
  std::uint64_t full = 0;
  for (std::uint64_t n = 0; n < samples; ++n) full += n % 7 != 3;
  expect_exact_books(line, full);
}

TEST_P(EveryLine, SleepersAreWokenWhoeverIsSlow) {
  const std::uint64_t samples = 96;
  for (int slow = 0; slow < static_cast<int>(GetParam().stages.size()); ++slow) {
    LineThreads line(GetParam().stages, samples);
    line.before_task = [slow](int stage, int, std::uint64_t) {
      if (stage == slow) std::this_thread::sleep_for(500us);
    };
    line.spins = slow % 2 * 10;
    line.run();
    expect_every_sample_once(line, samples);
  }
}

TEST_P(EveryLine, SleepersAreWokenWhoeverPaysForIt) {
  const std::uint64_t samples = 480;
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
    LineThreads line(GetParam().stages, samples, order);
    line.run();
    expect_every_sample_once(line, samples);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lines, EveryLine,
    testing::Values(
        Line{"one_to_one_in_order", {{1, 1, 4, {}, true}, {1, 1, 0, {0}, true}}},
        Line{"one_to_one_with_task_words", {{1, 1, 4, {}}, {1, 1, 0, {0}}}},
        Line{"two_to_two", {{2, 1, 4, {}}, {2, 1, 0, {0}}}},
        Line{"two_to_two_in_chunks", {{2, 4, 16, {}}, {2, 2, 0, {0}}}},
        Line{"four_replicas", {{4, 1, 8, {}}, {4, 1, 0, {0}}}},
        Line{"source_transforms_batches",
             {{1, 4, 32, {}, true}, {4, 4, 48, {0}}, {1, 16, 0, {1}, true}}},
        Line{"broadcast", {{1, 2, 8, {}, true}, {2, 2, 0, {0}}, {1, 4, 0, {0}, true}}},
        Line{"zip", {{2, 1, 4, {}}, {1, 2, 8, {}, true}, {2, 4, 0, {0, 1}}}},
        Line{"a_diamond",
             {{1, 1, 4, {}, true}, {2, 1, 4, {0}}, {1, 2, 4, {0}, true}, {1, 4, 0, {1, 2}, true}}},
        Line{"fixed_turns", {{2, 1, 8, {}}, {3, 2, 0, {0}, false, true}}}),
    [](const auto& name) { return name.param.name; });

TEST(FixedTurns, TaskTGoesToReplicaTModR) {
  LineThreads line({{1, 1, 12, {}, true}, {3, 2, 0, {0}, false, true}}, 600);
  std::atomic<int> strangers{0};
  line.before_task = [&](int stage, int replica, std::uint64_t task) {
    if (stage == 1 && static_cast<std::uint64_t>(replica) != task % 3) ++strangers;
  };
  line.run();
  EXPECT_EQ(strangers, 0);
}

TEST(StopOfRunningThreads, TheLineRunsDryAtTheLoweredEnd) {
  const std::uint64_t samples = 1'000'000;
  LineThreads line({{2, 2, 16, {}}, {2, 4, 16, {0}}, {1, 8, 0, {1}, true}}, samples);
  line.set_end();
  line.start();
  while (line.low(2) < 64) std::this_thread::yield();
  ask_stop(line.control());
  while (!all_acknowledged(line.control(), [](int) { return false; })) std::this_thread::yield();
  lower_end(line.control(), 0, 8);
  line.join();
  const std::uint64_t end = line.low(2);
  EXPECT_EQ(line.control().domains[0]->end.value, end);
  EXPECT_LT(end, samples);
  EXPECT_EQ(end % 8, 0u);
  EXPECT_EQ(line.low(0), end);
  for (std::uint64_t n = 0; n < end; ++n) ASSERT_EQ(line.seen(2, n), 1);
  expect_exact_books(line, end);
}

TEST(AbortOfRunningThreads, EverybodyLeavesAlsoWhoStartsLate) {
  LineThreads line({{1, 1, 4, {}, true}, {1, 1, 0, {0}, true}}, 1'000'000);
  line.start();  // the end is unknown: they run into nothing but abort
  abort_all(line.control());
  line.join();
  line.start();
  line.join();
}

TEST(SeveralLanes, ASleeperIsWokenByWhicheverMarkMoves) {
  // A merging consumer: one lane per source, in one replica.
  GraphShape shape =
      support::line_shape({{1, 1, 4, {}, true}, {1, 1, 4, {}, true}, {1, 1, 0, {0}}});
  LaneShape second = shape.stages[2].lanes[0];
  second.inputs = {1};
  shape.stages[2].lanes.push_back(second);
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control =
      create_control<SystemPolicy>(memory.data(), shape, choose_wake_order<SystemPolicy>());
  set_end(control, 0, 200, 200, 1);

  const auto produce = [&](int stage) {
    Channel<SystemPolicy> channel(control, stage, 0, 0);
    for (;;) {
      const auto claim =
          claim_or_wait<SystemPolicy>(control, stage, 0, [&] { return channel.try_claim(); });
      if (claim.look != Look::claimed) return;
      if (claim.task % 16 == 0) std::this_thread::sleep_for(1ms);
      channel.finish(claim.task);
    }
  };
  std::thread first(produce, 0);
  std::thread other(produce, 1);

  Channel<SystemPolicy> lanes[] = {{control, 2, 0, 0}, {control, 2, 1, 0}};
  int lane = 0;
  const auto attempt = [&] {
    Attempt<SystemPolicy> found = lanes[0].try_claim();
    lane = 0;
    if (found.look == Look::claimed) return found;
    const auto second_found = lanes[1].try_claim();
    lane = 1;
    return second_found.look == Look::ended ? found : second_found;
  };
  Mark<SystemPolicy>* const also[] = {control.stages[0].lanes[0].mark,
                                      control.stages[1].lanes[0].mark, &lanes[0].mark(),
                                      &lanes[1].mark()};
  std::uint64_t taken = 0;
  for (;;) {
    const auto claim = claim_or_wait<SystemPolicy>(control, 2, 0, attempt, DoNothing{}, also);
    if (claim.look != Look::claimed) break;
    lanes[lane].finish(claim.task);
    ++taken;
  }
  first.join();
  other.join();
  EXPECT_EQ(taken, 400u);
}

}  // namespace
}  // namespace brigade
