#include "pipeline/run/supervisor/failure_report.h"

#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/records/sampler.h"
#include "pipeline/worker/tasks/replica_context.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

FailureReport killed(int signal) {
  FailureReport death;
  death.stage = "augment";
  death.replica = 1;
  death.pid = 123;
  death.ending = {Ending::Kind::killed, signal};
  return death;
}

std::string text_of(const FailureReport& death) { return event_text(event_of(death)); }

TEST(FailureReport, NamesTheStageTheReplicaThePidAndTheSignal) {
  EXPECT_EQ(text_of(killed(SIGSEGV)),
            "stage \"augment\" replica 1 (pid 123) was killed by SIGSEGV");
}

TEST(FailureReport, NamesTheEventSampleAndTheLastLines) {
  FailureReport death = killed(SIGABRT);
  death.sample = EventSample{812, true, 0, 812, 4711};
  death.last_lines = {"one", "two", "", "free(): \"invalid\" pointer", "four"};
  EXPECT_EQ(text_of(death),
            "stage \"augment\" replica 1 (pid 123) was killed by SIGABRT with sample 812 in flight "
            "(epoch 0, index 812, id 4711); its last output: \"two\" / "
            "\"free(): \\\"invalid\\\" pointer\" / \"four\"");
}

TEST(FailureReport, IsOneLineWhateverWasPrinted) {
  FailureReport death = killed(SIGSEGV);
  death.last_lines = {"a\x1b[31m\rb", std::string(5000, 'x')};
  const std::string text = text_of(death);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 500u);
}

TEST(FailureReport, GuessesAtLackOfMemory) {
  EXPECT_NE(text_of(killed(SIGKILL)).find("out of memory"), std::string::npos);
  EXPECT_NE(text_of(killed(SIGBUS)).find("out of memory"), std::string::npos);
  FailureReport known = killed(SIGKILL);
  known.lack_of_memory = true;
  EXPECT_NE(text_of(known).find("SIGKILL (by the kernel: out of memory)"), std::string::npos);
}

TEST(FailureReport, ByAnExitCodeOrUnknownCauseIsSaid) {
  FailureReport death = killed(0);
  death.ending = {Ending::Kind::exited, 3};
  EXPECT_NE(text_of(death).find("exited with code 3"), std::string::npos);
  death.ending = {};
  EXPECT_NE(text_of(death).find("ended, cause unknown"), std::string::npos);
}

TEST(FailureReport, AMessageOfItsOwnSaysItAll) {
  FailureReport death = killed(0);
  death.message = "cannot open x.png: no such file";
  EXPECT_EQ(text_of(death),
            "stage \"augment\" replica 1 (pid 123) failed: cannot open x.png: no such file");
}

TEST(FailureReport, AThreadHasNoPid) {
  FailureReport death = killed(0);
  death.pid = 0;
  death.message = "m";
  EXPECT_EQ(text_of(death), "stage \"augment\" replica 1 failed: m");
}

struct HeldSample : testing::Test {
  Plan plan = small_plan();
  StartBarrier barrier{plan};
  std::vector<Line<SystemPolicy>> found{plan.stages.size()};
  Control<SystemPolicy> control;

  HeldSample() {
    for (Line<SystemPolicy>& word : found) control.stages.emplace_back().source_samples = &word;
  }

  std::optional<EventSample> in_hand(std::uint64_t at) {
    return in_flight_sample(plan, barrier, control, 1, at);
  }
};

TEST_F(HeldSample, IsNoneWhereTheReplicaHasNone) { EXPECT_FALSE(in_hand(kNever)); }

TEST_F(HeldSample, HasOnlyItsNumberBeforeSizesAreKnown) {
  ASSERT_TRUE(in_hand(70));
  EXPECT_EQ(in_hand(70)->number, 70u);
  EXPECT_FALSE(in_hand(70)->placed);
}

TEST_F(HeldSample, HasItsPlaceInTheEpochAndItsId) {
  plan.stages[0].shuffle = true;
  plan.index_spaces[0].multiple = 64;
  barrier.ready(0, 150);
  Sampler sampler(150, 192, true, plan.stages[0].seed);
  sampler.enter(1);
  const auto sample = in_hand(192 + 10);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->placed);
  EXPECT_EQ(sample->epoch, 1u);
  EXPECT_EQ(sample->index, 10u);
  EXPECT_EQ(sample->id, sampler.id(10));
}

TEST_F(HeldSample, OfAPartHasItsIndexInTheSource) {
  plan.stages[0].skip = 100;
  plan.index_spaces[0].multiple = 64;
  barrier.ready(0, 150);
  EXPECT_FALSE(in_hand(192 + 10)->placed) << "how many the source has found is not known yet";
  found[0].value = 250;
  ASSERT_TRUE(in_hand(192 + 10)->placed);
  EXPECT_EQ(in_hand(192 + 10)->id, 110u);
}

TEST_F(HeldSample, PaddingHasNoId) {
  plan.index_spaces[0].multiple = 64;
  barrier.ready(0, 150);
  EXPECT_FALSE(in_hand(160)->placed);
}

TEST_F(HeldSample, OfAQueueThatIsNotThereHasOnlyItsNumber) {
  barrier.ready(0, 150);
  EXPECT_EQ(in_hand(SampleAddress{3, 7}.word())->number, 7u);
  EXPECT_FALSE(in_hand(SampleAddress{3, 7}.word())->placed);
}

TEST_F(HeldSample, BelowAStageThatMakesSeveralHasItsPlaceAmongThese) {
  plan.stages[0].shuffle = true;
  plan.index_spaces[0].multiple = 64;
  plan.index_spaces.push_back({plan.index_spaces[0].sources, 192, 0, 3});
  plan.stages[1].queues[0].index_space = 1;
  barrier.ready(0, 150);
  Sampler sampler(150, 192, true, plan.stages[0].seed);
  sampler.enter(1);
  const auto sample = in_hand(3 * (192 + 10) + 2);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->epoch, 1u);
  EXPECT_EQ(sample->index, 32u);
  EXPECT_EQ(sample->id, sampler.id(10) * 3 + 2);
  EXPECT_FALSE(in_hand(3 * 150)->placed);
}

}  // namespace
}  // namespace brigade
