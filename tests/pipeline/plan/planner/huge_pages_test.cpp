#include "pipeline/plan/planner/huge_pages.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/plan/ring_layout.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"
#include "transports/limits.h"

namespace brigade {
namespace {

/// Batches of 64 pictures of 64 x 64: 768 KiB each. Two edges, in huge pages where it is said.
GraphBuilder pictures(bool files, bool decoded) {
  GraphBuilder graph;
  graph.producer("files", {{"file", i64, {}}}).hugepages = files;
  ValidStage& decode = graph.transform("decode", {"files"}, {{"image", u8, {64, 64, 3}}});
  decode.batch = 64;
  decode.hugepages = decoded;
  graph.consumer("train", {"decode"}).batched = true;
  return graph;
}

MachineLimits with_pages(std::uint64_t reserved, std::uint64_t free) {
  MachineLimits limits = small_machine();
  limits.huge_pages = reserved;
  limits.huge_pages_free = free;
  return limits;
}

TEST(HugePages, RoundARingUpAndAreNoPartOfItsMemory) {
  const Plan usual = plan_graph(pictures(false, false).build(), small_machine()).plan;
  GraphBuilder graph = pictures(false, true);
  const PlanResult result = plan_graph(graph.build(), with_pages(100, 100));
  ASSERT_TRUE(result.ok()) << result.problems.front().message;
  const PlanRing& ring = result.plan.stages[1].ring;
  EXPECT_TRUE(ring.huge);
  EXPECT_EQ(ring.bytes % kHugePageBytes, 0u);
  EXPECT_GE(ring.bytes, usual.stages[1].ring.bytes);
  EXPECT_LT(ring.bytes, usual.stages[1].ring.bytes + kHugePageBytes);
  EXPECT_EQ(ring.slots, usual.stages[1].ring.slots);
  EXPECT_EQ(huge_bytes(result.plan), ring.bytes);
  EXPECT_EQ(huge_bytes(usual), 0u);
  EXPECT_EQ(result.plan.memory_bytes, usual.memory_bytes - usual.stages[1].ring.bytes);
}

TEST(HugePages, ThatAreMissingAreAProblemThatSaysHowToReserveThem) {
  GraphBuilder graph = pictures(true, true);
  const Plan plan = plan_graph(graph.build(), with_pages(100, 100)).plan;
  const std::uint64_t pages = huge_bytes(plan) / kHugePageBytes;
  ASSERT_GT(pages, 2u);
  EXPECT_TRUE(plan_graph(graph.build(), with_pages(pages, pages)).ok());
  const PlanResult few = plan_graph(graph.build(), with_pages(pages + 3, pages - 2));
  ASSERT_EQ(few.problems.size(), 1u);
  EXPECT_EQ(few.problems[0].message,
            concat("the graph needs ", pages, " huge pages of 2.0 MiB (files -> decode ",
                   plan.stages[0].ring.bytes / kHugePageBytes, ", decode -> train ",
                   plan.stages[1].ring.bytes / kHugePageBytes, "), ", pages - 2, " of ", pages + 3,
                   " are free: 2 are missing"));
  EXPECT_EQ(few.problems[0].help, concat("reserve them as root, `sysctl vm.nr_hugepages=",
                                         pages + 5, "`, or leave `hugepages:` out"));
}

TEST(HugePages, AreSharedByTheRunsOfAMachine) {
  GraphBuilder graph = pictures(false, true);
  MachineLimits limits = with_pages(100, 100);
  limits.local_world_size = 4;
  EXPECT_EQ(usable_huge_pages(limits), 25u);
  const std::uint64_t pages =
      huge_bytes(plan_graph(graph.build(), with_pages(100, 100)).plan) / kHugePageBytes;
  limits.huge_pages = limits.huge_pages_free = 4 * pages;
  EXPECT_TRUE(plan_graph(graph.build(), limits).ok());
  limits.huge_pages_free = 4 * pages - 1;
  const PlanResult few = plan_graph(graph.build(), limits);
  ASSERT_EQ(few.problems.size(), 1u);
  EXPECT_NE(few.problems[0].message.find("are free for 4 runs: 1 are missing"), std::string::npos)
      << few.problems[0].message;
}

TEST(HugePages, CountForWhatTheGraphAllowsItself) {
  GraphBuilder graph = pictures(false, true);
  const Plan plan = plan_graph(graph.build(), with_pages(100, 100)).plan;
  graph.graph().memory_bytes_max = plan.memory_bytes + huge_bytes(plan);
  EXPECT_TRUE(plan_graph(graph.build(), with_pages(100, 100)).ok());
  --graph.graph().memory_bytes_max;
  const PlanResult result = plan_graph(graph.build(), with_pages(100, 100));
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_NE(result.problems[0].message.find("(memory:)"), std::string::npos)
      << result.problems[0].message;
}

}  // namespace
}  // namespace brigade
