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
Outcomes store_buffering(memory_order store, memory_order load) {
  return outcomes_of({[=](LitmusWords& w) {
                        w.x.store(1, store);
                        w.note(0, w.y.load(load));
                      },
                      [=](LitmusWords& w) {
                        w.y.store(1, store);
                        w.note(1, w.x.load(load));
                      }});
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
  const auto outcomes = [](memory_order modify, memory_order load) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.x.exchange(1, modify);
                          w.note(0, w.y.load(load));
                        },
                        [=](LitmusWords& w) {
                          w.y.exchange(1, modify);
                          w.note(1, w.x.load(load));
                        }});
  };
  EXPECT_EQ(outcomes(kAcqRel, kSeqCst).count("0000"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kAcquire).count("0000"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kSeqCst).count("0000"), 0u);
}

// Two read-modify-writes of one word have an order: one of them sees the other's past.
TEST(Litmus, ReadModifyWritesOfOneWordNeedNoSeqCst) {
  const auto outcomes = [](memory_order modify, memory_order load) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.x.store(1, kRelaxed);
                          w.note(0, w.z.fetch_or(1, modify) >> 1);
                        },
                        [=](LitmusWords& w) {
                          w.z.fetch_or(2, modify);
                          w.note(1, w.x.load(load));
                        }});
  };
  EXPECT_EQ(outcomes(kAcqRel, kRelaxed).count("0000"), 0u);
  EXPECT_EQ(outcomes(kRelaxed, kRelaxed).count("0000"), 1u);
  EXPECT_EQ(outcomes(kRelease, kRelaxed).count("0000"), 1u);
  EXPECT_EQ(outcomes(kAcquire, kRelaxed).count("0000"), 1u);
}

Outcomes message_passing(memory_order store, memory_order load) {
  return outcomes_of({[=](LitmusWords& w) {
                        w.x.store(1, kRelaxed);
                        w.y.store(1, store);
                      },
                      [=](LitmusWords& w) {
                        w.note(0, w.y.load(load));
                        w.note(1, w.x.load(kRelaxed));
                      }});
}

TEST(Litmus, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_EQ(message_passing(kRelease, kAcquire), (Outcomes{"0000", "0100", "1100"}));
  EXPECT_EQ(message_passing(kRelaxed, kAcquire).count("1000"), 1u);
  EXPECT_EQ(message_passing(kRelease, kRelaxed).count("1000"), 1u);
}

TEST(Litmus, AReleaseSequenceIsHandedOnByReadModifyWrites) {
  const auto outcomes = [](bool modify) {
    return outcomes_of({[](LitmusWords& w) {
                          w.x.store(1, kRelaxed);
                          w.y.store(1, kRelease);
                        },
                        [=](LitmusWords& w) {
                          if (modify) {
                            w.y.fetch_or(2, kRelaxed);
                          } else if (w.y.load(kRelaxed) == 1) {
                            w.y.store(3, kRelaxed);
                          }
                        },
                        [](LitmusWords& w) {
                          w.note(0, w.y.load(kAcquire));
                          w.note(1, w.x.load(kRelaxed));
                        }});
  };
  EXPECT_EQ(outcomes(true).count("3000"), 0u);
  EXPECT_EQ(outcomes(false).count("3000"), 1u);
}

TEST(Litmus, HappensBeforeIsTransitive) {
  const Outcomes outcomes = outcomes_of({[](LitmusWords& w) { w.x.store(1, kRelease); },
                                         [](LitmusWords& w) {
                                           w.note(0, w.x.load(kAcquire));
                                           w.y.store(1, kRelease);
                                         },
                                         [](LitmusWords& w) {
                                           w.note(1, w.y.load(kAcquire));
                                           w.note(2, w.x.load(kRelaxed));
                                         }});
  EXPECT_EQ(outcomes.count("1100"), 0u);
  EXPECT_EQ(outcomes.count("0100"), 1u);
}

TEST(Litmus, ReadersAgreeOnAnOrderOfTwoWordsOnlyWithSeqCst) {
  const auto outcomes = [](memory_order store, memory_order load) {
    return outcomes_of({[=](LitmusWords& w) { w.x.store(1, store); },
                        [=](LitmusWords& w) { w.y.store(1, store); },
                        [=](LitmusWords& w) {
                          w.note(0, w.x.load(load));
                          w.note(1, w.y.load(load));
                        },
                        [=](LitmusWords& w) {
                          w.note(2, w.y.load(load));
                          w.note(3, w.x.load(load));
                        }});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire).count("1010"), 1u);
  EXPECT_EQ(outcomes(kSeqCst, kSeqCst).count("1010"), 0u);
}

TEST(Litmus, AWordIsNeverReadBackwards) {
  const Outcomes outcomes = outcomes_of({[](LitmusWords& w) {
                                           w.x.store(1, kRelaxed);
                                           w.x.store(2, kRelaxed);
                                         },
                                         [](LitmusWords& w) {
                                           w.note(0, w.x.load(kRelaxed));
                                           w.note(1, w.x.load(kRelaxed));
                                         }});
  EXPECT_EQ(outcomes, (Outcomes{"0000", "0100", "0200", "1100", "1200", "2200"}));
}

TEST(Litmus, ReadModifyWritesAreAtomicAndFailedOnesMayReadOldValues) {
  const auto add = [](int reg) {
    return [reg](LitmusWords& w) { w.note(reg, w.x.fetch_add(1, kRelaxed)); };
  };
  EXPECT_EQ(outcomes_of({add(0), add(1)}), (Outcomes{"0100", "1000"}));
  const Outcomes outcomes = outcomes_of({[](LitmusWords& w) {
                                           w.x.store(1, kRelaxed);
                                           w.x.store(2, kRelaxed);
                                         },
                                         [](LitmusWords& w) {
                                           uint32_t expected = 2;
                                           const bool won =
                                               w.x.compare_exchange_strong(expected, 3, kAcqRel);
                                           w.note(0, won ? 9 : expected);
                                         }});
  EXPECT_EQ(outcomes, (Outcomes{"0000", "1000", "9000"}));
}

TEST(Litmus, LoadBufferingIsNotCovered) {
  const Outcomes outcomes = outcomes_of({[](LitmusWords& w) {
                                           w.note(0, w.x.load(kRelaxed));
                                           w.y.store(1, kRelaxed);
                                         },
                                         [](LitmusWords& w) {
                                           w.note(1, w.y.load(kRelaxed));
                                           w.x.store(1, kRelaxed);
                                         }});
  EXPECT_EQ(outcomes.count("1100"), 0u);
}

TEST(Litmus, ASlotIsRacedForUnlessItsWriterHappensBefore) {
  const auto outcomes = [](memory_order store, memory_order load) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.write_slot();
                          w.x.store(1, store);
                        },
                        [=](LitmusWords& w) {
                          if (w.x.load(load) == 1) w.read_slot();
                        }});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire), Outcomes{"0000"});
  EXPECT_EQ(outcomes(kRelaxed, kAcquire).begin()->substr(0, 6), "a race");
  EXPECT_EQ(outcomes(kRelease, kRelaxed).begin()->substr(0, 6), "a race");
}

TEST(Litmus, ASlotIsRacedForUnlessItsReadersHappenBefore) {
  const auto outcomes = [](memory_order store, memory_order load) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.write_slot();
                          w.x.store(1, kRelease);
                          if (w.y.load(load) == 1) w.write_slot();
                        },
                        [=](LitmusWords& w) {
                          if (w.x.load(kAcquire) == 0) return;
                          w.read_slot();
                          w.y.store(1, store);
                        }});
  };
  EXPECT_EQ(outcomes(kRelease, kAcquire), Outcomes{"0000"});
  EXPECT_EQ(outcomes(kRelaxed, kAcquire).begin()->substr(0, 6), "a race");
  EXPECT_EQ(outcomes(kRelease, kRelaxed).begin()->substr(0, 6), "a race");
}

// One thread has all pass a barrier: the other one needs none.
TEST(Litmus, StoreBufferingIsForbiddenByABarrierInAllThreads) {
  const auto outcomes = [](bool barrier) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.x.store(1, kRelaxed);
                          if (barrier) RecordedPolicy::barrier_everywhere();
                          w.note(0, w.y.load(kRelaxed));
                        },
                        [=](LitmusWords& w) {
                          w.y.store(1, kRelaxed);
                          w.note(1, w.x.load(kRelaxed));
                        }});
  };
  EXPECT_EQ(outcomes(true), (Outcomes{"1000", "0100", "1100"}));
  EXPECT_EQ(outcomes(false).count("0000"), 1u);
}

TEST(Litmus, ABarrierInAllThreadsHandsOnNoSlots) {
  const auto outcomes = outcomes_of({[](LitmusWords& w) {
                                       w.write_slot();
                                       w.x.store(1, kRelaxed);
                                       RecordedPolicy::barrier_everywhere();
                                     },
                                     [](LitmusWords& w) {
                                       if (w.x.load(kAcquire) == 1) w.read_slot();
                                     }});
  EXPECT_EQ(outcomes.begin()->substr(0, 6), "a race");
}

TEST(Litmus, ASleeperIsWokenOrSeesThatTheWordHasChanged) {
  const auto outcomes = [](bool wakes) {
    return outcomes_of({[=](LitmusWords& w) {
                          w.x.fetch_add(1, kRelaxed);
                          if (wakes) RecordedPolicy::wake(w.x);
                        },
                        [](LitmusWords& w) { RecordedPolicy::sleep(w.x, 0); }});
  };
  EXPECT_EQ(outcomes(true), Outcomes{"0000"});
  EXPECT_EQ(outcomes(false), Outcomes{"deadlock: a thread sleeps for ever"});
}

}  // namespace
}  // namespace brigade::weak_memory
