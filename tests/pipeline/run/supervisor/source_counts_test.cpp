#include "pipeline/run/supervisor/source_counts.h"

#include <gtest/gtest.h>

#include "tests/support/keeping_lines.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

const std::vector<SkippedInputs> kLimit{{SkipReason::limit, 5, "beyond `limit:`"}};
const std::vector<SkippedInputs> kFiles{{SkipReason::no_match, 2, "files that are not images"}};

/// Two replicas of `a`, one each of `b` and `sink`.
Plan two_sources() {
  GraphBuilder graph("two");
  graph.producer("a", {{"value", i64, {}}}).replicas = 2;
  graph.producer("b", {{"value", i64, {}}});
  graph.consumer("sink", {"a", "b"}, Join::zip);
  return plan_of(graph);
}

TEST(SourceCounts, AAuditForEachSource) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  counts.ready(1, 10, kLimit);  // the other replica has not come
  counts.ready(3, std::nullopt, {});
  EXPECT_EQ(counts.audits(),
            (std::vector<SourceAudit>{{"a", 10, kLimit}, {"b", std::nullopt, {}}}));
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, {});
  EXPECT_EQ(counts.audits(), (std::vector<SourceAudit>{{"a", 10, kLimit}, {"b", 10, {}}}));
}

TEST(SourceCounts, ALineWhereSomethingIsDropped) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  KeepingLines lines;
  for (int replica = 0; replica < 3; ++replica) counts.ready(replica, 10, {});
  counts.say(lines);
  EXPECT_TRUE(lines.lines.empty());
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, kFiles);
  counts.say(lines);
  EXPECT_EQ(
      lines.lines,
      (std::vector<std::string>{
          "note: source a: found 15, outputs 10, skipped 5: 5 beyond `limit:`",
          "warning: source b: found 12, outputs 10, skipped 2: 2 files that are not images"}));
}

TEST(SourceCounts, ACacheWithALimitLeavesOutWhatIsBehindIt) {
  const Ports slot{{"value", i64, {}}};
  for (const std::uint64_t limit : {0, 30}) {
    GraphBuilder graph("cached");
    graph.producer("a", slot).samples = 50;
    graph.transform("twice", {"a"}, slot).outputs_per_input = 2;
    graph.type_of("twice").contract.numbering = Numbering::expand;
    graph.transform("kept", {"twice"}, slot).passed = {{"value", 0}};
    graph.type_of("kept").contract.cache = true;
    graph.stage("kept").limit = limit;
    graph.stage("kept").take = Take::first;  // as validation settles it
    graph.consumer("sink", {"kept"});
    const Plan plan = plan_of(graph);
    SourceCounts counts(plan);
    counts.ready(0, 50, {});
    counts.begin({{plan.stages[0].queues[0].index_space, 50, 64}});
    KeepingLines lines;
    counts.say(lines);
    if (limit == 0) {
      EXPECT_TRUE(lines.lines.empty());
      EXPECT_EQ(counts.audits(), (std::vector<SourceAudit>{{"a", 50, {}}}));
    } else {
      EXPECT_EQ(lines.lines,
                (std::vector<std::string>{
                    "note: source kept: found 100, outputs 30, skipped 70: 70 beyond `limit:`"}));
    }
  }
}

}  // namespace
}  // namespace brigade
