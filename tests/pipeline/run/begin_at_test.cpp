#include "pipeline/run/begin_at.h"

#include <gtest/gtest.h>

#include "pipeline/plan/lane_number.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

TEST(BeginAt, SetsTheWordsThatMarksDoNotSay) {
  support::NumberLine line;
  line.mixers = 2;
  GraphBuilder graph = support::number_graph(line);
  support::RunLine run(graph, [](Plan& plan) {
    for (PlanDomain& domain : plan.domains) domain.start = 64;
    for (PlanStage& stage : plan.stages) stage.epoch_ends_told = 1;
    plan.stages[1].quarantined = {lane_number(0, 70)};
    plan.stages[0].fingerprint = 9;
  });
  begin_at(run.plan(), run.control());
  EXPECT_EQ(run.lane("mix").mark->low.value.load(), 64u);  // by the shape
  for (int r = 0; r < 2; ++r)
    EXPECT_EQ(run.context("mix", r).replica_words().ended.value.load(), 1u);
  EXPECT_TRUE(run.context("mix").words().quarantine.contains(70));
  EXPECT_EQ(run.context("numbers").words().fingerprint->value.load(), 9u);
}

TEST(BeginAt, EpochsThatAreOverAreEmptyWhereTheirEndsAreRecorded) {
  support::NumberLine line;
  line.epochs = 3;
  GraphBuilder graph = support::number_graph(line);
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::free;
  graph.consumer("last", {"again"});
  support::RunLine run(graph, [](Plan& plan) {
    for (PlanDomain& domain : plan.domains) domain.first_epoch = 2;
  });
  begin_at(run.plan(), run.control());
  const auto domain = static_cast<std::size_t>(run.stage("last").lanes[0].domain);
  const auto& ends = run.control().epoch_ends[domain];
  ASSERT_EQ(ends.capacity(), 3u);
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends.at(1), 0u);
}

}  // namespace
}  // namespace brigade
