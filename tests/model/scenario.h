#pragma once

// What a run of the model checker looks at: a small graph, how often its replicas may die, and,
// for a negative control, one mistake in the protocol that the checker has to notice.

#include <cstdint>
#include <string>
#include <vector>

namespace brigade::model {

// One deliberate mistake each. A test fails if a mistake goes unnoticed.
enum class Fault : uint8_t {
  kNone,
  // claim and finish
  kWindowTooLarge,     // writes one task further than the readers' watermarks allow
  kClaimBeforeMemory,  // claims as soon as the input is there, then waits for a free buffer
  kPlainDone,      // DONE is a plain store: it may become visible after the look at the watermark
  kPlainLevel,     // one replica: the watermark becomes visible after the look at waiters
  kOneTallyEntry,  // the tally is updated in place
  kTallyTie,       // of two equal entries the one written next is taken for the newest
  kTallyAfterDone,
  kSkipAfterDone,       // the skips list is appended to after DONE
  kSkipWithoutLooking,  // appended to without looking whether the sample is there
  // wait and wake
  kNoRecheck,             // sleeps without checking again after its bit is set
  kDoorbellAfterRecheck,  // reads the doorbell after checking again
  kDoorbellAfterBit,      // reads the doorbell after its bit is set, as if no ring cleared the bit
  kNoWake,                // a watermark moves, and nobody is rung
  // repair
  kNoReopen,
  kNoRepairAdvance,
  kNoRepairsCount,
  kRepairsCountFirst,  // counts the repair before the stores it announces
  kNoRepairDoorbells,
  kRestartBeforeRepair,
  kNoSettle,
  kSettleAfterReopen,
  kQuarantineAfterOpen,
  kDoorbellsOfNeighboursOnly,  // a repair rings S, its writers and its readers, not the index space
  // ends
  kAckBeforeFinish,
  kAckThenClaim,  // acknowledges a stop that it saw before its claim, and claims
  kEndFromLevel,  // the lowered end ignores tasks that are claimed above the watermark
  kEndWithoutDoorbells,
  kEndNotRounded,  // the lowered end is no multiple of L
  kRoundsNotInL,   // L without R*g under assign: fixed
  kEpochsUnordered,
  kGoneNeverAcknowledges,  // the end of data waits for the ack of a replica that will not come back
  kEndOfDataAlone,         // of several replicas of a stream, the first at the end stores it
};

// Where a sleeper leaves its bit: on every watermark its claim depends on, or on the one that
// blocks it (then it sleeps only if the same watermark still blocks it).
enum class Sleeper : uint8_t { kBlockingWatermark, kAllWatermarks };

// Sets of sample numbers are bit masks: bit s is sample s.
struct StageSpec {
  const char* name = "";
  std::vector<int> inputs = {};  // stages above; several are a zip, or epochs
  int replicas = 1;
  int task_size = 1;      // g
  int slots = 0;          // M of the output, 0: nobody reads it
  bool words = false;     // a task table even with one replica
  bool fixed = false;     // assign: fixed
  bool epochs = false;    // join: epochs
  int size = 0;           // a source: samples per epoch (of a stream: at most)
  bool stream = false;    // a source that does not know its end, with max_wait
  uint16_t filtered = 0;  // dropped by the stage: empty slots
  uint16_t failing = 0;   // on_error: skip: empty slots with an entry in skips
  uint16_t poison = 0;    // one sample that kills whoever works on it
};

struct Scenario {
  const char* name = "";
  const char* about = "";
  std::vector<StageSpec> stages = {};
  int deaths = 0;  // kills, at any step of any replica
  int epochs = 1;
  bool stop = false;    // a stop may come at any moment, or never
  bool restart = true;  // else the stage goes on without the dead replica
  Sleeper sleeper = Sleeper::kBlockingWatermark;
  bool tallies = false;         // keep tallies (else nothing but FULL slots may occur)
  bool sparse_tallies = false;  // an entry only for a task with empty slots or pads
  uint64_t states_min = 0;      // fewer: the scenario does not do what it is meant to
  Fault fault = Fault::kNone;
};

// Scenarios for every test run, larger ones for long runs, and the negative controls.
std::vector<Scenario> small_scenarios();
std::vector<Scenario> large_scenarios();
std::vector<Scenario> negative_controls();

}  // namespace brigade::model
