#include "pipeline/cli/commands/busy_threads.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(BusyThreads, NamesTheTeamsOfAGraphThatWantsMoreThanTheCores) {
  const auto findings =
      crowded({{"fine", {{"train.0", 1.0}, {"train.1", 2.0}}},
               {"teams", {{"train.0", 7.9}, {"train.1", 8.2}, {"images.0", 0.3}}}},
              2);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what, "graph teams");
  EXPECT_EQ(findings[0].found, "16 busy threads on 2 cores: 8 in train.0, 8 in train.1");
  EXPECT_EQ(findings[0].health, Health::note);
}

// More replicas than cores, a thread each, is what `replicas:` asked for: no library's team.
TEST(BusyThreads, ReplicasOfOneThreadAreNoTeams) {
  EXPECT_TRUE(
      crowded({{"many", {{"a.0", 1.0}, {"a.1", 1.0}, {"a.2", 1.0}, {"a.3", 1.0}}}}, 2).empty());
}

}  // namespace
}  // namespace brigade
