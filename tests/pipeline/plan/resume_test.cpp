#include "pipeline/plan/resume.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kRow{{"x", DType::u8, {16}}};

class ResumePlan : public testing::Test {
 protected:
  ResumePlan() { graph.graph().epochs = 5; }

  /// A source, a transform, and a consumer of batches of 64.
  void line() {
    graph.producer("source", kRow);
    graph.transform("work", {"source"}, kRow);
    consumer("end", "work", 64);
  }
  void consumer(const std::string& name, const std::string& source, std::uint64_t batch) {
    ValidStage& end = graph.consumer(name, {source});
    end.batched = batch > 0;
    end.sources[0].batch = batch;
  }
  Plan planned() {
    PlanResult result = plan_graph(graph.build(), small_machine());
    EXPECT_TRUE(result.ok());
    return std::move(result.plan);
  }
  static Position at(std::uint64_t epoch, std::uint64_t index, std::uint64_t samples = 1000) {
    Position position;
    position.lanes = {{epoch, index}};
    position.sources = {{"source", samples, 42}};
    return position;
  }
  static PlanStage& stage(Plan& plan, const std::string& name) {
    for (PlanStage& stage : plan.stages)
      if (stage.name == name) return stage;
    ADD_FAILURE() << name;
    return plan.stages.front();
  }

  GraphBuilder graph;
};

TEST_F(ResumePlan, AllMarksBeginAtTheConsumersPosition) {
  line();
  Plan plan = planned();
  ASSERT_TRUE(resume_plan(plan, {{}, {}, at(2, 640)}).ok());
  const std::uint64_t period = 1024;  // 1000 samples in batches of 64
  EXPECT_EQ(plan.domains[0].start, 2 * period + 640);
  EXPECT_EQ(plan.domains[0].first_epoch, 2u);
  EXPECT_EQ(plan.domains[0].samples, 1000u);
  EXPECT_EQ(stage(plan, "source").fingerprint, 42u);
  EXPECT_EQ(stage(plan, "work").epoch_ends_told, 2u);
  EXPECT_EQ(stage(plan, "end").lanes[0].resume_at, 2 * period + 640);
  EXPECT_FALSE(stage(plan, "end").holes_possible);
}

TEST_F(ResumePlan, APositionBetweenTasksIsRoundedDownAndTheRestLeftOut) {
  line();
  Plan plan = planned();
  ASSERT_TRUE(resume_plan(plan, {{}, {}, at(0, 100)}).ok());
  EXPECT_EQ(plan.domains[0].start, 64u);
  EXPECT_EQ(stage(plan, "end").lanes[0].resume_at, 100u);
  EXPECT_TRUE(stage(plan, "end").holes_possible);
}

TEST_F(ResumePlan, TheLowestOfSeveralConsumersCounts) {
  line();
  consumer("other", "source", 32);
  Plan plan = planned();
  std::vector<Position> positions(4);
  positions[2] = at(1, 320);
  positions[3] = at(0, 960);
  const bool end_is_third = plan.stages[2].name == "end";
  if (!end_is_third) std::swap(positions[2], positions[3]);
  ASSERT_TRUE(resume_plan(plan, positions).ok());
  EXPECT_EQ(plan.domains[0].start, 960u);
  EXPECT_EQ(stage(plan, "end").lanes[0].resume_at, 1024u + 320);
  EXPECT_EQ(stage(plan, "other").lanes[0].resume_at, 960u);
}

TEST_F(ResumePlan, WhoHasNoPositionBeginsAtTheBeginning) {
  line();
  consumer("other", "source", 32);
  Plan plan = planned();
  std::vector<Position> positions(4);
  positions[plan.stages[2].name == "end" ? 2 : 3] = at(1, 320);
  ASSERT_TRUE(resume_plan(plan, positions).ok());
  EXPECT_EQ(plan.domains[0].start, 0u);
  EXPECT_EQ(stage(plan, "other").lanes[0].resume_at, 0u);
  EXPECT_EQ(stage(plan, "other").epoch_ends_told, 0u);
  EXPECT_EQ(stage(plan, "end").lanes[0].resume_at, 1024u + 320);
}

TEST_F(ResumePlan, ItsEndIsTheEndHoweverManyEpochsThereWere) {
  line();
  Plan plan = planned();
  ASSERT_TRUE(resume_plan(plan, {{}, {}, at(7, 0)}).ok());
  EXPECT_EQ(plan.domains[0].start, 5 * 1024u);
}

TEST_F(ResumePlan, BelowSeveralOfEachPositionsAreDivided) {
  graph.producer("source", kRow);
  graph.transform("twice", {"source"}, kRow).outputs_per_input = 2;
  graph.type_of("twice").contract.numbering = Numbering::fixed;
  consumer("end", "twice", 64);
  Plan plan = planned();
  ASSERT_TRUE(resume_plan(plan, {{}, {}, at(1, 640)}).ok());
  const PlanLane& lane = stage(plan, "end").lanes[0];
  const std::uint64_t above =
      plan.domains[static_cast<std::size_t>(stage(plan, "source").lanes[0].domain)].start;
  const std::uint64_t below = plan.domains[static_cast<std::size_t>(lane.domain)].start;
  EXPECT_EQ(below, 2 * above);
  EXPECT_LE(below, lane.resume_at);
  EXPECT_LT(lane.resume_at - below, 2 * plan.domains[0].multiple);
}

TEST_F(ResumePlan, WhatIsInQuarantineStaysThere) {
  line();
  Plan plan = planned();
  Position position = at(1, 64);
  position.quarantined = {{"work", 0, 1, 200}, {"work", 0, 1, 200}, {"gone", 0, 0, 0}};
  ASSERT_TRUE(resume_plan(plan, {{}, {}, position}).ok());
  EXPECT_EQ(stage(plan, "work").quarantined,
            (std::vector<std::uint64_t>{lane_number(0, 1024 + 200)}));
}

TEST_F(ResumePlan, PositionsThatDisagreeAreRefused) {
  line();
  consumer("other", "source", 32);
  Plan plan = planned();
  std::vector<Position> positions(4);
  positions[2] = at(1, 0);
  positions[3] = at(1, 0, 999);
  const auto resumed = resume_plan(plan, positions);
  ASSERT_FALSE(resumed.ok());
  EXPECT_NE(resumed.error().message.find("disagree about the source \"source\""),
            std::string::npos);
  Position two = at(1, 0);
  two.lanes.push_back({});
  Plan again = planned();
  EXPECT_FALSE(resume_plan(again, {{}, {}, two, {}}).ok());
}

// on_error: {skip: N} allows N different samples, however often the run was stopped.
TEST_F(ResumePlan, WhatFailedBeforeItBeginsCountsOn) {
  line();
  graph.stage("work").on_error = {true, 5, 0};
  Plan plan = planned();
  Position position = at(1, 64);
  position.skipped = {{"work", 0, 0, 7}, {"work", 0, 0, 7}, {"work", 0, 1, 63}, {"work", 0, 1, 64},
                      {"end", 0, 0, 1},  {"work", 1, 0, 1}, {"gone", 0, 0, 0}};
  ASSERT_TRUE(resume_plan(plan, {{}, {}, position}).ok());
  EXPECT_EQ(stage(plan, "work").skipped, (std::vector<PlanPlace>{{0, 0, 7}, {0, 1, 63}}));
  EXPECT_TRUE(stage(plan, "end").skipped.empty());
}

TEST_F(ResumePlan, WhoKeepsStateAndCannotSaveItIsNamed) {
  line();
  Plan plan = planned();
  EXPECT_TRUE(stages_that_forget(plan).empty());
  stage(plan, "work").stateful = true;
  stage(plan, "end").stateful = stage(plan, "end").saves = true;
  EXPECT_EQ(stages_that_forget(plan), (std::vector<std::string>{"work"}));
}

/// A source, two stages that number its samples anew, `inner` below one of them, and a consumer of
/// each (`end_SOURCE`) and of the source.
class ResumeBelowFreeNumbering : public ResumePlan {
 protected:
  ResumeBelowFreeNumbering() {
    graph.producer("source", kRow);
    free("left", "source");
    free("right", "source");
    free("inner", "left");
    for (const char* one : {"source", "left", "right", "inner"})
      consumer(concat("end_", one), one, 64);
    graph.stage("right").on_error = {true, 5, 0};
    graph.stage("end_left").on_error = {true, 5, 0};
    plan = planned();
    positions.resize(plan.stages.size());
  }
  void free(const std::string& name, const std::string& source) {
    graph.transform(name, {source}, kRow);
    graph.type_of(name).contract.numbering = Numbering::free;
  }
  Position& position(const std::string& name) {
    return positions[static_cast<std::size_t>(&stage(plan, name) - plan.stages.data())];
  }
  /// All of them, by the epochs of the consumers.
  void resume(std::uint64_t source, std::uint64_t left, std::uint64_t right, std::uint64_t inner) {
    position("end_source") = at(source, 320);
    position("end_left") = at(left, 0);
    position("end_right") = at(right, 0);
    position("end_inner") = at(inner, 0);
    const auto resumed = resume_plan(plan, positions);
    ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  }
  const PlanDomain& domain_of(const std::string& name) {
    return plan.domains[static_cast<std::size_t>(stage(plan, name).lanes[0].domain)];
  }

  Plan plan;
  std::vector<Position> positions;
};

constexpr std::uint64_t kPeriod = 1024;  // 1000 samples in batches of 64

TEST_F(ResumeBelowFreeNumbering, NumbersBeginAnewWithTheLowestEpochOfTheReaders) {
  resume(4, 3, 2, 4);
  EXPECT_EQ(domain_of("left").first_epoch, 3u);  // of end_left and inner
  EXPECT_EQ(domain_of("right").first_epoch, 2u);
  EXPECT_EQ(domain_of("inner").first_epoch, 4u);
  for (const char* one : {"left", "right", "inner"}) EXPECT_EQ(domain_of(one).start, 0u);
  EXPECT_EQ(domain_of("source").start, 2 * kPeriod);
  EXPECT_EQ(stage(plan, "left").epoch_ends_told, 3u);
}

TEST_F(ResumeBelowFreeNumbering, WhoIsFurtherOnLeavesOutWholeEpochs) {
  resume(4, 3, 2, 4);
  EXPECT_EQ(stage(plan, "end_left").lanes[0].resume_epoch, 3u);
  EXPECT_EQ(stage(plan, "end_inner").lanes[0].resume_epoch, 4u);
  EXPECT_EQ(stage(plan, "inner").lanes[1].resume_epoch, 4u);
  EXPECT_EQ(stage(plan, "end_left").lanes[0].resume_at, 0u);
  EXPECT_EQ(stage(plan, "end_source").lanes[0].resume_at, 4 * kPeriod + 320);
}

TEST_F(ResumeBelowFreeNumbering, AStageThatNumbersLeavesOutWhatItsSourceGivesForOthers) {
  resume(0, 3, 2, 4);
  EXPECT_EQ(domain_of("source").start, 320u);
  EXPECT_EQ(stage(plan, "left").lanes[1].resume_at, 3 * kPeriod);
  EXPECT_EQ(stage(plan, "right").lanes[1].resume_at, 2 * kPeriod);
}

TEST_F(ResumeBelowFreeNumbering, WhoHasFinishedLeavesOutEverything) {
  resume(5, 5, 1, 5);
  EXPECT_EQ(domain_of("left").first_epoch, 5u);
  EXPECT_EQ(stage(plan, "left").lanes[1].resume_at, 5 * kPeriod);
  EXPECT_EQ(stage(plan, "end_left").lanes[0].resume_epoch, 5u);
  EXPECT_EQ(stage(plan, "right").lanes[1].resume_at, kPeriod);
}

TEST_F(ResumeBelowFreeNumbering, WhoHasNoPositionBeginsAtTheBeginning) {
  position("end_left") = at(3, 0);
  ASSERT_TRUE(resume_plan(plan, positions).ok());
  for (const char* one : {"source", "left", "right", "inner"}) {
    EXPECT_EQ(domain_of(one).start, 0u);
    EXPECT_EQ(domain_of(one).first_epoch, 0u);
  }
  EXPECT_EQ(stage(plan, "end_left").lanes[0].resume_epoch, 3u);
}

TEST_F(ResumeBelowFreeNumbering, WhatFailedInEarlierEpochsCountsOn) {
  resume(4, 3, 2, 4);
  forget_past(plan);
  position("end_inner").skipped = {
      {"end_left", 0, 2, 9}, {"end_left", 0, 3, 1}, {"right", 1, 1, 8}, {"right", 1, 2, 8}};
  ASSERT_TRUE(resume_plan(plan, positions).ok());
  EXPECT_EQ(stage(plan, "end_left").skipped, (std::vector<PlanPlace>{{0, 2, 9}}));
  EXPECT_EQ(stage(plan, "right").skipped, (std::vector<PlanPlace>{{1, 1, 8}}));
  forget_past(plan);
  EXPECT_TRUE(stage(plan, "right").skipped.empty());
  EXPECT_EQ(stage(plan, "inner").lanes[1].resume_epoch, 0u);
}

TEST_F(ResumePlan, ForgettingThePastGivesThePlanAgain) {
  line();
  const Plan before = planned();
  Plan plan = before;
  ASSERT_TRUE(resume_plan(plan, {{}, {}, at(2, 640)}).ok());
  EXPECT_FALSE(plan == before);
  forget_past(plan);
  EXPECT_TRUE(plan == before);
}

}  // namespace
}  // namespace brigade
