#pragma once

// The work on one claimed task: the user's class called sample by sample or batch by batch, its
// slots written in place. Four kinds: a producer reads samples of its source, a stream gives them
// as they come, a per-sample stage and a per-batch stage turn input slots into output slots (a
// consumer has none). EMPTY_SLOTS, PADs and samples in quarantine are passed on without a call.
//
// One replica's; one thread. Nothing here allocates unless a sample fails.

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/stage.h>
#include "pipeline/records/sampler.h"
#include "pipeline/replica/error_policy.h"
#include "pipeline/replica/replica_context.h"
#include "transports/tally.h"

namespace brigade {

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

std::unique_ptr<Work> make_producer_work(const ReplicaContext& context, Producer& producer,
                                         const Sampler& sampler);
/// Of a producer that is a stream; one replica, in order.
std::unique_ptr<Work> make_stream_work(const ReplicaContext& context, Stage& stage);
/// Of one of several replicas of such a producer.
std::unique_ptr<Work> make_shared_stream_work(const ReplicaContext& context, Stage& stage);
/// Of a cache. Task queue 1 keeps samples, task queue 0 gives them.
std::unique_ptr<Work> make_cache_work(const ReplicaContext& context);
std::unique_ptr<Work> make_sample_work(const ReplicaContext& context, Stage& stage);
std::unique_ptr<Work> make_batch_work(const ReplicaContext& context, Stage& stage);

/// Messages of users' libraries may be empty, or have a backtrace below their first line.
std::string first_line(std::string_view what);

/// Runs a call of the user's class; an exception becomes its error, cut to one line.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& exception) {
    return Error{first_line(exception.what())};
  } catch (...) {
    return Error{"an exception that is no std::exception"};
  }
}

/// Any answer but a plain `emit`: true when the samples are empty slots now (dropped, or skipped
/// under `on_error`), else the error that ends the run.
Result<void> settle_call(const Result<Next>& answer, const ReplicaContext& context,
                         QueueNumber queue, std::span<const SampleInfo> samples,
                         ErrorPolicy& errors);

inline bool emitted(const Result<Next>& answer) { return answer.ok() && *answer == Next::emit; }

}  // namespace brigade
