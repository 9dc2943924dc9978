#include "pipeline/cli/draw/plan_printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/golden.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

std::string printed(GraphBuilder graph, const MachineLimits& limits = small_machine()) {
  const ValidGraph& valid = graph.build();
  const PlanResult result = plan_graph(valid, limits);
  EXPECT_TRUE(result.ok()) << result.problems.front().message;
  return print_plan(result.plan, limits, memory_room(limits, graph.graph().memory_bytes_max),
                    planned_sources(valid, result.plan), consumer_epochs(valid, result.plan));
}

TEST(PlanPrinter, ShowsFashionMnist) {
  expect_golden("plan/fashion_mnist.txt", printed(fashion_mnist_graph()));
}

TEST(PlanPrinter, ShowsWhatIsPinnedForADevice) {
  GraphBuilder graph("device");
  graph.producer("files",
                 {{"image", u8, {28, 28, 1}}, {"label", i64, {}}, {"box", f32, {up_to(9), 4}}});
  graph.stage("files").batch = 64;
  for (const auto& [name, pin] : {std::pair("train", Pin::automatic), std::pair("strict", Pin::yes),
                                  std::pair("simple", Pin::no)}) {
    graph.consumer(name, {"files"}).batched = true;
    graph.type_of(name).contract.holds = true;
    graph.stage(name).device = "cuda:0";
    graph.stage(name).pin = pin;
  }
  MachineLimits limits = small_machine();
  limits.locked_bytes_max = 8 << 20;
  const PlanResult result = plan_graph(graph.build(), limits);
  ASSERT_TRUE(result.ok()) << result.problems.front().message;
  GpuReport gpus;
  gpus.driver_version = 13000;
  gpus.gpus = {{"Fake GPU", 1 << 30, "0000:01:00.0", "16.0 GT/s PCIe x16"}};
  expect_golden("plan/device.txt",
                print_plan(result.plan, limits, memory_room(limits, 0), {}, {}, gpus));
  gpus = {};
  gpus.problem = "no NVIDIA driver found";
  EXPECT_THAT(print_plan(result.plan, limits, memory_room(limits, 0), {}, {}, gpus),
              testing::HasSubstr("no GPU  no NVIDIA driver found"));
}

TEST(PlanPrinter, ShowsWhatAProcessMayTakeOfItsOwn) {
  GraphBuilder graph("private");
  graph.producer("files", {{"image", u8, {28, 28, 1}}});
  graph.consumer("count", {"files"});
  const auto text = [&] { return printed(graph); };
  EXPECT_THAT(text(), testing::Not(testing::HasSubstr("private memory")));
  graph.type_of("files").contract.private_bytes = [](const void*) { return 64ull << 20; };
  EXPECT_THAT(text(), testing::HasSubstr("\nprivate memory, at most\n"));
}

TEST(PlanPrinter, SaysWhatAProgramMayDoWithItsBatches) {
  for (const bool alone : {true, false}) {
    GraphBuilder graph("program");
    graph.producer("numbers", {{"x", u8, {784}}});
    graph.consumer("train", {"numbers"});
    graph.type_of("train").contract.type = kApplicationType;
    if (!alone) graph.consumer("count", {"numbers"});
    EXPECT_THAT(printed(graph),
                testing::HasSubstr(
                    alone ? "outputs of the program\n  train  may write its batches of numbers\n"
                          : "\n"
                            "  train  only reads its batches of numbers, which other stages also "
                            "read: LibTorch tensors are copies\n"));
  }
}

TEST(PlanPrinter, ShowsWhatAnEpochOfSourcesAndOfBatchesHas) {
  GraphBuilder graph("epoch");
  ValidStage& files = graph.producer("files", {{"x", u8, {784}}});
  files.samples = 1000;
  files.skipped = {{SkipReason::no_match, 30, "keys with neither an image nor a label"}};
  ValidStage& train = graph.consumer("train", {"files"});
  train.batched = true;
  train.sources[0].batch = 128;
  EXPECT_THAT(printed(graph),
              testing::HasSubstr("\nsamples per epoch\n"
                                 "  files  1,000 of 1,030: 30 keys with neither an image nor a "
                                 "label\n"
                                 "  train  1,000 in 8 batches\n\n"));
}

}  // namespace
}  // namespace brigade
