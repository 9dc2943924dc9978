#pragma once

// Runs a YAML text as `brigade run` does, in processes started from the test program (whose main()
// makes an App) or as threads.

#include <gtest/gtest.h>

#include "pipeline/config/load_graph.h"
#include "pipeline/plan/planner.h"
#include "pipeline/process/file_facts.h"
#include "pipeline/process/run_session.h"
#include "stages/builtin.h"
#include "tests/support/faulty_stages.h"
#include "tests/support/keeping_lines.h"
#include "tests/support/plan_limits.h"

namespace brigade {

inline StageTypes session_stage_types() {
  return faulty_stage_types().append(builtin_stage_types());
}

struct Session {
  StageTypes types = session_stage_types();
  KeepingLines lines;
  RunOptions options;

  Plan plan(const std::string& yaml) {
    FileFacts facts;
    const LoadedGraph loaded =
        load_graph({{"test.yaml", yaml, "/", false}}, {.files = {},
                                                       .sets = {},
                                                       .limit = {},
                                                       .types = types,
                                                       .facts = facts,
                                                       .environment = {},
                                                       .working_directory = "/"});
    EXPECT_EQ(loaded.messages(), "");
    if (!loaded.graph) return {};
    PlanResult planned = plan_graph(*loaded.graph, small_machine());
    EXPECT_TRUE(planned.ok());
    return std::move(planned.plan);
  }

  std::unique_ptr<RunSession> start(const std::string& yaml) {
    auto session = RunSession::start(plan(yaml), types, lines, options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    return std::move(session).value();
  }

  RunOutcome run(const std::string& yaml) { return start(yaml)->wait(); }
};

/// numbers -> end; `end`: the rest of the consumer's declaration.
inline std::string line_yaml(const std::string& end, int count = 1000) {
  return "stages:\n"
         "  numbers: {producer: synthetic, params: {count: " +
         std::to_string(count) +
         ", shape: [4], dtype: f32}}\n"
         "  end: {from: numbers, " +
         end + "}\n";
}

}  // namespace brigade
