#pragma once

// The work on one claimed task: the user's class called sample by sample or batch by batch,
// its slots written in place. Five kinds: a producer reads samples of its source, a stream
// outputs them as they arrive (one replica or several), a cache keeps and outputs them, a
// per-sample stage and a per-batch stage turn input slots into output slots (a consumer has
// none). Empty slots, padding and samples in quarantine are passed on without a call.
//
// One replica's; one thread. Nothing here allocates unless a sample fails.

#include <cstdint>
#include <memory>
#include <string>

#include <brigade/result.h>
#include <brigade/stage.h>
#include "pipeline/records/sampler.h"
#include "pipeline/worker/tasks/error_policy.h"
#include "pipeline/worker/tasks/replica_context.h"
#include "transports/tally.h"

namespace brigade {

class KeptTasks;

/// What a task came to: full + not_full.total() are its slots.
struct TaskDone {
  std::uint64_t full = 0;
  SlotCounts not_full;
  bool nothing = false;  ///< a stream has no sample yet (or never): the task is not finished
};

class Work {
 public:
  virtual ~Work() = default;
  /// Before a claim. False: there is nothing to claim a task for; rest() a little, and ask again.
  virtual Result<bool> ready() { return true; }
  virtual void rest() {}
  /// Samples first .. first + g - 1 of a task queue. An error ends the run; the task is then left
  /// as it is.
  virtual Result<TaskDone> work(QueueNumber queue, std::uint64_t first) = 0;
};

/// A record that a call of the user's class is about.
struct Call {
  const Frame* in = nullptr;            ///< null: a producer's
  Frame* out = nullptr;                 ///< null: a consumer's
  std::span<const SampleInfo> samples;  ///< of the record, one each; none in an empty batch
};

/// The same work call by call, for whoever does not wait in process() or read(), but asks for the
/// next record (TaskLoop::next_call()). A task is
///
///   begin (advance turn settle)* advance done
///
/// and work() takes the same steps.
class CallWork : public Work {
 public:
  virtual Result<void> begin(QueueNumber queue, std::uint64_t first) = 0;
  /// To the next record that needs a call; false: none of this task does.
  virtual Result<bool> advance() = 0;
  /// Shows that record; its samples are in flight from now on. It is valid until settle().
  virtual Call turn() = 0;
  /// What the call has answered. An error ends the run.
  virtual Result<void> settle(Result<Next>& answer) = 0;
  virtual TaskDone done() = 0;
};

std::unique_ptr<CallWork> make_producer_work(const ReplicaContext& context, Producer& producer,
                                             const Sampler& sampler);
/// Of a producer that is a stream; one replica, in order.
std::unique_ptr<Work> make_stream_work(const ReplicaContext& context, Stage& stage);
/// Of one of several replicas of such a producer.
std::unique_ptr<Work> make_shared_stream_work(const ReplicaContext& context, Stage& stage);
/// Of a cache. Task queue 1 keeps samples, task queue 0 gives them.
std::unique_ptr<Work> make_cache_work(const ReplicaContext& context);
std::unique_ptr<CallWork> make_sample_work(const ReplicaContext& context, Stage& stage);
/// `kept`: of a stage that holds(), else null.
std::unique_ptr<CallWork> make_batch_work(const ReplicaContext& context, Stage& stage,
                                          std::shared_ptr<KeptTasks> kept = nullptr);

/// Any answer but a plain `emit`: true when the samples are empty slots now (dropped, or skipped
/// under `on_error`), else the error that ends the run.
Result<void> settle_call(const Result<Next>& answer, const ReplicaContext& context,
                         QueueNumber queue, std::span<const SampleInfo> samples,
                         ErrorPolicy& errors);

inline bool emitted(const Result<Next>& answer) { return answer.ok() && *answer == Next::emit; }

}  // namespace brigade
