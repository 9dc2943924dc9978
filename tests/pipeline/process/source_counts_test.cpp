#include "pipeline/process/source_counts.h"

#include <gtest/gtest.h>

#include "tests/support/keeping_lines.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

const std::vector<LeftOut> kLimit{{LeftOutWhy::limit, 5, "behind `limit:`"}};
const std::vector<LeftOut> kFiles{{LeftOutWhy::no_match, 2, "files that are no images"}};

/// Two replicas of `a`, one each of `b` and `sink`.
Plan two_sources() {
  GraphBuilder graph("two");
  graph.producer("a", {{"value", i64, {}}}).replicas = 2;
  graph.producer("b", {{"value", i64, {}}});
  graph.consumer("sink", {"a", "b"}, Join::zip);
  return plan_of(graph);
}

TEST(SourceCounts, ABookForEachSource) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  counts.ready(1, 10, kLimit);  // the other replica has not come
  counts.ready(3, std::nullopt, {});
  EXPECT_EQ(counts.books(), (std::vector<SourceBook>{{"a", 10, kLimit}, {"b", std::nullopt, {}}}));
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, {});
  EXPECT_EQ(counts.books(), (std::vector<SourceBook>{{"a", 10, kLimit}, {"b", 10, {}}}));
}

TEST(SourceCounts, ALineWhereSomethingIsLeftOut) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  KeepingLines lines;
  for (int replica = 0; replica < 3; ++replica) counts.ready(replica, 10, {});
  counts.say(lines);
  EXPECT_TRUE(lines.lines.empty());
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, kFiles);
  counts.say(lines);
  EXPECT_EQ(lines.lines,
            (std::vector<std::string>{
                "note: source a: found 15, gives 10, left out 5: 5 behind `limit:`",
                "warning: source b: found 12, gives 10, left out 2: 2 files that are no images"}));
}

}  // namespace
}  // namespace brigade
