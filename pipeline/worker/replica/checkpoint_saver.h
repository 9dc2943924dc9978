#pragma once

// Saves the state of a consumer together with its position: after a number of samples, at an
// interval of time, or at the end of each epoch, and at the end of the run. A consumer that
// saves has one replica, so between two tasks its watermarks say exactly what it has consumed.
//
// One replica's; one thread.

#include <cstdint>
#include <functional>
#include <string>

#include <brigade/result.h>
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

class CheckpointSaver {
 public:
  /// `stage`: of a consumer that saves; it outlives this. `save_shared`: called before each, so
  /// that a run that is killed in between works on some samples again, and has lost none.
  CheckpointSaver(const ReplicaContext& context, Stage& stage,
                  std::function<Result<void>()> save_shared = {});

  bool due();
  /// Between two tasks: saves if it is time.
  Result<void> look();
  /// After the last task of the run: saves what has not been.
  Result<void> finish();

 private:
  Result<void> save();
  std::uint64_t samples() const;
  std::uint64_t epoch_ends() const;

  ReplicaContext context_;
  Stage* stage_;
  std::function<Result<void>()> save_shared_;
  std::uint64_t saved_samples_;
  std::uint64_t saved_epoch_ends_;
  std::int64_t saved_ns_;
};

}  // namespace brigade
