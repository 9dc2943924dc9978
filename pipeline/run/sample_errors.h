#pragma once

// `on_error:`: what becomes of samples whose stage failed. With `stop` the run ends with an error
// that names stage, replica, sample and cause. With `skip` they become holes, are noted down in the
// stage's list (so that a redelivery does not count them twice), and the user reads one line each;
// the run ends when more samples than allowed have failed. What counts is different samples of the
// source: one broken file costs one of `skip: 10`, however many epochs it fails in. `skip: 1%` is a
// share of the samples of one epoch, counted per epoch; of a stream, of its samples so far, at
// least 1,000. A run that goes on counts on (PlanStage::skipped).
//
// One replica's; one thread. Allocates: this is not the data path.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "pipeline/run/replica_context.h"

namespace brigade {

/// The producer whose ids the samples of a stage's lane carry: of zipped sources, the first one's.
const PlanStage& id_source(const Plan& plan, const PlanStage& stage, int lane);

/// Index in its source of sample `number` of a stage's lane, the same in every epoch; the number
/// where the source has no index, or has not said how large it is.
std::uint64_t source_id(const Plan& plan, const Control<SystemPolicy>& control, int stage, int lane,
                        std::uint64_t number);

class SampleErrors {
 public:
  /// `producer`: describes samples in messages; null for other stages.
  explicit SampleErrors(const ReplicaContext& context, const Producer* producer = nullptr);

  /// A call failed on these samples of a lane (one, or the FULL ones of a batch). Nothing: they are
  /// holes now. An error: the run ends.
  Result<void> failed(int lane, std::span<const SampleInfo> samples, const Error& cause);

  /// brigade::source_id() of this stage.
  std::uint64_t source_id(int lane, std::uint64_t number) const {
    return brigade::source_id(*context_.plan, *context_.control, context_.stage_index, lane,
                              number);
  }
  /// What its source calls a sample; empty where it cannot tell.
  std::string source_name(int lane, const SampleInfo& sample) const;

  /// `sample 70017 (id 55 of epoch 1: "n01440764/x.JPEG")`, `samples 0 to 255 (epoch 0)`.
  std::string describe(int lane, std::span<const SampleInfo> samples) const;

 private:
  struct Failures {
    std::unordered_set<std::uint64_t> samples;  // different ones
    std::uint64_t without_id = 0;  // of an earlier run, in epochs whose numbers are gone
    std::unordered_map<std::uint64_t, std::uint64_t> by_epoch;
  };

  bool note_down(int lane, std::span<const SampleInfo> samples);
  void read_earlier();
  void read_list(int now_lane, std::span<const SampleInfo> now);
  std::uint64_t epoch_samples(int lane) const;
  std::uint64_t allowed(int lane) const;
  std::uint64_t counted(int lane, std::uint32_t epoch) const;
  Error too_many(int lane, std::span<const SampleInfo> samples, const Error& cause) const;

  ReplicaContext context_;
  const Producer* producer_;
  std::uint64_t entries_read_ = 0;  // of the stage's list, which other replicas extend, too
  bool earlier_are_read_ = false;
  Failures failures_;
};

}  // namespace brigade
