#include "pipeline/state/resume_numbers.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/plan/planner/planner.h"
#include "pipeline/plan/sample_address.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kSlot{{"x", DType::u8, {16}}};

class ResumeNumbers : public testing::Test {
 protected:
  ResumeNumbers() { graph.graph().epochs = 5; }

  /// A source, a transform, and a consumer of batches of 64.
  void line() {
    graph.producer("source", kSlot);
    graph.transform("work", {"source"}, kSlot);
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
    position.queues = {{epoch, index}};
    position.sources = {{"source", samples, 42}};
    return position;
  }
  StageNumber index(const std::string& name) const {
    for (const StageNumber s : plan.stages.numbers())
      if (plan.stages[s].name == name) return s;
    ADD_FAILURE() << name;
    return 0;
  }
  const ResumeStage& before(const std::string& name) const { return point.stages[index(name)]; }
  bool resume(const ByStage<Position>& positions) {
    auto resumed = resume_numbers(plan, {}, positions);
    if (resumed.ok()) point = std::move(*resumed);
    return resumed.ok();
  }

  GraphBuilder graph;
  Plan plan;
  ResumePoint point;
};

TEST_F(ResumeNumbers, APositionBetweenTasksIsRoundedDownAndTheRestDropped) {
  line();
  plan = planned();
  ASSERT_TRUE(resume({{}, {}, at(0, 100)}));
  EXPECT_EQ(point.index_spaces[0].start, 64u);
  EXPECT_EQ(before("end").queues[0].at, 100u);
}

TEST_F(ResumeNumbers, ItsEndIsTheEndHoweverManyEpochsThereWere) {
  line();
  plan = planned();
  ASSERT_TRUE(resume({{}, {}, at(7, 0)}));
  EXPECT_EQ(point.index_spaces[0].start, 5 * 1024u);
}

TEST_F(ResumeNumbers, WhatIsInQuarantineStaysThere) {
  line();
  plan = planned();
  Position position = at(1, 64);
  position.quarantined = {{"work", 0, 1, 200}, {"work", 0, 1, 200}, {"gone", 0, 0, 0}};
  ASSERT_TRUE(resume({{}, {}, position}));
  EXPECT_EQ(before("work").quarantined,
            (std::vector<std::uint64_t>{SampleAddress{0, 1024 + 200}.word()}));
}

TEST_F(ResumeNumbers, PositionsThatDisagreeAreRefused) {
  line();
  consumer("other", "source", 32);
  plan = planned();
  ByStage<Position> positions(4);
  positions[2] = at(1, 0);
  positions[3] = at(1, 0, 999);
  const auto resumed = resume_numbers(plan, {}, positions);
  ASSERT_FALSE(resumed.ok());
  EXPECT_NE(resumed.error().message.find("disagree about the source \"source\""),
            std::string::npos);
  Position two = at(1, 0);
  two.queues.push_back({});
  EXPECT_FALSE(resume({{}, {}, two, {}}));
}

// on_error: {skip: N} allows N different samples, however often the run was stopped.
TEST_F(ResumeNumbers, WhatFailedBeforeItBeginsCountsOn) {
  line();
  graph.stage("work").on_error = {true, 5, 0};
  plan = planned();
  Position position = at(1, 64);
  position.skipped = {{"work", 0, 0, 7}, {"work", 0, 0, 7}, {"work", 0, 1, 63}, {"work", 0, 1, 64},
                      {"end", 0, 0, 1},  {"work", 1, 0, 1}, {"gone", 0, 0, 0}};
  ASSERT_TRUE(resume({{}, {}, position}));
  EXPECT_EQ(before("work").skipped, (std::vector<SampleInQueue>{{0, 0, 7}, {0, 1, 63}}));
  EXPECT_TRUE(before("end").skipped.empty());
}

TEST_F(ResumeNumbers, WhoKeepsStateAndCannotSaveItIsNamed) {
  line();
  plan = planned();
  EXPECT_TRUE(stages_that_forget(plan).empty());
  plan.stages[index("work")].stateful = true;
  plan.stages[index("end")].stateful = plan.stages[index("end")].saves = true;
  EXPECT_EQ(stages_that_forget(plan), (std::vector<std::string>{"work"}));
}

/// A source, two stages that number its samples anew, `inner` below one of them, and a consumer of
/// each (`end_SOURCE`) and of the source.
class ResumeBelowFlatMap : public ResumeNumbers {
 protected:
  ResumeBelowFlatMap() {
    graph.producer("source", kSlot);
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
    graph.transform(name, {source}, kSlot);
    graph.type_of(name).contract.numbering = Numbering::flat_map;
  }
  Position& position(const std::string& name) { return positions[index(name)]; }
  /// All of them, by the epochs of the consumers.
  void resume(std::uint64_t source, std::uint64_t left, std::uint64_t right, std::uint64_t inner) {
    position("end_source") = at(source, 320);
    position("end_left") = at(left, 0);
    position("end_right") = at(right, 0);
    position("end_inner") = at(inner, 0);
    ASSERT_TRUE(ResumeNumbers::resume(positions));
  }

  ByStage<Position> positions;
};

constexpr std::uint64_t kPeriod = 1024;  // 1000 samples in batches of 64

TEST_F(ResumeBelowFlatMap, WhatFailedInEarlierEpochsCountsOn) {
  position("end_source") = at(4, 320);
  position("end_left") = at(3, 0);
  position("end_right") = at(2, 0);
  position("end_inner") = at(4, 0);
  position("end_inner").skipped = {
      {"end_left", 0, 2, 9}, {"end_left", 0, 3, 1}, {"right", 1, 1, 8}, {"right", 1, 2, 8}};
  ASSERT_TRUE(ResumeNumbers::resume(positions));
  EXPECT_EQ(before("end_left").skipped, (std::vector<SampleInQueue>{{0, 2, 9}}));
  EXPECT_EQ(before("right").skipped, (std::vector<SampleInQueue>{{1, 1, 8}}));
}

}  // namespace
}  // namespace brigade
