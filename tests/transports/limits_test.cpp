#include "transports/limits.h"

#include <gtest/gtest.h>

#include "transports/layout.h"

namespace brigade {
namespace {

TEST(Limits, WordsOfDifferentWritersLieOnLinesOfTheirOwn) {
  EXPECT_EQ(sizeof(Line<SystemPolicy>), kCacheLineBytes);
  EXPECT_EQ(sizeof(Bell<SystemPolicy>), kCacheLineBytes);
  EXPECT_EQ(sizeof(Waiters<SystemPolicy>), kCacheLineBytes);
  EXPECT_EQ(sizeof(TallyEntry<SystemPolicy>), kCacheLineBytes);
  EXPECT_EQ(sizeof(Mark<SystemPolicy>), 2 * kCacheLineBytes);
  EXPECT_EQ(alignof(Line<SystemPolicy>), kCacheLineBytes);
}

TEST(Limits, TheHighestReplicaHasABitAndAnOwnerField) {
  EXPECT_EQ(kWaiterWords * 64, kReplicasMax);
  const TaskWord word{1, TaskState::claimed, kReplicasMax - 1};
  EXPECT_EQ(TaskWord::unpack(word.pack()).owner, kReplicasMax - 1);
}

}  // namespace
}  // namespace brigade
