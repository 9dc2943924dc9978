#pragma once

// Applies `on_error:` to failed samples. With `stop` the run ends with an error that names
// stage, replica, sample and cause. With `skip` they become empty slots, are recorded in the
// stage's list (so that a redelivery does not count them twice), and each is reported in one
// line; the run ends when more samples than allowed have failed. Different samples of the
// source are counted: one broken file costs one of `skip: 10`, however many epochs it fails in.
// `skip: 1%` is a share of the samples of one epoch, counted per epoch; for a stream, of its
// samples so far, at least 1,000. A resumed run continues the count (ResumeStage::skipped).
//
// One replica's; one thread. Allocates: this is not the data path.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <brigade/result.h>
#include "pipeline/records/source_id.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

class ErrorPolicy {
 public:
  /// `producer`: describes samples in messages; null for other stages.
  explicit ErrorPolicy(const ReplicaContext& context, const Producer* producer = nullptr);

  /// A call failed on these samples of a task queue (one, or the FULL ones of a batch). Nothing:
  /// they are empty slots now. An error: the run ends.
  Result<void> failed(QueueNumber queue, std::span<const SampleInfo> samples, const Error& cause);

  /// brigade::source_id() of this stage.
  std::uint64_t source_id(QueueNumber queue, std::uint64_t number) const;
  /// What its source calls a sample; empty where it cannot tell.
  std::string source_name(QueueNumber queue, const SampleInfo& sample) const;

  /// `sample 70017 (id 55 of epoch 1: "n01440764/x.JPEG")`, `samples 0 to 255 (epoch 0)`.
  std::string describe(QueueNumber queue, std::span<const SampleInfo> samples) const;

 private:
  struct Failures {
    std::set<std::pair<QueueNumber, std::uint64_t>> samples;  // different ones: id
    std::uint64_t without_id = 0;  // of an earlier run, in epochs whose numbers are gone
    std::map<std::pair<QueueNumber, std::uint64_t>, std::uint64_t> by_epoch;  // by epoch
  };

  bool note_down(QueueNumber queue, std::span<const SampleInfo> samples);
  void read_earlier();
  void read_list(QueueNumber now_queue, std::span<const SampleInfo> now);
  std::uint64_t epoch_samples(QueueNumber queue) const;
  std::uint64_t allowed(QueueNumber queue) const;
  std::uint64_t counted(QueueNumber queue, std::uint32_t epoch) const;
  Error too_many(QueueNumber queue, std::span<const SampleInfo> samples, const Error& cause) const;

  ReplicaContext context_;
  const Producer* producer_;
  std::uint64_t entries_read_ = 0;  // of the stage's list, which other replicas extend, too
  bool earlier_are_read_ = false;
  Failures failures_;
};

}  // namespace brigade
