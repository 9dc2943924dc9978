#pragma once

// The files of a run's caches: made before its processes, filled by the replicas of each cache
// through a mapping, and published by a thread of the supervisor as soon as all samples are cached.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/plan/plan.h"
#include "pipeline/state/cache_file_writer.h"
#include "transports/layout.h"
#include "transports/slot_ring.h"

namespace brigade {

/// Null for all but caches with a file.
using CacheFiles = ByStage<std::unique_ptr<CacheFileWriter>>;
Result<CacheFiles> create_cache_files(const Plan& plan, const StageTypes& types);

/// Their descriptors; -1: none.
ByStage<int> cache_fds(const CacheFiles& files);

/// Watches the caches fill. Everything outlives it.
class CacheFilePublisher {
 public:
  static Result<std::unique_ptr<CacheFilePublisher>> start(const Plan& plan,
                                                           const Control<SystemPolicy>& control,
                                                           ByStage<SlotRing> rings,
                                                           CacheFiles& files);
  ~CacheFilePublisher();

  /// After the last replica has ended: a line for every file, to be shown.
  struct Line {
    bool warning = false;
    std::string text;
  };
  std::vector<Line> finish();

 private:
  struct Filling {
    StageNumber stage = 0;
    CacheFileWriter* file = nullptr;
    std::uint64_t next = 0;     // the first slot that is not known to be there
    std::uint64_t samples = 0;  // 0: not known yet
    bool over = false;          // published, or that has failed
  };
  CacheFilePublisher(const Plan& plan, const Control<SystemPolicy>& control,
                     ByStage<SlotRing> rings, CacheFiles& files);
  void run();
  void look(Filling& filling);

  const Plan& plan_;
  const Control<SystemPolicy>& control_;
  ByStage<SlotRing> rings_;
  std::vector<Filling> fillings_;
  std::vector<Line> lines_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace brigade
