#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "pipeline/state/cache_file_writer.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct CacheFilesOfGraphs : testing::Test {
  TemporaryFolder folder;
  std::string file = folder.path() / "x.cache";
  Session session;

  std::string yaml(int count = 100) {
    return concat("epochs: 2\nstages:\n  numbers: {producer: synthetic, params: {count: ", count,
                  "}}\n  kept: {transform: cache, from: numbers, params: {file: ", file,
                  "}}\n  end: {consumer: count, from: kept}\n");
  }
  PlannedGraph planned(int count = 100) {
    return plan_files({{folder.write("graph.yaml", yaml(count))}, {}, {}}, session.types);
  }
  RunOutcome run(int count = 100) {
    auto graph = planned(count);
    auto started =
        RunSession::start({*graph.plan, {}}, session.types, session.lines, session.options);
    EXPECT_TRUE(started.ok()) << started.error().message;
    return (*started)->wait();
  }
};

TEST_F(CacheFilesOfGraphs, AreMadeByOneRunAndUsedByTheNext) {
  const RunOutcome first = run();
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(look_at_cache_file(file).header.samples, 100u);
  const PlannedGraph again = planned();
  ASSERT_TRUE(again.plan);
  EXPECT_EQ(again.plan->stages.size(), 2u);
  EXPECT_EQ(again.messages, concat("brigade: cache \"kept\": ", file,
                                   " is complete with 100 samples: numbers does not start\n"));
  const RunOutcome second = run();
  EXPECT_EQ(second.summary.results.back().second, first.summary.results.back().second);
}

TEST_F(CacheFilesOfGraphs, OfOtherContentsAreMadeAnewWithAWarning) {
  run(100);
  const PlannedGraph other = planned(50);
  ASSERT_TRUE(other.plan);
  EXPECT_EQ(other.plan->stages.size(), 3u);
  EXPECT_THAT(other.plan->warnings,
              Contains(HasSubstr("has different contents (numbers.params.count was \"100\", is "
                                 "\"50\"): the cache is rebuilt")));
  run(50);
  EXPECT_EQ(look_at_cache_file(file).header.samples, 50u);
}

TEST_F(CacheFilesOfGraphs, ThatAreBrokenAreMadeAnewWithAWarning) {
  run();
  std::filesystem::resize_file(file, kCacheHeaderBytes + 1);
  EXPECT_THAT(
      planned().plan->warnings,
      Contains(testing::AllOf(HasSubstr("is truncated"), HasSubstr(": the cache is rebuilt"))));
  run();
  EXPECT_EQ(look_at_cache_file(file).kind, CacheFileLook::Kind::usable);
}

TEST_F(CacheFilesOfGraphs, WhatIsNoCacheIsAProblemOfTheGraph) {
  folder.write("x.cache", "precious");
  const PlannedGraph graph = planned();
  EXPECT_FALSE(graph.plan);
  EXPECT_THAT(graph.messages, HasSubstr("is not a Brigade cache; it is not overwritten"));
  EXPECT_THAT(graph.messages, HasSubstr("graph.yaml:4:"));
}

TEST_F(CacheFilesOfGraphs, AreNotThereWhereTheRunHasNotKeptEverything) {
  auto started = RunSession::start({*planned(50'000'000).plan, {}}, session.types, session.lines,
                                   session.options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_TRUE(std::filesystem::exists(file + ".lock"));
  (*started)->stop(SIGTERM);
  (*started)->stop(SIGTERM);
  (*started)->wait();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".lock"));
}

}  // namespace
}  // namespace brigade
