#include "transports/audit.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/channel.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// A writer and a reader with tasks of four samples.
class AuditOfAnEdge : public testing::Test {
 protected:
  AuditOfAnEdge() { set_end(control_, 0, 12, 12, 1); }

  void write(const RowCounts& counts = {}) { writer_.finish(writer_.try_claim().task, counts); }
  void read(const RowCounts& counts = {}) { reader_.finish(reader_.try_claim().task, counts); }
  EdgeAudit audit() { return audit_edge(control_, 0, 1, 0); }

  GraphShape shape_ = support::line_shape({{1, 4, 16, {}, true}, {1, 4, 0, {0}}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Channel<SystemPolicy> writer_{control_, 0, 0, 0};
  Channel<SystemPolicy> reader_{control_, 1, 0, 0};
};

TEST_F(AuditOfAnEdge, ProducedIsDeliveredWhenNothingHappened) {
  for (int task = 0; task < 3; ++task) write();
  for (int task = 0; task < 3; ++task) read();
  const EdgeAudit books = audit();
  EXPECT_EQ(books.produced, 12u);
  EXPECT_EQ(books.delivered, 12u);
  EXPECT_EQ(books.dropped, 0u);
  EXPECT_EQ(books.leaked, 0);
}

TEST_F(AuditOfAnEdge, PadsAndHolesOfTheWriterWereNeverProduced) {
  write({0, 1, 0});
  write({3, 0, 0});
  read({0, 1, 0});
  read({3, 0, 0});
  const EdgeAudit books = audit();
  EXPECT_EQ(books.produced, 4u);
  EXPECT_EQ(books.delivered, 4u);
  EXPECT_EQ(books.dropped, 0u);
}

TEST_F(AuditOfAnEdge, WhatTheReaderSkippedOrDroppedIsDropped) {
  write();
  write({1, 0, 0});
  read({0, 1, 0});  // skipped one
  read({1, 0, 3});  // drop_last
  const EdgeAudit books = audit();
  EXPECT_EQ(books.produced, 7u);
  EXPECT_EQ(books.delivered, 3u);
  EXPECT_EQ(books.dropped, 4u);
}

TEST_F(AuditOfAnEdge, QuarantinedSamplesAreNamedAndNotDropped) {
  write();
  control_.stages[1].quarantine.append(2);
  read({0, 1, 0});
  const EdgeAudit books = audit();
  EXPECT_EQ(books.delivered, 3u);
  EXPECT_EQ(books.quarantined, 1u);
  EXPECT_EQ(books.dropped, 0u);
}

TEST_F(AuditOfAnEdge, WhatWasPublishedAndNotConsumedIsLeaked) {
  write();
  write();
  read();
  EXPECT_EQ(audit().leaked, 4);
}

TEST_F(AuditOfAnEdge, ATaskThatIsStillClaimedIsLeaked) {
  write();
  ASSERT_EQ(reader_.try_claim().look, Look::claimed);
  EXPECT_EQ(audit().leaked, 4 + 1);
  EXPECT_EQ(claimed_tasks(control_, 1, 0), 1u);
}

TEST_F(AuditOfAnEdge, ATallyCountsOnceItsTaskIsDone) {
  write();
  const std::uint64_t task = reader_.try_claim().task;
  control_.stages[1].lanes[0].tallies[0].write(1, task, {0, 4, 0});
  EXPECT_TRUE(lane_counts(control_, 1, 0).none());
  auto& table = control_.stages[1].lanes[0].table;
  table.word(task).store(table.done(task, 1));
  EXPECT_EQ(lane_counts(control_, 1, 0).holes, 4u);
}

}  // namespace
}  // namespace brigade
