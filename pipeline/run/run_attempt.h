#pragma once

// The resources of one attempt of a run; a run that resumes from a checkpoint has
// several attempts, one after another. Destroyed from the last member to the first:
// the spawner's thread after the workers it started, the memory after all its users.

#include <memory>
#include <vector>

#include <brigade/result.h>
#include <brigade/stage_types.h>
#include "pipeline/application/input_queue.h"
#include "pipeline/application/output_queue.h"
#include "pipeline/memory/prefault.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/memory/shared_tensors.h"
#include "pipeline/run/launch/forked_runner.h"
#include "pipeline/run/launch/spawner.h"
#include "pipeline/run/launch/thread_pool.h"
#include "pipeline/run/run_options.h"
#include "pipeline/run/supervisor/disk_writer.h"
#include "pipeline/run/supervisor/stop_requests.h"
#include "pipeline/run/supervisor/supervisor.h"
#include "pipeline/state/cache_publisher.h"

namespace brigade {

struct RunAttempt {
  const std::shared_ptr<RunMemory> memory;  ///< also of batches that the program holds
  const Plan& plan;
  const ResumePoint& resume;
  CacheFiles cache_files;
  std::unique_ptr<Spawner> spawner;
  std::unique_ptr<ForkedRunner> forked;  ///< or none: over the spawner
  std::unique_ptr<WorkerPool> worker_pool;
  ThreadPool* threads = nullptr;  ///< the worker pool, under --in-process
  std::unique_ptr<DiskWriter> disk;
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<Prefault> filler;
  std::unique_ptr<CacheFilePublisher> cache_publisher;
  std::shared_ptr<ProgramEnds> program;
  std::vector<std::shared_ptr<OutputQueue>> outputs;
  std::vector<std::shared_ptr<InputQueue>> inputs;

  RunAttempt(const Plan& of, ResumePoint from)
      : memory(std::make_shared<RunMemory>(RunMemory{{of, std::move(from)}})),
        plan(memory->run.plan),
        resume(memory->run.resume) {}
  SharedSegments& segments() const { return *memory->segments; }
  Result<void> create_memory(const StageTypes& types, const std::shared_ptr<SharedTensors>& shared,
                             const RunOptions& options);
  /// Devices' memory first, unless somebody has asked for the end of the run meanwhile: by `stops`,
  /// which the supervisor is to take before it starts a worker, or `interrupted`, an error.
  Result<void> make_worker_pool(const StageTypes& types, const RunOptions& options,
                                const StopRequests& stops, const Interrupted& interrupted);
  /// What of the graph is the program's own.
  Result<void> open_program(const Interrupted& interrupted);
  /// Whatever is thrown, memory's lack above all, the workers are ended and collected, by the
  /// worker pool's destructor at the latest.
  RunOutcome supervise(RunOutput& lines);

 private:
  void finish_cache_files(RunOutput& lines);
};

}  // namespace brigade
