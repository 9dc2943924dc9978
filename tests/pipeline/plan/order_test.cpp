#include "pipeline/plan/order.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/config/load_graph.h"
#include "pipeline/plan/cache_contents.h"
#include "pipeline/plan/planner.h"
#include "pipeline/process/file_facts.h"
#include "stages/builtin.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

struct Order : testing::Test {
  StageTypes types = builtin_stage_types();

  std::string of(std::vector<std::string> sets = {}) {
    const std::string text =
        "seed: 5\nepochs: 3\nstages:\n"
        "  numbers: {producer: synthetic, shuffle: true, params: {count: 64}}\n"
        "  work: {transform: delay, from: numbers}\n"
        "  end: {consumer: count, from: {stage: work, batch: 16}}\n";
    FileFacts files;
    const LoadedGraph loaded =
        load_graph({{"test.yaml", text, "/", false}}, {.files = {},
                                                       .sets = std::move(sets),
                                                       .limit = {},
                                                       .types = types,
                                                       .facts = files,
                                                       .environment = {},
                                                       .working_directory = "/"});
    EXPECT_TRUE(loaded.graph) << loaded.messages();
    return order_text(plan_graph(*loaded.graph, small_machine()).plan, types,
                      [](const Plan&, int) { return std::string(); });
  }
};

TEST_F(Order, WhatDefinesItIsNamedWhereItDiffers) {
  const std::string before = of();
  const std::pair<const char*, const char*> changes[] = {
      {"seed=6", "numbers.seed was 5, is 6"},
      {"stages.numbers.shuffle=false", "numbers.shuffle was true, is false"},
      {"stages.numbers.limit=60", "numbers.limit was 0, is 60"},
      {"stages.numbers.params.count=65", "numbers.params.count was \"64\", is \"65\""},
      {"stages.work.random=other", "work.random was \"work\", is \"other\""},
      {"stages.work.params.ms=1", "work.params.ms was \"0\", is \"1\""},
      {"stages.end.from.batch=32", "end.batch was 16, is 32"},
      {"stages.end.drop_last=true", "end.drop_last was false, is true"},
      {"shard={rank: 1, world: 2}", "graph.ranks was 0 of 1, is 1 of 2"},
  };
  for (const auto& [set, difference] : changes)
    EXPECT_EQ(contents_difference(before, of({set})), difference) << set;
}

TEST_F(Order, HowTheWorkIsSharedIsNoPartOfIt) {
  const std::string before = of();
  for (const char* set :
       {"stages.work.replicas=4", "stages.work.rows=2", "stages.numbers.buffers=9", "epochs=9",
        "stages.work.threads=2", "drain=1s", "stages.end.params.sleep_ms=1"})
    EXPECT_EQ(of({set}), before) << set;
}

}  // namespace
}  // namespace brigade
