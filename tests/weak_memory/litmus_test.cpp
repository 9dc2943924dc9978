// The memory of memory.h allows what C++20 allows, and nothing else, in the cases that the protocol
// is made of.

#include "tests/weak_memory/litmus.h"

#include <gtest/gtest.h>

namespace brigade::weak_memory {
namespace {

using Outcomes = std::set<std::string>;
using std::memory_order;
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

// Both threads may miss each other's store.
Outcomes store_buffering(memory_order of_store, memory_order of_load) {
  return outcomes_of({{store(kX, 1, of_store), load(0, kY, of_load)},
                      {store(kY, 1, of_store), load(1, kX, of_load)}});
}

TEST(Litmus, StoreBufferingIsForbiddenOnlyToSeqCst) {
  const Outcomes all = {"0000", "1000", "0100", "1100"}, ordered = {"1000", "0100", "1100"};
  EXPECT_EQ(store_buffering(kRelaxed, kRelaxed), all);
  EXPECT_EQ(store_buffering(kRelease, kAcquire), all);
  EXPECT_EQ(store_buffering(kSeqCst, kAcquire), all);
  EXPECT_EQ(store_buffering(kRelease, kSeqCst), all);
  EXPECT_EQ(store_buffering(kSeqCst, kSeqCst), ordered);
}

TEST(Litmus, StoreBufferingWithReadModifyWrites) {
  const auto outcomes = [](memory_order modify, memory_order of_load) {
    return outcomes_of({{[=](LitmusWords& w) { w.x.exchange(1, modify); }, load(0, kY, of_load)},
                        {[=](LitmusWords& w) { w.y.exchange(1, modify); }, load(1, kX, of_load)}});
  };
  EXPECT_EQ(outcomes(kAcqRel, kSeqCst).count("0000"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kAcquire).count("0000"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kSeqCst).count("0000"), 0u);
}

// Two read-modify-writes of one word have an order: one of them sees the other's past.
TEST(Litmus, ReadModifyWritesOfOneWordNeedNoSeqCst) {
  const auto outcomes = [](memory_order modify, memory_order of_load) {
    return outcomes_of(
        {{store(kX, 1, kRelaxed), [=](LitmusWords& w) { w.note(0, w.z.fetch_or(1, modify) >> 1); }},
         {[=](LitmusWords& w) { w.z.fetch_or(2, modify); }, load(1, kX, of_load)}});
  };
  EXPECT_EQ(outcomes(kAcqRel, kRelaxed).count("0000"), 0u);
  EXPECT_EQ(outcomes(kRelaxed, kRelaxed).count("0000"), 1u);
  EXPECT_EQ(outcomes(kRelease, kRelaxed).count("0000"), 1u);
  EXPECT_EQ(outcomes(kAcquire, kRelaxed).count("0000"), 1u);
}

Outcomes message_passing(memory_order of_store, memory_order of_load) {
  return outcomes_of({{store(kX, 1, kRelaxed), store(kY, 1, of_store)},
                      {load(0, kY, of_load), load(1, kX, kRelaxed)}});
}

TEST(Litmus, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_EQ(message_passing(kRelease, kAcquire), (Outcomes{"0000", "0100", "1100"}));
  EXPECT_EQ(message_passing(kRelaxed, kAcquire).count("1000"), 1u);
  EXPECT_EQ(message_passing(kRelease, kRelaxed).count("1000"), 1u);
}

TEST(Litmus, AReleaseSequenceIsHandedOnByReadModifyWrites) {
  const auto outcomes = [](const Step& between) {
    return outcomes_of({{store(kX, 1, kRelaxed), store(kY, 1, kRelease)},
                        {between},
                        {load(0, kY, kAcquire), load(1, kX, kRelaxed)}});
  };
  const Step modify = [](LitmusWords& w) { w.y.fetch_or(2, kRelaxed); };
  const Step overwrite = [](LitmusWords& w) {
    if (w.y.load(kRelaxed) == 1) w.y.store(3, kRelaxed);
  };
  EXPECT_EQ(outcomes(modify).count("3000"), 0u);
  EXPECT_EQ(outcomes(overwrite).count("3000"), 1u);
}

TEST(Litmus, HappensBeforeIsTransitive) {
  const Outcomes outcomes = outcomes_of({{store(kX, 1, kRelease)},
                                         {load(0, kX, kAcquire), store(kY, 1, kRelease)},
                                         {load(1, kY, kAcquire), load(2, kX, kRelaxed)}});
  EXPECT_EQ(outcomes.count("1100"), 0u);
  EXPECT_EQ(outcomes.count("0100"), 1u);
}

TEST(Litmus, ReadersAgreeOnAnOrderOfTwoWordsOnlyWithSeqCst) {
  const auto outcomes = [](memory_order of_store, memory_order of_load) {
    return outcomes_of({{store(kX, 1, of_store)},
                        {store(kY, 1, of_store)},
                        {load(0, kX, of_load), load(1, kY, of_load)},
                        {load(2, kY, of_load), load(3, kX, of_load)}});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire).count("1010"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kSeqCst).count("1010"), 0u);
}

TEST(Litmus, AWordIsNeverReadBackwards) {
  const Outcomes outcomes = outcomes_of({{store(kX, 1, kRelaxed), store(kX, 2, kRelaxed)},
                                         {load(0, kX, kRelaxed), load(1, kX, kRelaxed)}});
  EXPECT_EQ(outcomes, (Outcomes{"0000", "0100", "0200", "1100", "1200", "2200"}));
}

TEST(Litmus, ReadModifyWritesAreAtomicAndFailedOnesMayReadOldValues) {
  const auto add = [](int reg) -> Step {
    return [reg](LitmusWords& w) { w.note(reg, w.x.fetch_add(1, kRelaxed)); };
  };
  EXPECT_EQ(outcomes_of({{add(0)}, {add(1)}}), (Outcomes{"0100", "1000"}));
  const Step compare_and_swap = [](LitmusWords& w) {
    uint32_t expected = 2;
    const bool won = w.x.compare_exchange_strong(expected, 3, kAcqRel);
    w.note(0, won ? 9 : expected);
  };
  EXPECT_EQ(outcomes_of({{store(kX, 1, kRelaxed), store(kX, 2, kRelaxed)}, {compare_and_swap}}),
            (Outcomes{"0000", "1000", "9000"}));
}

TEST(Litmus, LoadBufferingIsNotCovered) {
  const Outcomes outcomes = outcomes_of({{load(0, kX, kRelaxed), store(kY, 1, kRelaxed)},
                                         {load(1, kY, kRelaxed), store(kX, 1, kRelaxed)}});
  EXPECT_EQ(outcomes.count("1100"), 0u);
}

TEST(Litmus, ASlotIsRacedForUnlessItsWriterHappensBefore) {
  const auto outcomes = [](memory_order of_store, memory_order of_load) {
    const Step read = [=](LitmusWords& w) {
      if (w.x.load(of_load) == 1) read_slot(w);
    };
    return outcomes_of({{write_slot, store(kX, 1, of_store)}, {read}});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire), Outcomes{"0000"});
  EXPECT_EQ(outcomes(kRelaxed, kAcquire).begin()->substr(0, 6), "a race");
  EXPECT_EQ(outcomes(kRelease, kRelaxed).begin()->substr(0, 6), "a race");
}

TEST(Litmus, ASlotIsRacedForUnlessItsReadersHappenBefore) {
  const auto outcomes = [](memory_order of_store, memory_order of_load) {
    const Step write_again = [=](LitmusWords& w) {
      if (w.y.load(of_load) == 1) write_slot(w);
    };
    const Step read = [=](LitmusWords& w) {
      if (w.x.load(kAcquire) == 0) return;
      read_slot(w);
      w.y.store(1, of_store);
    };
    return outcomes_of({{write_slot, store(kX, 1, kRelease), write_again}, {read}});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire), Outcomes{"0000"});
  EXPECT_EQ(outcomes(kRelaxed, kAcquire).begin()->substr(0, 6), "a race");
  EXPECT_EQ(outcomes(kRelease, kRelaxed).begin()->substr(0, 6), "a race");
}

void barrier(LitmusWords&) { RecordedPolicy::barrier_everywhere(); }

// One thread has all pass a barrier: the other one needs none.
TEST(Litmus, StoreBufferingIsForbiddenByABarrierInAllThreads) {
  const std::vector<Step> other = {store(kY, 1, kRelaxed), load(1, kX, kRelaxed)};
  const Step first = store(kX, 1, kRelaxed), last = load(0, kY, kRelaxed);
  EXPECT_EQ(outcomes_of({{first, barrier, last}, other}), (Outcomes{"1000", "0100", "1100"}));
  EXPECT_EQ(outcomes_of({{first, last}, other}).count("0000"), 1u);
}

TEST(Litmus, ABarrierInAllThreadsHandsOnNoSlots) {
  const Step read = [](LitmusWords& w) {
    if (w.x.load(kAcquire) == 1) read_slot(w);
  };
  const auto outcomes = outcomes_of({{write_slot, store(kX, 1, kRelaxed), barrier}, {read}});
  EXPECT_EQ(outcomes.begin()->substr(0, 6), "a race");
}

TEST(Litmus, ASleeperIsWokenOrSeesThatTheWordHasChanged) {
  const Step add = [](LitmusWords& w) { w.x.fetch_add(1, kRelaxed); };
  const Step wake = [](LitmusWords& w) { RecordedPolicy::wake(w.x); };
  const Step sleep = [](LitmusWords& w) { RecordedPolicy::sleep(w.x, 0); };
  EXPECT_EQ(outcomes_of({{add, wake}, {sleep}}), Outcomes{"0000"});
  EXPECT_EQ(outcomes_of({{add}, {sleep}}), Outcomes{"deadlock: a thread sleeps for ever"});
}

}  // namespace
}  // namespace brigade::weak_memory
