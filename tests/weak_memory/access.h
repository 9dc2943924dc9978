#pragma once

// An access to a shared word, and the names of those whose order the protocol argues for.

#include <atomic>
#include <cstdint>

#include "transports/fault_points.h"

namespace brigade::weak_memory {

enum class Kind : uint8_t {
  kLoad,
  kStore,
  kExchange,
  kCas,
  kAdd,
  kOr,
  kAnd,
  kSleep,
  kWake,
  kBarrier,
  kReap,
  kAwait
};

/// What a word is for.
enum class Role : uint8_t {
  kOther,
  kLevel,
  kTaskWord,
  kWaiters,
  kDoorbell,
  kUntil,
  kRepairs,
  kStop,
  kAck,
  kEnd,
  kTally
};

/// An access as it stands in transports/.
enum class Access : uint8_t {
  kNone,
  kReached,        // Neighbour::has(): load of a neighbour's watermark
  kOwnLevel,       // Channel::at_end(): load of its own watermark
  kClaimLook,      // try_claim(): load of the task word
  kClaimCas,       // try_claim(): compare-and-swap of the task word
  kFinishLevel,    // finish() in order: store of the watermark, or its exchange
  kFinishDone,     // finish(): exchange of the task word for DONE
  kAdvanceLevel,   // advance(): load of the watermark
  kAdvanceWord,    // advance(): load of the task word
  kAdvanceCas,     // advance(): compare-and-swap of the watermark
  kSetWaiter,      // set_waiter()
  kClearWaiter,    // clear_waiter()
  kDoorbellLook,   // claim_or_wait(): load of the doorbell
  kSayUntil,       // claim_or_wait(): store of what it sleeps for
  kBarrier,        // claim_or_wait(): the barrier in all processes
  kGlance,         // Waker::moved(): load of the bits
  kKeepOrder,      // keep_order() between the store of the watermark and that load
  kWakeLook,       // Waker::wake(): load of the bits
  kReadUntil,      // Waker::wake(): load of what a sleeper sleeps for
  kRing,           // ring()
  kRepairsLook,    // Channel::refresh_after_repair(): load of the repairs
  kReopen,         // repair(): store of a task word that the dead had claimed
  kCountRepair,    // repair(): the repairs
  kStopLook,       // try_claim(): load of the stop
  kAcknowledge,    // try_claim(): store of the acknowledgement
  kAskStop,        // ask_stop()
  kAckLook,        // all_acknowledged()
  kEndLook,        // try_claim(): load of the index space's end
  kLowerEnd,       // lower_end(): store of the index space's end
  kEndIsSet,       // lower_end(): store of the stop
  kRecordEnd,      // NumberList::record()
  kRecordedLook,   // NumberList::at()
  kTallyCommit,    // Tally::write(): store of the sequence
  kJournalCommit,  // Journal::commit(): the same
  kWordLook,       // claimed_up_to(), reopen_tasks(): load of a task word
  kDoneAbove,      // Neighbour::has_done(): load of a task word above
};

const char* name_of(Access access);

struct Operation {
  Kind kind = Kind::kLoad;
  uint8_t word = 0;
  Access access = Access::kNone;
  uint8_t order = static_cast<uint8_t>(std::memory_order_seq_cst);
  uint32_t operand = 0;
  uint32_t expected = 0;  // of a compare-and-swap, of a sleep

  std::memory_order memory_order() const { return static_cast<std::memory_order>(order); }
  bool reads_only() const { return kind == Kind::kLoad; }
  bool writes() const { return kind != Kind::kLoad && kind < Kind::kSleep; }
  uint32_t change(uint32_t before) const {
    if (kind == Kind::kAdd) return before + operand;
    if (kind == Kind::kOr) return before | operand;
    if (kind == Kind::kAnd) return before & operand;
    return operand;
  }
};

}  // namespace brigade::weak_memory
