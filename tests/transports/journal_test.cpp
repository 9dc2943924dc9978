#include "transports/journal.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class JournalOfTwoPorts : public testing::Test {
 protected:
  Line<SystemPolicy> sequence_;
  Journal<SystemPolicy>::Word even_[4] = {};
  Journal<SystemPolicy>::Word odd_[4] = {};
  Journal<SystemPolicy> journal_{&sequence_, even_, odd_, 2};
};

TEST_F(JournalOfTwoPorts, BeginsWithNothingInWorkAndNothingConsumed) {
  EXPECT_EQ(Journal<SystemPolicy>::entry_words(2), 4);
  EXPECT_EQ(journal_.in_work(), -1);
  EXPECT_EQ(journal_.consumed(0), 0u);
  EXPECT_EQ(Journal<SystemPolicy>().ports(), 0);
}

TEST_F(JournalOfTwoPorts, SaysWhatIsInWorkAndKeepsWhatIsConsumed) {
  journal_.begin(1, 40);
  EXPECT_EQ(journal_.in_work(), 1);
  EXPECT_EQ(journal_.outputs_from(), 40u);
  journal_.consume(1, 7);
  EXPECT_EQ(journal_.in_work(), -1);
  journal_.begin(0, 42);
  journal_.consume(0, 3);
  EXPECT_EQ(journal_.consumed(0), 3u);
  EXPECT_EQ(journal_.consumed(1), 7u);
}

TEST_F(JournalOfTwoPorts, AnEntryThatIsNotCommittedDoesNotCount) {
  journal_.begin(0, 5);
  const std::uint64_t sequence = sequence_.value;
  journal_.consume(0, 1);
  sequence_.value = sequence;  // as if it had died before its last store
  EXPECT_EQ(journal_.in_work(), 0);
  EXPECT_EQ(journal_.outputs_from(), 5u);
  EXPECT_EQ(journal_.consumed(0), 0u);
}

}  // namespace
}  // namespace brigade
