// What is lost on the way. What is produced, delivered, dropped and quarantined where nothing is:
// stepping and the conformance suite compare it after every run.

#include "transports/audit.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/channel.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// A writer and a reader with tasks of four samples.
class AuditOfAnEdge : public testing::Test, protected support::LineControl {
 protected:
  AuditOfAnEdge() : LineControl(support::line_shape({{1, 4, 16, {}, true}, {1, 4, 0, {0}}})) {
    set_end(control, 0, 12, 12, 1);
  }
  static void pass(Channel<SystemPolicy>& channel) { channel.finish(channel.try_claim().task); }

  Channel<SystemPolicy> writer_{control, 0, 0, 0};
  Channel<SystemPolicy> reader_{control, 1, 0, 0};
};

TEST_F(AuditOfAnEdge, WhatWasPublishedAndNotConsumedIsLeaked) {
  pass(writer_);
  pass(writer_);
  pass(reader_);
  EXPECT_EQ(audit_edge(control, 0, 1, 0).leaked, 4);
}

TEST_F(AuditOfAnEdge, ATaskThatIsStillClaimedIsLeaked) {
  pass(writer_);
  ASSERT_EQ(reader_.try_claim().look, Look::claimed);
  EXPECT_EQ(audit_edge(control, 0, 1, 0).leaked, 4 + 1);
  EXPECT_EQ(claimed_tasks(control, 1, 0), 1u);
}

TEST(AuditOfAFanOut, CountsSlotsBelowAndSamplesAbove) {
  support::LineControl line(support::line_shape(
      {{1, 2, 8, {}, true}, {1, 2, 12, {0}, true, false, 3}, {1, 6, 0, {1}, true}}));
  set_end(line.control, 0, 4, 4, 1);
  Channel<SystemPolicy> source(line.control, 0, 0, 0);
  Channel<SystemPolicy> three(line.control, 1, 0, 0);
  source.finish(source.try_claim().task);
  EXPECT_EQ(audit_edge(line.control, 0, 1, 0).leaked, 2);
  three.finish(three.try_claim().task);
  EXPECT_EQ(audit_edge(line.control, 0, 1, 0).leaked, 0);
  EXPECT_EQ(audit_edge(line.control, 1, 2, 0).leaked, 6);
}

}  // namespace
}  // namespace brigade
