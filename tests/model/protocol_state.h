#pragma once

// Everything that changes while the protocol runs, as plain bytes.
//
// Counters of the protocol that are only compared for "has it changed since I looked" (doorbells,
// repairs, the sequence numbers of tally entries) are kept as that answer, which is exact and
// has no wrap-around. Sample numbers are small enough for bit masks of 16.

#include <cstdint>

namespace brigade::model {

inline constexpr int kReplicasMax = 6;    // of all stages together
inline constexpr int kWatermarksMax = 6;  // task tables and watermarks
inline constexpr int kRingMax = 4;        // slots of a ring, words of a task table
inline constexpr int kIndexSpacesMax = 3;
inline constexpr int kSkipsMax = 2;
inline constexpr int kSamplesMax = 16;
inline constexpr uint8_t kUnknownEnd = 255;
inline constexpr uint8_t kNoWatermark = 255;
inline constexpr uint8_t kNeverWritten = 255;

// The next step of a replica. Each touches shared memory once.
enum class At : uint8_t {
  kRepairs,       // load repairs
  kCursor,        // load the watermark, for the cursor
  kStop,          // load stop (sources)
  kAck,           // store ack
  kEnd,           // load end
  kOwnLevel,      // load the watermark: have all tasks up to the end been done?
  kWritable,      // load the watermark of reader `index`
  kWord,          // load the task word
  kReadable,      // load the watermark of input `index`
  kClaim,         // CAS the task word
  kEndedStore,    // store ended (join: epochs)
  kHeldMemory,    // only with kClaimBeforeMemory: wait for memory with the claim in flight
  kQuarantine,    // load quarantine
  kWorkBegin,     // read inputs, start to write slots
  kWorkEnd,       // inputs read, slots and their states written
  kSkipLook,      // load skips[index]
  kSkipAppend,    // CAS skips[index]
  kTallySlots,    // store the slots of the next tally entry
  kTallyTask,     // store its task
  kTallyNumber,   // store its sequence number
  kDone,          // exchange the word for DONE; one replica: store the watermark
  kAdvanceLevel,  // load the watermark
  kAdvanceWord,   // load the word of the task at the watermark
  kAdvanceCas,    // CAS the watermark
  kWakeLoad,      // load waiters
  kWakeClear,     // fetch_and one sleeper's bit out of waiters of watermark `index`
  kWakeRing,      // doorbell++ of that sleeper
  kWaitDoorbell,  // load my doorbell
  kWaitSet,       // fetch_or my bit into waiters of watermark `index`
  kSleep,         // futex_wait
  kWaitClear,     // fetch_and my bit
  kEndStore,      // a stream stores end
  kEndRing,       // and rings one doorbell
  kStopStore,     // a stream with several replicas: stop = 1 at the end of its data
  kLeft,          // gone, everything done
  kDead,          // killed, not yet repaired
  kReaped,        // repaired, not yet restarted
};

// What comes after the doorbells of a watermark that has moved.
enum class Then : uint8_t {
  kClaimNext,
  kStoreEnd,
  kStopAtEndOfData,
};

enum ReplicaFlag : uint8_t {
  kHolds = 1,          // between a claim and its DONE
  kLooksAgain = 2,     // checks everything again before it sleeps
  kDoorbellRead = 4,   // has read its doorbell
  kRung = 8,           // the doorbell has moved since
  kStorePending = 16,  // only with the plain-store faults: in the store buffer
  kPadding = 32,       // a stream finishes numbers as PAD up to a multiple of L
  kEnding = 64,        // and stores end there
  kBlamed = 128,       // died by its sample's fault
};

struct TallyEntry {
  uint8_t watermark = 0;
  uint8_t task = kNeverWritten;
  uint8_t not_full = 0;  // slots that were not FULL, all tasks of this replica so far
};

// Which of the two tally entries has the larger sequence number. After a repair they are equal;
// then the next one written is the first, so the newest is the second, whole one.
enum class Newest : uint8_t { kEqual, kFirst, kSecond };

struct Replica {
  // Private memory of the process, gone when it dies.
  At at = At::kRepairs;
  Then then = Then::kClaimNext;
  uint8_t flags = 0;
  uint8_t task = 0;     // the cursor, or the task in flight
  uint8_t table = 0;    // join: epochs: the input served now
  uint8_t epoch = 0;    // and its epoch
  uint8_t index = 0;    // of the loop that the step belongs to
  uint8_t bits = 0;     // of sleepers that are still to be rung
  uint8_t ringing = 0;  // the bit of the one whose bit in waiters has just been cleared
  uint8_t moved = 0;    // watermarks (counted within the stage) whose sleepers are still to be rung
  uint8_t empty_slots = 0;  // slots of the task in flight that are not FULL
  uint8_t seen = 0;         // the value loaded last: a watermark, a task number or an answer
  uint8_t seen_tag = 0;
  uint8_t blocked_on = 0;  // the watermark that a wait is for
  // Shared memory written by this replica.
  Newest newest = Newest::kEqual;
  TallyEntry tally[2];
  uint8_t ack = 0;
  uint8_t ended = 0;  // join: epochs: how many (epoch, input) have had their epoch_end
  // Shared memory written by the supervisor, as seen from here.
  uint8_t repairs_changed = 0;
  // For the properties only.
  uint8_t tasks_done = 0;
};

enum class SupervisorAt : uint8_t {
  kIdle,
  kSettle,
  kQuarantine,
  kReopen,
  kAdvanceLevel,
  kAdvanceWord,
  kAdvanceCas,
  kClearBits,
  kCount,
  kRing,
  kFinish,
  kStopRing,
  kStopTwo,
  kEndRing,
};

struct Supervisor {
  SupervisorAt at = SupervisorAt::kIdle;
  uint8_t victim = 0;
  uint8_t watermark = 0;
  uint8_t seen = 0;
  uint8_t bits = 0;  // doorbells still to ring
};

enum WordState : uint8_t { kOpen = 0, kClaimed = 1, kDone = 2 };

struct Word {
  int8_t number = 0;  // of the task
  uint8_t tag = 0;    // WordState + 4 * owner (of a CLAIMED task)
};

enum class SlotKind : uint8_t { kFull, kEmpty, kPad };

struct Slot {
  int8_t number = -1;
  uint8_t being_written = 0;
  uint8_t committed = 0;
  SlotKind kind = SlotKind::kFull;
};

struct State {
  Replica replica[kReplicasMax];
  Supervisor supervisor;
  Word word[kWatermarksMax][kRingMax];
  Slot slot[kWatermarksMax][kRingMax];
  uint8_t level[kWatermarksMax] = {};
  uint8_t waiters[kWatermarksMax] = {};
  uint8_t end[kIndexSpacesMax] = {};
  uint8_t stop[kIndexSpacesMax] = {};
  uint8_t skips[kSkipsMax] = {};  // sample number + 1, 0: empty
  uint8_t quarantined = 0;
  uint8_t deaths_left = 0;
  // For the properties only.
  uint8_t poison_deaths = 0;
  uint8_t full[kWatermarksMax] = {};  // FULL slots committed
  uint8_t unused[4] = {};
  uint16_t committed[kWatermarksMax] = {};  // numbers committed
};

}  // namespace brigade::model
