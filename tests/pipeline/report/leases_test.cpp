#include "pipeline/report/leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/report/counters.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNow = 10'000'000'000;

// numbers (replica 0 of the graph) -> two sinks (1 and 2), all of them begun a second ago.
struct LeasesTest : testing::Test {
  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();

  LeasesTest() {
    for (int r = 0; r < 3; ++r) stand(r, Waiting::no);
    control.index_spaces[0]->end.value = 128;
  }
  void stand(int number, Waiting waiting) {
    live_counters(control, number).since_ns = kNow - 1'000'000'000;
    live_counters(control, number).waiting = static_cast<std::uint64_t>(waiting);
  }
  std::vector<ReplicaLease> leases() const { return read_leases(plan, control, kNow); }
  Watermark<SystemPolicy>& watermark(StageNumber stage) {
    return *control.stages[stage].queues[0].watermark;
  }
};

TEST_F(LeasesTest, SayWhatEachReplicaIsAtAndForHowLong) {
  stand(0, Waiting::memory);
  stand(1, Waiting::input);
  stand(2, Waiting::no);
  const auto& table = control.stages[1].queues[0].table;
  table.word(0) = table.claimed(0, 2);
  control.replicas[2].in_flight.value = 7;
  const auto seen = leases();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].standing, Standing::needs_memory);
  EXPECT_EQ(seen[1].standing, Standing::needs_input);
  EXPECT_EQ(seen[1].tasks, 0u);
  EXPECT_EQ(seen[2].standing, Standing::working);
  EXPECT_EQ(seen[2].tasks, 1u);
  EXPECT_EQ(seen[2].sample->number, 7u);
  EXPECT_EQ(seen[2].for_ns, 1'000'000'000);
}

TEST_F(LeasesTest, WhoHasNotBegunSaysSo) {
  live_counters(control, 1).since_ns = 0;
  EXPECT_EQ(leases()[1].standing, Standing::not_begun);
  EXPECT_EQ(leases()[1].for_ns, 0);
}

TEST_F(LeasesTest, TimesThatNoClockGivesAreNotShown) {
  live_counters(control, 1).since_ns = std::uint64_t{1} << 63;
  live_counters(control, 2).since_ns = ~std::uint64_t{0} >> 1;
  EXPECT_EQ(leases()[1].standing, Standing::not_begun);
  EXPECT_EQ(leases()[1].for_ns, 0);
  EXPECT_EQ(leases()[2].for_ns, 0);
}

TEST_F(LeasesTest, TheSlowestReaderIsWhatAWriterWithoutRoomWaitsFor) {
  stand(0, Waiting::memory);
  watermark(0).level.value = 64;
  const auto standing = find_standing_watermark(plan, control, leases());
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->stage, 1);
  EXPECT_EQ(standing->level, 0u);
  EXPECT_EQ(standing->end, 128u);
}

TEST_F(LeasesTest, TheWriterIsWhatReadersWithoutInputWaitFor) {
  stand(1, Waiting::input);
  stand(2, Waiting::input);
  EXPECT_EQ(find_standing_watermark(plan, control, leases())->stage, 0);
}

TEST_F(LeasesTest, EverybodyWaitingForEverybodyComesToAnEnd) {
  stand(0, Waiting::memory);
  stand(1, Waiting::input);
  stand(2, Waiting::input);
  EXPECT_TRUE(find_standing_watermark(plan, control, leases()));
}

TEST_F(LeasesTest, AtTheEndNothingStands) {
  for (const int stage : {0, 1}) watermark(StageNumber(stage)).level.value = 128;
  EXPECT_FALSE(find_standing_watermark(plan, control, leases()));
  EXPECT_EQ(standstill_text(plan, control, leases()), "every stage has finished");
}

TEST_F(LeasesTest, TheTextNamesTheWatermarkAndWhy) {
  stand(0, Waiting::memory);
  stand(1, Waiting::input);
  control.replicas[2].in_flight.value = 7;
  EXPECT_EQ(standstill_text(plan, control, leases()),
            "stage \"sink\" is at 0 of 128 and blocks the others: replica 0 waits for input for "
            "1.0 s, replica 1 works on sample 7 for 1.0 s");
  std::vector<ReplicaLease> known = leases();
  known.back().process = 4711;
  const std::string table = leases_text(plan, control, known);
  EXPECT_THAT(table, testing::ContainsRegex("sink.0 +- +"));
  EXPECT_THAT(table, testing::ContainsRegex("sink.1 +4711 +"));
  EXPECT_THAT(table, HasSubstr("sink.1"));
  EXPECT_THAT(table, HasSubstr("waits for buffer space: a reader is slower"));
  EXPECT_THAT(table, HasSubstr("numbers"));
}

TEST_F(LeasesTest, AnEndThatIsNotKnownIsSaid) {
  control.index_spaces[0]->end.value = kNever;
  EXPECT_THAT(standstill_text(plan, control, leases()), HasSubstr("0 of an unknown number"));
}

}  // namespace
}  // namespace brigade
