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
  kWindowTooLarge,     // writes one task further than the readers' marks allow
  kClaimBeforeMemory,  // claims as soon as the input is there, then waits for a free buffer
  kPlainDone,          // DONE is a plain store: it may become visible after the look at low
  kPlainLow,           // one replica: low becomes visible after the look at waiters
  kOneTallyEntry,      // the tally is updated in place
  kTallyTie,           // of two equal entries the one written next is taken for the newest
  kTallyAfterDone,
  kSkipAfterDone,       // the skips list is appended to after DONE
  kSkipWithoutLooking,  // appended to without looking whether the sample is there
  // wait and wake
  kNoRecheck,         // sleeps without checking again after its bit is set
  kBellAfterRecheck,  // reads the bell after checking again
  kNoWakeBeforeWait,
  kNoWakeBeforeLeave,
  // repair
  kNoReopen,
  kNoRepairAdvance,
  kNoRepairsCount,
  kRepairsCountFirst,  // counts the repair before the stores it announces
  kNoRepairBells,
  kRestartBeforeRepair,
  kNoSettle,
  kSettleAfterReopen,
  kQuarantineAfterOpen,
  kBellsOfNeighboursOnly,  // a repair rings S, its writers and its readers, not the domain
  // ends
  kAckBeforeFinish,
  kAckThenClaim,  // acknowledges a stop that it saw before its claim, and claims
  kEndFromLow,    // the lowered end ignores tasks that are claimed above low
  kEndWithoutBells,
  kEndNotRounded,  // the lowered end is no multiple of L
  kRoundsNotInL,   // L without R*g under assign: fixed
  kEpochsUnordered,
  kResumeAtLastConsumer,   // stages above several consumers start at the one furthest ahead
  kResumeNotRounded,       // or at the furthest back, but not at a multiple of their task size
  kGoneNeverAcknowledges,  // the end of data waits for the ack of a replica that will not come back
  kEndOfDataAlone,         // of several replicas of a stream, the first at the end stores it
  // the journal of free stages
  kJournalInPlace,           // the entry in use is overwritten, without the index
  kJournalIndexFirst,        // the index is stored before the entry it names
  kLowInBeforeJournal,       // low_in is stored before the entry that closes the input
  kNoDiscard,                // a restart commits all outputs of the input in work again
  kNoRaise,                  // a restart leaves low_in as it found it
  kRaiseAfterSettle,         // low_in is raised by the restart, after the repair's settle
  kRaiseWithoutWake,         // and nobody is woken for it
  kJournalAfterFirstOutput,  // the input in work is noted too late
  kFreeObeysStop,            // a free stage acknowledges a stop like a source
  kNoPadsAtEpoch,            // the next epoch goes on in the same buffer
};

// When a replica that owes a wake-up pays it, besides before it waits or leaves.
enum class Wake : uint8_t { kLate, kAtOnce, kEither };

// Where a sleeper leaves its bit: on every mark its claim depends on, or on the one that blocks it
// (then it sleeps only if the same mark still blocks it).
enum class Sleeper : uint8_t { kBlockingMark, kAllMarks };

// Sets of sample numbers are bit masks: bit s is sample s.
struct StageSpec {
  const char* name = "";
  std::vector<int> inputs = {};  // stages above; several are a zip, or epochs
  int replicas = 1;
  int task_size = 1;      // g
  int rows = 0;           // M of the output, 0: nobody reads it
  bool words = false;     // a task table even with one replica
  bool fixed = false;     // assign: fixed
  bool epochs = false;    // join: epochs
  int size = 0;           // a source: samples per epoch (of a stream: at most)
  bool stream = false;    // a source that does not know its end, with max_wait
  uint16_t filtered = 0;  // dropped by the stage: holes
  uint16_t failing = 0;   // on_error: skip: holes with an entry in skips
  uint16_t poison = 0;    // one sample that kills whoever works on it
  bool mortal = true;     // may be killed
  int start = 0;          // a consumer: resumes at this number
  bool free = false;      // numbering: free (merge, repack), with a journal
  uint16_t doubled = 0;   // a free stage: inputs with two outputs; a FULL one has one, others none
};

struct Scenario {
  const char* name = "";
  const char* about = "";
  std::vector<StageSpec> stages = {};
  int deaths = 0;  // kills, at any step of any mortal replica
  int epochs = 1;
  bool stop = false;    // a stop may come at any moment, or never
  bool restart = true;  // else the stage goes on without the dead replica
  Wake wake = Wake::kLate;
  Sleeper sleeper = Sleeper::kBlockingMark;
  bool tallies = false;         // keep tallies (else nothing but FULL rows may occur)
  bool sparse_tallies = false;  // an entry only for a task with holes or pads
  uint64_t states_min = 0;      // fewer: the scenario does not do what it is meant to
  Fault fault = Fault::kNone;
};

// Scenarios for every test run, larger ones for long runs, and the negative controls.
std::vector<Scenario> small_scenarios();
std::vector<Scenario> large_scenarios();
std::vector<Scenario> negative_controls();
// The same of resumed runs, streams with several replicas, and long ways to a zip.
std::vector<Scenario> small_resume_scenarios();
std::vector<Scenario> large_resume_scenarios();
std::vector<Scenario> resume_controls();
// The same of free stages and their journal.
std::vector<Scenario> small_free_scenarios();
std::vector<Scenario> large_free_scenarios();
std::vector<Scenario> free_controls();

}  // namespace brigade::model
