#include "pipeline/plan/caches.h"

#include <gtest/gtest.h>

#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/plan/task_queues.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kEightBytes{{"x", u8, {8}}};

/// a (`samples` of them) -> kept -> end, three epochs.
GraphBuilder cached(std::uint64_t samples, const Ports& tensors = kEightBytes) {
  GraphBuilder graph;
  graph.graph().epochs = 3;
  graph.producer("a", tensors).samples = samples;
  ValidStage& kept = graph.transform("kept", {"a"}, tensors);
  for (const TensorType& tensor : tensors.tensors) kept.passed.push_back({tensor.name, 0});
  graph.type_of("kept").contract.cache = true;
  graph.consumer("end", {"kept"});
  return graph;
}

PlanResult plan(GraphBuilder& graph) { return plan_graph(graph.build(), small_machine()); }

std::string problem(GraphBuilder& graph) {
  const PlanResult result = plan(graph);
  return result.problems.empty() ? "" : result.problems[0].message;
}

TEST(Caches, TheirMemoryIsInThePlan) {
  GraphBuilder graph = cached(1'000'000, {{"x", u8, {10'000}}});
  const PlanResult planned = plan(graph);
  ASSERT_FALSE(planned.ok());
  EXPECT_NE(
      planned.problems[0].message.find("cache kept keeps 1,000,000 slots of 9.8 KiB = 9.3 GiB"),
      std::string::npos)
      << planned.problems[0].message;
  EXPECT_EQ(planned.problems[0].help,
            "keep fewer samples (`limit:` of the cache), or smaller ones");
}

TEST(Caches, OfRaggedTensorsAreExpectedToTakeWhatSamplesTake) {
  GraphBuilder graph = cached(10, {{"x", u8, {up_to(1 << 20, 4096)}}});
  const PlanStage kept = plan(graph).plan.stages[1];
  EXPECT_TRUE(kept.cache.sparse);
  EXPECT_GE(kept.cache.bytes, std::uint64_t{10} << 20);
  EXPECT_LT(kept.cache.expected_bytes, 100'000u);
}

TEST(Caches, KeepThePartOfThisRank) {
  GraphBuilder graph = cached(10);
  graph.graph().shard = {1, 4, Uneven::pad};
  EXPECT_EQ(plan(graph).plan.stages[1].cache.slots, 3u);
  graph.graph().shard.uneven = Uneven::drop;
  EXPECT_EQ(plan(graph).plan.stages[1].cache.slots, 2u);
}

TEST(Caches, NeedToKnowHowManyThereAre) {
  GraphBuilder graph = cached(0);
  EXPECT_EQ(problem(graph), "how many samples its source has is known only once the run has begun");
  graph.stage("kept").samples = 70;
  EXPECT_EQ(problem(graph), "");
  EXPECT_EQ(plan(graph).plan.stages[1].cache.slots, 70u);
}

TEST(Caches, RefuseRoomThatIsTooLittle) {
  GraphBuilder graph = cached(100);
  graph.stage("kept").samples = 99;
  EXPECT_EQ(problem(graph), "`samples: 99` makes too little room: it keeps 100");
  graph.stage("kept").samples = 500;
  EXPECT_EQ(plan(graph).plan.stages[1].cache.slots, 100u) << "no more than there are";
}

TEST(Caches, NeedSamplesWithAnIndex) {
  GraphBuilder graph = cached(0);
  graph.stage("kept").samples = 70;
  graph.type_of("a").indexed = false;
  EXPECT_EQ(problem(graph),
            "a cache keeps samples by their index in the source, and this source has none");
}

TEST(Caches, CannotBeZippedWithWhatTheyAreMadeOf) {
  GraphBuilder graph = cached(100);
  graph.transform("both", {"kept", "a"}, kEightBytes, Join::zip);
  graph.consumer("other", {"both"});
  EXPECT_EQ(problem(graph), "what it gives is zipped with what it is made of, and has more epochs");
}

TEST(Caches, NorByWayOfAnother) {
  GraphBuilder graph = cached(100);
  graph.producer("b", kEightBytes).samples = 100;
  graph.transform("kept_b", {"b"}, kEightBytes);
  graph.type_of("kept_b").contract.cache = true;
  graph.transform("one", {"kept", "b"}, kEightBytes, Join::zip);
  graph.transform("other", {"kept_b", "a"}, kEightBytes, Join::zip);
  graph.consumer("c", {"one"});
  graph.consumer("d", {"other"});
  EXPECT_EQ(problem(graph), "what it gives is zipped with what it is made of, and has more epochs");
}

TEST(Caches, CanBeZippedWithEachOther) {
  GraphBuilder graph = cached(100);
  graph.producer("b", kEightBytes).samples = 100;
  graph.transform("kept_b", {"b"}, kEightBytes);
  graph.type_of("kept_b").contract.cache = true;
  graph.consumer("c", {"kept", "kept_b"}, Join::zip);
  EXPECT_EQ(problem(graph), "");
}

TEST(Caches, AreReadAfterWhatIsAboveThem) {
  GraphBuilder graph = cached(100);
  graph.consumer("both", {"kept", "a"}, Join::epochs);
  EXPECT_NE(problem(graph).find("join: epochs reads \"kept\" before \"a\""), std::string::npos);
}

TEST(Caches, WhoReadsAboveThemIsTold) {
  GraphBuilder graph = cached(100);
  graph.consumer("other", {"a"});
  const Plan planned = plan(graph).plan;
  ASSERT_EQ(planned.warnings.size(), 1u);
  EXPECT_EQ(planned.warnings[0],
            "stage \"other\": it reads \"a\" above a cache, where there is one epoch");
  graph.graph().epochs = 1;
  EXPECT_TRUE(plan(graph).plan.warnings.empty());
}

TEST(Caches, WantNoBatchesOfWhatIsAboveThem) {
  GraphBuilder graph = cached(100);
  graph.stage("kept").batch = 250;
  graph.stage("end").batched = true;
  const Plan planned = plan(graph).plan;
  EXPECT_EQ(planned.index_spaces[0].multiple, 64u);
  EXPECT_EQ(planned.index_spaces[1].multiple, 250u);
}

TEST(Caches, ThePrintedPlanSaysWhatTheyKeep) {
  GraphBuilder graph = cached(100);
  const PlanResult planned = plan(graph);
  const std::string text = print_plan(planned.plan, small_machine(), {});
  EXPECT_NE(text.find("cached by kept: 100 slots of 40 B\n"), std::string::npos) << text;
}

TEST(SeveralOfEach, ThePrintedPlanSaysHowMany) {
  GraphBuilder graph;
  graph.producer("a", kEightBytes);
  graph.transform("crops", {"a"}, kEightBytes).outputs_per_input = 5;
  graph.type_of("crops").contract.numbering = Numbering::expand;
  graph.consumer("end", {"crops"});
  const PlanResult planned = plan(graph);
  const std::string text = print_plan(planned.plan, small_machine(), {});
  EXPECT_NE(text.find("64 one by one, 5 of each"), std::string::npos) << text;
  EXPECT_NE(text.find("a x 5  padded to a multiple of 320 samples"), std::string::npos) << text;
}

TEST(Caches, APlanWithOneIsChecked) {
  GraphBuilder graph = cached(100);
  const Plan whole = plan(graph).plan;
  ASSERT_TRUE(check_plan(whole).ok()) << check_plan(whole).error().message;
  const auto refuses = [&](void (*damage)(PlanStage&)) {
    Plan damaged = whole;
    damage(damaged.stages[1]);
    return !check_plan(damaged).ok();
  };
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues.pop_back(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues[1].inputs.clear(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues[1].window += 1; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.tensors.clear(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.tensors[0].type.dtype = f64; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.bytes = 64; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.indexed = false; }));
}

/// The same, kept in a file.
GraphBuilder in_a_file(std::uint64_t samples, const Ports& tensors = kEightBytes) {
  GraphBuilder graph = cached(samples, tensors);
  graph.stage("kept").param_values = {{"file", ParamValue::scalar("/data/kept.cache")}};
  return graph;
}

TEST(Caches, InAFileTakeNoMemoryThatMustBeThere) {
  const Ports large{{"x", u8, {10'000}}};
  GraphBuilder graph = in_a_file(1'000'000, large);
  const PlanResult planned = plan(graph);
  ASSERT_TRUE(planned.ok()) << planned.problems[0].message;
  const PlanStage& kept = planned.plan.stages[1];
  EXPECT_EQ(cache_file(kept), "/data/kept.cache");
  EXPECT_EQ(memory_segment_bytes(kept), kept.ring.bytes);
  EXPECT_LT(planned.plan.memory_bytes, kept.cache.bytes);
  const std::string text = print_plan(planned.plan, small_machine(), {});
  EXPECT_NE(
      text.find("disk, and page cache while there is memory for it\n"
                "  9.3 GiB  in /data/kept.cache, cached by kept: 1,000,000 slots of 9.8 KiB\n"),
      std::string::npos)
      << text;
}

TEST(Caches, InMemoryHaveNoFile) {
  GraphBuilder graph = cached(100);
  const PlanStage kept = plan(graph).plan.stages[1];
  EXPECT_EQ(cache_file(kept), "");
  EXPECT_EQ(memory_segment_bytes(kept), kept.segment_bytes());
}

TEST(Caches, InAFileMustFitTheLimitOfFiles) {
  GraphBuilder graph = in_a_file(1'000'000, {{"x", u8, {10'000}}});
  MachineLimits limits = small_machine();
  limits.file_bytes_max = std::uint64_t{1} << 30;
  const PlanResult planned = plan_graph(graph.build(), limits);
  ASSERT_EQ(planned.problems.size(), 1u);
  EXPECT_EQ(planned.problems[0].message,
            "cache kept keeps 1,000,000 slots of 9.8 KiB = 9.3 GiB in /data/kept.cache, a file may "
            "have 1.0 GiB (RLIMIT_FSIZE, `ulimit -f`)");
}

TEST(Caches, InAFileTakeAddresses) {
  GraphBuilder graph = in_a_file(1'000'000, {{"x", u8, {10'000}}});
  MachineLimits limits = small_machine();
  limits.address_space_bytes_max = std::uint64_t{1} << 30;
  EXPECT_FALSE(plan_graph(graph.build(), limits).ok());
}

TEST(Caches, InAFileAloneReadWhatIsAboveThem) {
  GraphBuilder graph = in_a_file(100);
  graph.consumer("beside", {"a"});
  EXPECT_NE(problem(graph).find("nothing else may read what is above it"), std::string::npos);
  EXPECT_NE(problem(graph).find("\"beside\" reads \"a\""), std::string::npos);
  graph.stage("kept").param_values.clear();
  EXPECT_EQ(problem(graph), "");
}

TEST(Caches, InAFileAreOfOneRank) {
  GraphBuilder graph = in_a_file(100);
  graph.graph().shard = {1, 4, Uneven::pad};
  EXPECT_NE(problem(graph).find("this is one of 4 processes that share them"), std::string::npos);
}

}  // namespace
}  // namespace brigade
