#pragma once

// A replica whose body is a program of any language (`exec:`): that program's process
// attaches itself, asks for its records one by one and settles each. The counterpart
// of run_worker() for a replica that makes the calls; implements brigade/worker.h.
//
//   attach (next settle)* next close
//
// One thread; report(), log() and fail() any. Errors of next() and settle() end the run, and the
// supervisor has been told.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "pipeline/worker/messages.h"
#include "pipeline/worker/replica/replica.h"
#include "pipeline/worker/source_types.h"
#include "pipeline/worker/throttled_reporter.h"

namespace brigade {

/// "20=7,21=9": descriptors of the role that have other numbers in this process, where a forker has
/// started it (run/launch/forked_runner.h).
inline constexpr const char* kMovedVariable = "BRIGADE_MOVED_DESCRIPTORS";

class ExecWorker {
 public:
  /// The role that the environment of this process holds; it is taken out of there. Once a process.
  /// `types`: those of sources, which name samples that have failed.
  static Result<std::unique_ptr<ExecWorker>> attach(SourceTypes::List types);
  ~ExecWorker();

  const PlanStage& stage() const { return plan().stages[role_.stage]; }
  const Plan& plan() const { return segments_->plan(); }
  int replica() const { return role_.replica; }
  /// Those that `shared:` names.
  const std::vector<SharedTensor>& shared() const { return shared_; }
  std::string params_json() const;  ///< an object

  /// The first call says that the replica is ready. Nothing: all records are done.
  Result<std::optional<Call>> next();
  Result<void> settle(Result<Next> answer);
  /// Says that the replica is done; only then may the process end.
  Result<void> close();

  ThrottledReporter& reporter() { return reporter_; }
  /// Ends the run; the first message counts.
  void fail(std::string_view message);

 private:
  ExecWorker(WorkerRole role, SourceTypes::List types);
  Result<void> open();
  /// Of a call that ends the run.
  Error failed(const Error& error);

  const WorkerRole role_;
  PipeSink sink_;
  const SystemClock clock_;
  ThrottledReporter reporter_;
  SourceTypes sources_;
  std::unique_ptr<AttachedSegments> segments_;
  std::vector<SharedTensor> shared_;
  std::optional<Replica> replica_;
  std::atomic<bool> has_failed_{false};
  bool ready_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace brigade
