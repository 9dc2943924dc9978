#pragma once

// The position that a run resumes from, in addition to its plan, which is the same
// for every run of a graph. Plain data, made once (pipeline/state) before the run
// begins, comparable, and carried to every worker beside the plan. An empty one is
// the beginning: a missing entry of a list means the same as a blank one.
//
// All in the numbers of the plan it stands beside: positions in files are (epoch, index).

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/sample_address.h"

namespace brigade {

/// What earlier runs have consumed of a task queue: the samples before this number, and those of
/// earlier epochs than this.
struct ResumeQueue {
  std::uint64_t at = 0;
  std::uint64_t epoch = 0;  ///< where epochs end where their data do
  friend bool operator==(const ResumeQueue&, const ResumeQueue&) = default;
};

struct ResumeStage {
  ByQueue<ResumeQueue> queues;             ///< empty: all begin at the beginning
  std::uint64_t fingerprint = 0;           ///< of a source, as it was; 0: not known
  bool restored = false;                   ///< it resumes from what its `saved_file` has
  std::uint64_t epoch_ends_told = 0;       ///< calls of epoch_end that were made before
  std::uint64_t samples_before = 0;        ///< of a consumer, earlier in the same command
  std::vector<std::uint64_t> quarantined;  ///< SampleAddress::word(), of its task queues
  std::vector<SampleInQueue> skipped;      ///< failed before it begins; they count on
  friend bool operator==(const ResumeStage&, const ResumeStage&) = default;
};

struct ResumeIndexSpace {
  std::uint64_t start = 0;  ///< the number at which all watermarks begin, a multiple of L
  std::uint64_t first_epoch = 0;
  std::uint64_t samples = 0;  ///< an epoch had; 0: not known, or its source finds out as it goes
  friend bool operator==(const ResumeIndexSpace&, const ResumeIndexSpace&) = default;
};

struct ResumePoint {
  /// Tells the checkpoints of this command from others'; empty: it writes none.
  std::string run_id;
  std::string order;  ///< what defines the order of samples, as text (order_fingerprint.h)
  ByStage<ResumeStage> stages;                  ///< of the plan, or empty
  ByIndexSpace<ResumeIndexSpace> index_spaces;  ///< of the plan, or empty
  /// Of the run, kept by the commands that resume it: 32 hex digits in all files that belong
  /// together; empty: those that it resumes from name none.
  std::string identity{};
  std::string libraries{};  ///< that decode in this command (plan/libraries.h)
  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;

  const ResumeStage& stage(StageNumber s) const { return at(stages, s); }
  const ResumeQueue& queue(StageNumber s, QueueNumber l) const { return at(stage(s).queues, l); }
  const ResumeIndexSpace& index_space(IndexSpaceNumber d) const { return at(index_spaces, d); }

 private:
  template <class Number, class One>
  static const One& at(const Numbered<Number, One>& list, Number i) {
    static const One blank;
    return list.empty() ? blank : list[i];
  }
};

/// What runs: the plan, and where it resumes from.
struct PlannedRun {
  Plan plan;
  ResumePoint resume;
};

}  // namespace brigade
