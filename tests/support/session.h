#pragma once

// Runs a YAML text as `brigade run` does, in processes started from the test program (whose main()
// makes an App) or as threads.

#include <gtest/gtest.h>

#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/run/run_session.h"
#include "pipeline/state/begin_run.h"
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
    FileMetadataProbe metadata;
    const LoadedGraph loaded =
        load_graph({{"test.yaml", yaml, "/", false}}, {.files = {},
                                                       .sets = {},
                                                       .limit = {},
                                                       .types = types,
                                                       .metadata = metadata,
                                                       .environment = {},
                                                       .working_directory = "/"});
    EXPECT_TRUE(loaded.graph) << loaded.messages();
    if (!loaded.graph) return {};
    PlanResult planned = plan_graph(*loaded.graph, small_machine());
    EXPECT_TRUE(planned.ok());
    return std::move(planned.plan);
  }

  /// From the beginning.
  PlannedRun planned(const std::string& yaml) {
    Plan made = plan(yaml);
    ResumePoint fresh = from_the_beginning(made, types);
    return {std::move(made), std::move(fresh)};
  }

  std::unique_ptr<RunSession> start(const std::string& yaml) {
    auto session = RunSession::start(planned(yaml), types, lines, options);
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
