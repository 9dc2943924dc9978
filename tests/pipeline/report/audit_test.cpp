#include "pipeline/report/audit.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::Log;
using support::NumberLine;
using support::RunLine;

struct Ran {
  GraphBuilder graph;
  RunLine run;
  Log log;

  explicit Ran(const NumberLine& line) : graph(support::number_graph(line)), run(graph) {
    support::fill_number_line(run, line, log);
    const auto ran = run.run();
    EXPECT_TRUE(ran.ok());
  }
};

TEST(GraphAudit, OfARunThatWentWellBalance) {
  NumberLine line;
  line.batch = 64;
  Ran ran(line);
  const auto audits = audit_edges(ran.run.plan(), ran.run.control());
  ASSERT_EQ(audits.size(), 2u);
  EXPECT_EQ(audit_text(audits[0]),
            "edge numbers -> mix: produced 300 = delivered 300 + dropped 0 + quarantined 0, "
            "leaked 0");
  EXPECT_EQ(audits[1].to, "sink");
  EXPECT_EQ(audit_failure(ran.run.plan(), ran.run.control()), std::nullopt);
}

TEST(GraphAudit, OfAStageThatMayDropBalance) {
  NumberLine line;
  line.drops = true;
  Ran ran(line);
  const auto audits = audit_edges(ran.run.plan(), ran.run.control());
  EXPECT_EQ(audits[0].audit.dropped, 60u);
  EXPECT_EQ(audit_failure(ran.run.plan(), ran.run.control()), std::nullopt);
}

TEST(GraphAudit, DroppingWithoutPermissionIsNoticed) {
  NumberLine line;
  line.drops = true;
  Ran ran(line);
  Plan plan = ran.run.plan();
  plan.stages[1].may_drop = false;
  EXPECT_EQ(audit_failure(plan, ran.run.control()),
            "edge numbers -> mix: produced 300 = delivered 240 + dropped 60 + quarantined 0, "
            "leaked 0: mix may not drop samples, but skipped 0");
}

TEST(GraphAudit, SkippedSamplesExplainWhatIsMissing) {
  NumberLine line;
  line.drops = true;
  Ran ran(line);
  Plan plan = ran.run.plan();
  plan.stages[1].may_drop = false;
  std::vector<std::atomic<std::uint64_t>> entries(100);
  auto& skips = ran.run.control().stages[1].skips;
  skips = NumberList<SystemPolicy>(entries.data(), entries.size());
  for (std::uint64_t n = 0; n < 60; ++n) skips.append(n);
  EXPECT_EQ(audit_failure(plan, ran.run.control()), std::nullopt);
}

TEST(GraphAudit, SlotsLeftBehindAreNoticed) {
  NumberLine line;
  Ran ran(line);
  auto& watermark = *ran.run.control().stages[1].queues[0].watermark;
  watermark.level.value.fetch_sub(64);
  const auto failure = audit_failure(ran.run.plan(), ran.run.control());
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->find("leaked 64: slots were not released"), std::string::npos) << *failure;
}

}  // namespace
}  // namespace brigade
