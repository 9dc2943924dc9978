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

  void write(const SlotCounts& counts = {}) { writer_.finish(writer_.try_claim().task, counts); }
  void read(const SlotCounts& counts = {}) { reader_.finish(reader_.try_claim().task, counts); }
  EdgeAudit audit() { return audit_edge(control_, 0, 1, 0); }

  SharedShape shape_ = support::line_shape({{1, 4, 16, {}, true}, {1, 4, 0, {0}}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Channel<SystemPolicy> writer_{control_, 0, 0, 0};
  Channel<SystemPolicy> reader_{control_, 1, 0, 0};
};

TEST_F(AuditOfAnEdge, PadsAndEmptySlotsOfTheWriterWereNeverProduced) {
  write({0, 1, 0});
  write({3, 0, 0});
  read({0, 1, 0});
  read({3, 0, 0});
  const EdgeAudit edge = audit();
  EXPECT_EQ(edge.produced, 4u);
  EXPECT_EQ(edge.delivered, 4u);
  EXPECT_EQ(edge.dropped, 0u);
}

TEST_F(AuditOfAnEdge, WhatTheReaderSkippedOrDroppedIsDropped) {
  write();
  write({1, 0, 0});
  read({0, 1, 0});  // skipped one
  read({1, 0, 3});  // drop_last
  const EdgeAudit edge = audit();
  EXPECT_EQ(edge.produced, 7u);
  EXPECT_EQ(edge.delivered, 3u);
  EXPECT_EQ(edge.dropped, 4u);
}

TEST_F(AuditOfAnEdge, QuarantinedSamplesAreNamedAndNotDropped) {
  write();
  read({0, 0, 0, 1});
  const EdgeAudit edge = audit();
  EXPECT_EQ(edge.delivered, 3u);
  EXPECT_EQ(edge.quarantined, 1u);
  EXPECT_EQ(edge.dropped, 0u);
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

TEST(AuditOfAFanOut, CountsSlotsBelowAndSamplesAbove) {
  const SharedShape shape = support::line_shape(
      {{1, 2, 8, {}, true}, {1, 2, 12, {0}, true, false, 3}, {1, 6, 0, {1}, true}});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control = create_control<SystemPolicy>(memory.data(), shape);
  set_end(control, 0, 4, 4, 1);
  Channel<SystemPolicy> source(control, 0, 0, 0);
  Channel<SystemPolicy> three(control, 1, 0, 0);
  Channel<SystemPolicy> reader(control, 2, 0, 0);
  source.finish(source.try_claim().task);
  source.finish(source.try_claim().task, {0, 1, 0});
  three.finish(three.try_claim().task, {0, 1, 0});  // it skipped one
  three.finish(three.try_claim().task, {0, 1, 0});  // and one was an empty slot
  reader.finish(reader.try_claim().task, {0, 3, 0});
  const EdgeAudit above = audit_edge(control, 0, 1, 0);
  EXPECT_EQ(above.produced, 3u);
  EXPECT_EQ(above.delivered, 2u);
  EXPECT_EQ(above.dropped, 1u);
  EXPECT_EQ(above.leaked, 0);
  EXPECT_EQ(audit_edge(control, 1, 2, 0).leaked, 6);
  reader.finish(reader.try_claim().task, {0, 3, 0});
  const EdgeAudit below = audit_edge(control, 1, 2, 0);
  EXPECT_EQ(below.produced, 6u);
  EXPECT_EQ(below.delivered, 6u);
  EXPECT_EQ(below.dropped, 0u);
  EXPECT_EQ(below.leaked, 0);
}

}  // namespace
}  // namespace brigade
