#pragma once

// Everything that changes while the protocol runs, as plain bytes.
//
// Counters of the protocol that are only compared for "has it changed since I looked" (bells,
// repairs, the sequence numbers of tally entries) are kept as that answer, which is exact and
// has no wrap-around. Sample numbers are small enough for bit masks of 16.

#include <cstdint>

namespace brigade::model {

inline constexpr int kReplicasMax = 6;  // of all stages together
inline constexpr int kMarksMax = 6;     // task tables and low-water marks
inline constexpr int kRingMax = 4;      // rows of a pool, words of a task table
inline constexpr int kDomainsMax = 3;
inline constexpr int kSkipsMax = 2;
inline constexpr int kSamplesMax = 16;
inline constexpr uint8_t kUnknownEnd = 255;
inline constexpr uint8_t kNoMark = 255;
inline constexpr uint8_t kNeverWritten = 255;
inline constexpr int kPortsMax = 2;  // inputs of a free stage
inline constexpr uint8_t kNoPort = 255;
inline constexpr int kEpochsMax = 4;

// The next step of a replica. Each touches shared memory once.
enum class At : uint8_t {
  kRepairs,      // load repairs
  kCursor,       // load low, for the cursor
  kStop,         // load stop (sources)
  kAck,          // store ack
  kEnd,          // load end
  kOwnLow,       // load low: have all tasks up to the end been done?
  kWritable,     // load the low of reader `index`
  kWord,         // load the task word
  kReadable,     // load the low of input `index`
  kClaim,        // CAS the task word
  kEndedStore,   // store ended (join: epochs)
  kHeldMemory,   // only with kClaimBeforeMemory: wait for memory with the claim in hand
  kQuarantine,   // load quarantine
  kWorkBegin,    // read inputs, start to write rows
  kWorkEnd,      // inputs read, rows and their states written
  kSkipLook,     // load skips[index]
  kSkipAppend,   // CAS skips[index]
  kTallyRows,    // store the rows of the next tally entry
  kTallyTask,    // store its task
  kTallyNumber,  // store its sequence number
  kDone,         // exchange the word for DONE; one replica: store low
  kAdvanceLow,   // load low
  kAdvanceWord,  // load the word of the task at low
  kAdvanceCas,   // CAS low
  kWakeLoad,     // load waiters
  kWakeRing,     // bell++ of one replica
  kWaitSet,      // fetch_or my bit into waiters of mark `index`
  kWaitBell,     // load my bell
  kSleep,        // futex_wait
  kWaitClear,    // fetch_and my bit
  kEndStore,     // a stream stores end
  kEndRing,      // and rings one bell
  kStopStore,    // a stream with several replicas: stop = 1 at the end of its data
  // a free stage
  kFreeEntry,        // a restart: load the journal
  kFreeRaise,        // and raise low_in (kRaiseAfterSettle, kNoRaise)
  kFreeEnd,          // load the end of input `index`
  kFreeRecord,       // store the end of an epoch
  kFreeReadable,     // load the mark of input `index`
  kFreeMemory,       // load the low of reader `index`
  kOpenEntry,        // journal: t_out and the port of the next entry
  kOpenLows,         // journal: its low_in
  kOpenIndex,        // journal: commit it
  kFreeRead,         // read the input, begin
  kFreeRowBegin,     // begin to write an output row
  kFreeRowEnd,       // it is written
  kFreeTally,        // tally of a lane: the entry
  kFreeTallyNumber,  // and its sequence number
  kFreeLowOut,       // store low_out
  kCloseEntry,       // journal: no port in work
  kCloseLows,        // journal: low_in, one further
  kCloseIndex,       // journal: commit it
  kFreeLowIn,        // store low_in
  kLeft,             // gone, everything done
  kDead,             // killed, not yet repaired
  kReaped,           // repaired, not yet restarted
};

enum class Then : uint8_t { kClaimNext, kWait, kLeave };

enum ReplicaFlag : uint8_t {
  kHolds = 1,          // between a claim and its DONE
  kLooksAgain = 2,     // checks everything again before it sleeps
  kBellRead = 4,       // has read its bell
  kRung = 8,           // the bell has moved since
  kStorePending = 16,  // only with the plain-store faults: in the store buffer
  kPadding = 32,       // a stream finishes numbers as PAD up to a multiple of L
  kEnding = 64,        // and stores end there
  kBlamed = 128,       // died by its sample's fault
};

struct TallyEntry {
  uint8_t mark = 0;
  uint8_t task = kNeverWritten;
  uint8_t not_full = 0;  // rows that were not FULL, all tasks of this replica so far
};

// Which of the two tally entries has the larger sequence number. After a repair they are equal;
// then the next one written is the first, so the newest is the second, whole one.
enum class Newest : uint8_t { kEqual, kFirst, kSecond };

struct Replica {
  // Private memory of the process, gone when it dies.
  At at = At::kRepairs;
  Then then = Then::kClaimNext;
  uint8_t flags = 0;
  uint8_t task = 0;   // the cursor, or the task in hand
  uint8_t table = 0;  // join: epochs: the input served now
  uint8_t epoch = 0;  // and its epoch
  uint8_t index = 0;  // of the loop that the step belongs to
  uint8_t bits = 0;   // bells still to ring
  uint8_t owes = 0;   // marks (counted within the stage) whose waiters are owed a wake-up
  uint8_t holes = 0;  // rows of the task in hand that are not FULL
  uint8_t seen = 0;   // the value loaded last: a mark, a task number or an answer
  uint8_t seen_tag = 0;
  uint8_t blocked_on = 0;  // the mark that a wait is for
  // Shared memory written by this replica.
  Newest newest = Newest::kEqual;
  TallyEntry tally[2];
  uint8_t ack = 0;
  uint8_t ended = 0;  // join: epochs: how many (epoch, input) have had their epoch_end
  // Shared memory written by the supervisor, as seen from here.
  uint8_t repairs_changed = 0;
  // A free stage, private: the port in work (kNoPort: a pad), its sample, outputs made of it, the
  // ports whose inputs are closed.
  uint8_t port = 0;
  uint8_t input = 0;
  uint8_t made = 0;
  uint8_t closed = 0;
  // For the properties only.
  uint8_t tasks_done = 0;
};

enum class SupervisorAt : uint8_t {
  kIdle,
  kRaise,
  kSettle,
  kQuarantine,
  kReopen,
  kAdvanceLow,
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
  uint8_t mark = 0;
  uint8_t seen = 0;
  uint8_t bits = 0;  // bells still to ring
};

enum WordState : uint8_t { kOpen = 0, kClaimed = 1, kDone = 2 };

struct Word {
  int8_t number = 0;  // of the task
  uint8_t tag = 0;    // WordState + 4 * owner (of a CLAIMED task)
};

enum class RowKind : uint8_t { kFull, kHole, kPad };

struct Row {
  int8_t number = -1;
  uint8_t being_written = 0;
  uint8_t committed = 0;
  RowKind kind = RowKind::kFull;
  uint8_t content = 0;  // written by a free stage: which output of which input
};

// The shared words of a free stage besides its marks.
struct JournalEntry {
  uint8_t t_out = 0;
  uint8_t port = kNoPort;
  uint8_t low_in[kPortsMax] = {};
};

struct LaneTally {
  Newest newest = Newest::kEqual;
  TallyEntry entry[2];
};

struct FreeWords {
  JournalEntry entry[2];
  uint8_t index = 0;
  LaneTally tally[kPortsMax + 1];
  uint8_t epochs = 0;  // that are recorded to have ended
  uint8_t ends[kEpochsMax] = {};
  // For the properties only: outputs committed of the input in work, by port.
  uint8_t fed[kPortsMax] = {};
  uint8_t epoch = 0;   // of the newest FULL output
  uint8_t padded = 0;  // and it was followed by pads
};

struct State {
  Replica replica[kReplicasMax];
  Supervisor supervisor;
  Word word[kMarksMax][kRingMax];
  Row row[kMarksMax][kRingMax];
  uint8_t low[kMarksMax] = {};
  uint8_t waiters[kMarksMax] = {};
  uint8_t end[kDomainsMax] = {};
  uint8_t stop[kDomainsMax] = {};
  uint8_t skips[kSkipsMax] = {};  // sample number + 1, 0: empty
  uint8_t quarantined = 0;
  uint8_t deaths_left = 0;
  // For the properties only.
  uint8_t poison_deaths = 0;
  uint8_t full[kMarksMax] = {};  // FULL rows committed
  FreeWords free;
  uint8_t unused[7] = {};
  uint16_t kept[kMarksMax] = {};       // of these, FULL
  uint16_t committed[kMarksMax] = {};  // numbers committed
};

}  // namespace brigade::model
