#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/order_fingerprint.h"

#include <gtest/gtest.h>

#include <map>

#include <brigade/text.h>
#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/config/graph/file_metadata_reader.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/plan/planner/planner.h"
#include "stages/builtin.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

constexpr StageNumber kKept = 2;

/// Every path is there.
class AnyFile final : public FileMetadataReader {
 public:
  PathKind kind(const std::string& path) override {
    return path == "/data" ? PathKind::folder : PathKind::file;
  }
  Result<FileHeader> read(const std::string&) override { return FileHeader{"x\n1\n", 4}; }
};

struct CacheKeys : testing::Test {
  StageTypes types = builtin_stage_types();
  std::map<std::string, std::string> stamps;

  /// numbers -> work -> kept -> end, where what is said of a stage comes first.
  static std::string yaml(const std::map<std::string, std::string>& more = {}) {
    const auto of = [&](const char* name) { return more.contains(name) ? more.at(name) : ""; };
    return concat("seed: ", more.contains("seed") ? more.at("seed") : "5", "\nepochs: 3\nstages:\n",
                  "  numbers: {producer: synthetic, params: {count: 30}", of("numbers"), "}\n",
                  "  work: {transform: delay, from: numbers", of("work"), "}\n",
                  "  kept: {transform: cache, from: work, params: {file: /data/kept.cache}",
                  of("kept"), "}\n", "  end: {consumer: count, from: kept", of("end"), "}\n");
  }
  ValidGraph graph_of(const std::string& text) {
    AnyFile files;
    const LoadedGraph loaded =
        load_graph({{"test.yaml", text, "/", false}}, {.files = {},
                                                       .sets = {},
                                                       .limit = {},
                                                       .types = types,
                                                       .metadata = files,
                                                       .environment = {},
                                                       .working_directory = "/"});
    EXPECT_TRUE(loaded.graph) << loaded.messages();
    return loaded.graph ? *loaded.graph : ValidGraph{};
  }
  Plan plan_of(const std::string& text) {
    const PlanResult planned = plan_graph(graph_of(text), small_machine());
    EXPECT_TRUE(planned.ok()) << (planned.ok() ? "" : planned.problems[0].message);
    return planned.plan;
  }
  std::string contents(const std::string& text, StageNumber stage = kKept) {
    return cache_key(plan_of(text), stage, types,
                     [&](const std::string& path) { return stamps[path]; });
  }
  /// What is said to differ where this is changed.
  std::string difference(const std::map<std::string, std::string>& more) {
    return contents_difference(contents(yaml()), contents(yaml(more)));
  }
};

TEST_F(CacheKeys, AreTheSameForTheSameGraph) { EXPECT_EQ(contents(yaml()), contents(yaml())); }

TEST_F(CacheKeys, ChangeWithAllThatDefinesThem) {
  EXPECT_EQ(difference({{"seed", "6"}}), "numbers.seed was 5, is 6");
  EXPECT_EQ(difference({{"numbers", ", limit: 20"}}), "numbers.limit was 0, is 20");
  EXPECT_EQ(difference({{"numbers", ", shuffle: true"}}), "numbers.shuffle was false, is true");
  EXPECT_EQ(difference({{"work", ", random: other"}}), "work.random was \"work\", is \"other\"");
  EXPECT_EQ(difference({{"work", ", params: {ms: 2}"}}), "work.params.ms was \"0\", is \"2\"");
  EXPECT_EQ(difference({{"work", ", on_error: {skip: 1}"}}), "work.on_error was stop, is skip");
  EXPECT_EQ(difference({{"work", ", env: {A: b}"}}), "work.env.A is new");
  EXPECT_EQ(difference({{"kept", ", limit: 10"}}), "cache.limit was 0, is 10");
}

TEST_F(CacheKeys, DoNotChangeWithHowTheyAreMadeOrRead) {
  const std::string before = contents(yaml());
  for (const auto& more : std::vector<std::map<std::string, std::string>>{
           {{"numbers", ", replicas: 2"}},
           {{"work", ", replicas: 2, chunk: 5"}},
           {{"kept", ", shuffle: true, seed: 9, replicas: 2"}},
           {{"end", ", stall_timeout: 5s"}}})
    EXPECT_EQ(contents(yaml(more)), before) << more.begin()->second;
}

TEST_F(CacheKeys, ChangeWithTheFilesThatParametersName) {
  const std::string text = R"(
stages:
  table: {producer: csv, params: {file: /data/table.csv, columns: {x: x}}}
  kept: {transform: cache, from: table, params: {samples: 9, file: /data/kept.cache}}
  end: {consumer: count, from: kept}
)";
  stamps["/data/table.csv"] = "file of 5 bytes, 1.000000000";
  const std::string before = contents(text, 1);
  stamps["/data/table.csv"] = "file of 5 bytes, 1.000000001";
  EXPECT_EQ(contents_difference(before, contents(text, 1)),
            "table.params.file.file was file of 5 bytes, 1.000000000, is file of 5 bytes, "
            "1.000000001");
}

TEST_F(CacheKeys, DifferencesAreFoundInBothDirections) {
  EXPECT_EQ(contents_difference("a = 1\n", "a = 1\nb = 2\n"), "b is new");
  EXPECT_EQ(contents_difference("a = 1\nb = 2\n", "a = 1\n"), "b is gone");
  EXPECT_EQ(contents_difference("a = 1\nb = 2\n", "b = 2\na = 1\n"),
            "its contents are listed in a different order");
}

TEST_F(CacheKeys, HeadersHaveTheLayoutOfThePlan) {
  const Plan plan = plan_of(yaml());
  const PlanStage& kept = plan.stages[kKept];
  const CacheFileHeader header = cache_file_header(kept, "a = 1\n");
  EXPECT_FALSE(header.complete);
  EXPECT_EQ(header.slots, 30u);
  EXPECT_EQ(header.data_bytes, kept.cache.bytes);
  ASSERT_EQ(header.arrays.size(), 1u);
  EXPECT_EQ(header.arrays[0].offset, kept.cache.tensors[0].offset);
  EXPECT_EQ(parse_cache_header(print_cache_header(header).value()).value(), header);
}

TEST_F(CacheKeys, WhatIsThereIsAProducer) {
  const ValidGraph graph = graph_of(yaml({{"kept", ", shuffle: true, seed: 3, limit: 20"}}));
  const auto rest =
      without_what_is_cached(graph, kKept, "/data/kept.cache", *types.find("cached"), 20);
  ASSERT_TRUE(rest) << rest.error().message;
  ASSERT_EQ(rest->stages.size(), 2u);
  const ValidStage& kept = rest->stages[0];
  EXPECT_EQ(kept.name, "kept");
  EXPECT_EQ(kept.kind, StageKind::producer);
  EXPECT_EQ(rest->stages[1].sources[0].stage, 0);
  const PlanResult planned = plan_graph(*rest, small_machine());
  ASSERT_TRUE(planned.ok()) << planned.problems[0].message;
  const PlanStage& producer = planned.plan.stages[0];
  EXPECT_EQ(producer.type, "cached");
  EXPECT_TRUE(producer.indexed);
  EXPECT_FALSE(producer.is_cache());
  EXPECT_TRUE(producer.shuffle);
  EXPECT_EQ(producer.seed, 3u);
  EXPECT_EQ(index_space_epochs(planned.plan, 0), 3u);
}

struct Order : testing::Test {
  StageTypes types = builtin_stage_types();

  std::string of(std::vector<std::string> sets = {}) {
    const std::string text =
        "seed: 5\nepochs: 3\nstages:\n"
        "  numbers: {producer: synthetic, shuffle: true, params: {count: 64}}\n"
        "  work: {transform: delay, from: numbers}\n"
        "  end: {consumer: count, from: {stage: work, batch: 16}}\n";
    FileMetadataProbe files;
    const LoadedGraph loaded =
        load_graph({{"test.yaml", text, "/", false}}, {.files = {},
                                                       .sets = std::move(sets),
                                                       .limit = {},
                                                       .types = types,
                                                       .metadata = files,
                                                       .environment = {},
                                                       .working_directory = "/"});
    EXPECT_TRUE(loaded.graph) << loaded.messages();
    return order_fingerprint(plan_graph(*loaded.graph, small_machine()).plan, types,
                             [](const Plan&, StageNumber) { return std::string(); });
  }
};

TEST_F(Order, WhatDefinesItIsNamedWhereItDiffers) {
  const std::string before = of();
  const std::pair<const char*, const char*> changes[] = {
      {"seed=6", "numbers.seed was 5, is 6"},
      {"stages.numbers.shuffle=false", "numbers.shuffle was true, is false"},
      {"stages.numbers.limit=60", "numbers.limit was 0, is 60"},
      {"stages.numbers.limit=10%", "numbers.limit was 0, is 10%"},
      {"stages.numbers.skip=4", "numbers.skip is new"},
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

TEST_F(Order, AnotherPartIsAnotherOrder) {
  const std::vector<std::string> part{"stages.numbers.split={a: 0.5}", "stages.numbers.part=a"};
  const auto with = [&](const std::string& set) {
    std::vector<std::string> sets = part;
    sets.push_back(set);
    return contents_difference(of(part), of(sets));
  };
  EXPECT_EQ(contents_difference(of(), of(part)), "numbers.split is new");
  EXPECT_EQ(with("stages.numbers.part=b"), "numbers.part was a, is b");
  EXPECT_EQ(with("stages.numbers.split.seed=1"),
            "numbers.split was a: 50%, seed: 0, is a: 50%, seed: 1");
  EXPECT_EQ(with("stages.numbers.split.a=60%"),
            "numbers.split was a: 50%, seed: 0, is a: 60%, seed: 0");
  const std::string limit = "stages.numbers.limit=10";
  EXPECT_EQ(contents_difference(of({limit}), of({limit, "stages.numbers.take=first"})),
            "numbers.take is gone");
  EXPECT_EQ(of(part), of(part)) << "the control";
}

TEST_F(Order, AnotherMixtureIsAnotherOrder) {
  const std::vector<std::string> mix{
      "stages.numbers.shuffle=null", "stages.few={producer: synthetic, params: {count: 8}}",
      "stages.all={mix: {numbers: 0.7, few: 0.3}, shuffle: true}", "stages.work.from=all"};
  const auto with = [&](const std::string& set) {
    std::vector<std::string> sets = mix;
    sets.push_back(set);
    return contents_difference(of(mix), of(sets));
  };
  EXPECT_EQ(with("stages.all.mix.few=0.4"),
            "all.mix was few: 0.3, numbers: 0.7, is few: 0.4, numbers: 0.7");
  EXPECT_EQ(with("stages.few.params.count=9"), "all.few.params.count was \"8\", is \"9\"");
  EXPECT_EQ(with("stages.few.skip=1"), "all.few.skip is new");
  std::vector<std::string> same = mix;
  same.emplace_back("stages.all.replicas=2");
  EXPECT_EQ(of(same), of(mix)) << "the control";
}

TEST_F(Order, TheFrontIsSaidAsBeforeThereWereOtherWays) {
  const std::string text = of({"stages.numbers.limit=10", "stages.numbers.take=first"});
  EXPECT_NE(text.find("numbers.limit = 10\n"), std::string::npos);
  EXPECT_EQ(text.find("numbers.take"), std::string::npos);
  EXPECT_NE(of({"stages.numbers.limit=10"}).find("numbers.take = spread\n"), std::string::npos)
      << "the control";
}

TEST_F(Order, HowTheWorkIsSharedIsNoPartOfIt) {
  const std::string before = of();
  for (const char* set :
       {"stages.work.replicas=4", "stages.work.chunk=2", "stages.numbers.buffers=9", "epochs=9",
        "stages.work.threads=2", "drain=1s", "stages.end.params.sleep_ms=1"})
    EXPECT_EQ(of({set}), before) << set;
}

}  // namespace
}  // namespace brigade
