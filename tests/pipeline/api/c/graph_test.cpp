// Apps and graphs of a program in C.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/pipeline/api/c/c_program.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct CloseApp {
  void operator()(brigade_app* app) const { brigade_app_close(app); }
};

/// What the children of this process execute.
std::set<std::string> workers_execute() {
  std::set<std::string> programs;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (int pid = 0; children >> pid;) {
      std::error_code error;
      const auto program =
          std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
      if (!error) programs.insert(program.string());
    }
  }
  return programs;
}

TEST(CHost, WorkersExecuteThisProgramOrTheInstalledOne) {
  {
    const Opened opened(graph_yaml("epochs: 1000\n"));
    brigade_batch_release(opened.take());
    EXPECT_THAT(workers_execute(), Each(EndsWith("/c_api_test")));
  }
  brigade_app* opened_app = nullptr;
  ASSERT_EQ(brigade_app_open(nullptr, &opened_app), BRIGADE_OK) << last_error();
  const std::unique_ptr<brigade_app, CloseApp> host(opened_app);
  const Opened opened(graph_yaml("epochs: 1000\n"), 0, host.get());
  brigade_batch_release(opened.take());
  const auto programs = workers_execute();
  EXPECT_FALSE(programs.empty());
  EXPECT_THAT(programs, Each(EndsWith("/bin/brigade")));
}

TEST(CHost, AProgramThatIsNotThereIsAnError) {
  const brigade_app_options options{sizeof options, 0, nullptr, "/nowhere/brigade"};
  brigade_app* app = nullptr;
  EXPECT_EQ(brigade_app_open(&options, &app), BRIGADE_ERROR_ARGUMENT);
  EXPECT_THAT(last_error(), HasSubstr("cannot execute /nowhere/brigade: No such file"));
}

std::vector<brigade_diagnostic> diagnostics(const brigade_graph* graph) {
  std::vector<brigade_diagnostic> all(brigade_graph_diagnostics(graph));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].size = sizeof all[i];
    EXPECT_EQ(brigade_graph_diagnostic(graph, i, &all[i]), BRIGADE_OK);
  }
  return all;
}

struct CGraphs : testing::Test {
  brigade_graph* graph = nullptr;
  ~CGraphs() override { brigade_graph_close(graph); }
};

TEST_F(CGraphs, EveryMistakeHasItsPlace) {
  const std::string yaml =
      "stages:\n"
      "  numbers: {producer: synthetik, params: {count: 10}}\n"
      "  end: {consumer: count, from: numbers, replicsa: 2}\n";
  ASSERT_EQ(brigade_graph_from_text(yaml.c_str(), "mine.yaml", &graph), BRIGADE_OK);
  ASSERT_EQ(brigade_graph_check(graph, this_program), BRIGADE_ERROR_GRAPH);
  EXPECT_EQ(last_error(), "the graph has 2 mistakes");
  for (const bool started : {false, true}) {
    if (started) {
      brigade_run* run = nullptr;
      EXPECT_EQ(brigade_run_start(graph, this_program, nullptr, &run), BRIGADE_ERROR_GRAPH);
      EXPECT_EQ(run, nullptr);
      EXPECT_THAT(last_error(), StartsWith("mine.yaml:2:23: error: stage \"numbers\": unknown"));
    }
    const auto all = diagnostics(graph);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].is_error, 1);
    EXPECT_STREQ(all[0].file, "mine.yaml");
    EXPECT_EQ(all[0].line, 2);
    EXPECT_EQ(all[0].column, 23);
    EXPECT_STREQ(all[0].source, "  numbers: {producer: synthetik, params: {count: 10}}");
    EXPECT_THAT(all[0].message, HasSubstr("unknown producer \"synthetik\""));
    EXPECT_THAT(all[0].help, HasSubstr("did you mean \"synthetic\"?"));
    EXPECT_EQ(all[1].line, 3);
    EXPECT_THAT(all[1].message, HasSubstr("replicsa"));
  }
}

TEST_F(CGraphs, WhatIsSetLiesOverFilesAndText) {
  const TemporaryFolder folder;
  const std::string path = folder.write("graph.yaml", graph_yaml());
  const char* const paths[] = {path.c_str()};
  ASSERT_EQ(brigade_graph_from_files(paths, 1, &graph), BRIGADE_OK) << last_error();
  ASSERT_EQ(brigade_graph_add_text(graph, "epochs: 7\nseed: 5\n", "more"), BRIGADE_OK);
  ASSERT_EQ(brigade_graph_set(graph, "epochs=2"), BRIGADE_OK);
  const char* json = nullptr;
  ASSERT_EQ(brigade_graph_plan(graph, this_program, &json), BRIGADE_OK) << last_error();
  const auto plan = nlohmann::json::parse(json);
  EXPECT_EQ(plan["epochs"], 2);
  EXPECT_EQ(plan["seed"], 5);
  EXPECT_EQ(brigade_graph_check(graph, this_program), BRIGADE_OK);

  const brigade_run_options options = run_options(BRIGADE_IN_PROCESS, 20);
  brigade_run* run = nullptr;
  ASSERT_EQ(brigade_run_start(graph, this_program, &options, &run), BRIGADE_OK) << last_error();
  brigade_output* train = nullptr;
  ASSERT_EQ(brigade_run_output(run, "train", &train), BRIGADE_OK);
  std::uint64_t elements = 0;
  for (brigade_batch* batch = nullptr; brigade_output_next(train, &batch) == BRIGADE_OK;) {
    elements += values(batch).size();
    brigade_batch_release(batch);
  }
  EXPECT_EQ(elements, 2 * 20 * 3u);
  brigade_output_close(train);
  brigade_run_close(run);
}

TEST_F(CGraphs, TheProgramMaySayItsRankAndALimit) {
  ASSERT_EQ(brigade_graph_from_text(graph_yaml().c_str(), "graph", &graph), BRIGADE_OK);
  ASSERT_EQ(brigade_graph_set_rank(graph, 1, 3, 0), BRIGADE_OK);
  ASSERT_EQ(brigade_graph_limit(graph, 20), BRIGADE_OK);
  ASSERT_EQ(brigade_graph_count(graph), BRIGADE_OK);
  const char* json = nullptr;
  ASSERT_EQ(brigade_graph_plan(graph, this_program, &json), BRIGADE_OK) << last_error();
  const auto plan = nlohmann::json::parse(json);
  EXPECT_EQ(plan["shard"]["rank"], 1);
  EXPECT_EQ(plan["shard"]["world"], 3);
  EXPECT_EQ(plan["ranks"]["by"], "program");
  EXPECT_EQ(plan["consumers"][0]["samples"], 7) << "of 20, in three parts";
  ASSERT_EQ(brigade_graph_set_rank(graph, 3, 3, 1), BRIGADE_OK);
  EXPECT_EQ(brigade_graph_plan(graph, this_program, &json), BRIGADE_ERROR_GRAPH);
}

}  // namespace
}  // namespace brigade
