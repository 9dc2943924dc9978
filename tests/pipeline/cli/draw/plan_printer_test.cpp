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

TEST(PlanPrinter, ShowsTheThinnestLine) {
  GraphBuilder graph("thin");
  graph.producer("synthetic", {{"x", u8, {784}}});
  graph.consumer("count", {"synthetic"});
  expect_golden("plan/thin.txt", printed(graph));
}

TEST(PlanPrinter, ShowsFashionMnist) {
  expect_golden("plan/fashion_mnist.txt", printed(fashion_mnist_graph()));
}

TEST(PlanPrinter, ShowsPicturesWithWarnings) {
  GraphBuilder graph("pictures");
  graph.producer("files", {{"file", i64, {}}});
  graph.transform("decode", {"files"}, {{"image", u8, {224, 224, 3}}}).replicas = 8;
  graph.stage("decode").batch = 256;
  graph.stage("decode").on_error = {true, 0, 0.1};
  graph.consumer("train", {"decode"}).batched = true;
  graph.consumer("show", {"decode"}).batched = true;
  graph.stage("show").sources[0].batch = 10;
  graph.graph().memory_bytes_max = 2ull << 30;
  expect_golden("plan/pictures.txt", printed(graph));
}

TEST(PlanPrinter, ShowsAStageThatNumbersAnew) {
  GraphBuilder graph("anew");
  graph.producer("few", {{"x", u8, {784}}});
  graph.producer("many", {{"x", u8, {784}}});
  graph.transform("all", {"few", "many"}, {{"x", u8, {784}}}, Join::merge);
  graph.type_of("all").contract.numbering = Numbering::flat_map;
  graph.consumer("count", {"all"});
  expect_golden("plan/anew.txt", printed(graph));
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
  gpus.problem = "no NVIDIA driver here";
  EXPECT_THAT(print_plan(result.plan, limits, memory_room(limits, 0), {}, {}, gpus),
              testing::HasSubstr("no GPU  no NVIDIA driver here"));
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

TEST(PlanPrinter, ShowsHugePagesBesideTheSum) {
  GraphBuilder graph("huge");
  graph.producer("files", {{"image", u8, {28, 28, 1}}}).hugepages = true;
  graph.consumer("count", {"files"});
  MachineLimits limits = small_machine();
  limits.huge_pages = limits.huge_pages_free = 5;
  const PlanResult result = plan_graph(graph.build(), limits);
  ASSERT_TRUE(result.ok()) << result.problems.front().message;
  const std::string text = print_plan(result.plan, limits, memory_room(limits, 0), {}, {}, {});
  EXPECT_THAT(text, testing::HasSubstr(", in huge pages\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nreserved huge pages, of which 5 may be had\n"));
  EXPECT_THAT(text, testing::HasSubstr("2.0 MiB  files -> count: 1 huge page of 2.0 MiB\n"));
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
                    alone ? "outputs of the program\n  train  may write what it holds of numbers\n"
                          : "\n  train  only reads what it holds of numbers, which others read, "
                            "too: tensors of LibTorch are copies\n"));
  }
}

TEST(PlanPrinter, ShowsACacheInAFile) {
  const Ports slot{{"x", u8, {784}}};
  GraphBuilder graph("cache_file");
  graph.producer("images", slot).samples = 60'000;
  graph.transform("kept", {"images"}, slot).passed = {{"x", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.stage("kept").param_values = {{"file", ParamValue::scalar("/data/kept.cache")}};
  graph.consumer("count", {"kept"});
  expect_golden("plan/cache_file.txt", printed(graph));
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

TEST(PlanPrinter, ShowsACacheInMemory) {
  const Ports slot{{"x", u8, {784}}};
  GraphBuilder graph("cache");
  graph.producer("images", slot).samples = 60'000;
  graph.transform("kept", {"images"}, slot).passed = {{"x", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.stage("kept").limit = 1000;
  graph.stage("kept").take = Take::first;  // as validation settles it
  graph.consumer("count", {"kept"});
  expect_golden("plan/cache.txt", printed(graph));
}

TEST(PlanPrinter, ShowsAZipAndAMachineWithoutLimits) {
  GraphBuilder graph("zip");
  graph.producer("left", {{"x", f32, {16}}});
  graph.producer("right", {{"y", f32, {16}}});
  graph.transform("both", {"left", "right"}, {{"x", f32, {16}}, {"y", f32, {16}}}, Join::zip);
  graph.consumer("end", {"both"});
  expect_golden("plan/zip.txt", printed(graph, {.cores_affinity = 1}));
}

TEST(PlanPrinter, ShowsWhatRaggedTensorsAreExpectedToTakeAndTheWorst) {
  GraphBuilder graph("ragged");
  graph.producer("files", {{"encoded", u8, {up_to(1 << 20)}}});
  graph.consumer("count", {"files"});
  const MachineLimits limits = small_machine();
  PlanResult result = plan_graph(graph.build(), limits);
  ASSERT_TRUE(result.ok());
  PlanRing& ring = result.plan.stages[0].ring;
  ring.sparse = true;
  ring.bytes = 64 << 20;
  ring.expected_bytes = 5 << 20;
  result.plan.memory_bytes = 6 << 20;
  const std::string text = print_plan(result.plan, limits, memory_room(limits, 0));
  EXPECT_NE(text.find("5.0 MiB  files -> count, at worst 64.0 MiB\n"), text.npos) << text;
  EXPECT_NE(text.find("6.0 MiB  in all of 8.0 GiB (MemAvailable), at worst 65.0 MiB\n"), text.npos)
      << text;
}

}  // namespace
}  // namespace brigade
