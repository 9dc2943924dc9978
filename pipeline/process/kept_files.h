#pragma once

// The files of a run's caches: made before its processes, filled by the replicas of each cache
// through a mapping, and published by a thread of the supervisor as soon as every sample is there.
// Which caches need to be filled at all is decided before the run (use_kept_files).

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/config/valid_graph.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"
#include "pipeline/process/kept_file.h"
#include "pipeline/process/segments.h"
#include "stages/api/stage_types.h"

namespace brigade {

/// A graph where caches whose files are there are read from these.
struct KeptUse {
  ValidGraph graph;
  bool any = false;                   ///< `graph` is another than the one that was given
  std::vector<std::string> notes;     ///< what is used
  std::vector<std::string> warnings;  ///< what is there and will be made anew, and why
  PlanProblems problems;              ///< what is there and must not be overwritten
};

/// Looks at the files of the caches of a graph, whose plan this is. `types`: all it names.
KeptUse use_kept_files(const ValidGraph& graph, const Plan& plan, const StageTypes& types);

/// Size and time of change (ns) of a file; of a folder, of the folder itself.
std::string stamp_of_file(const std::string& path);

/// What a cache with a file keeps in it, or a producer reads from such a file, as a hash in digits;
/// empty for all other stages. `types`: all that the plan names.
std::string kept_contents(const Plan& plan, int stage, const StageTypes& types);

/// By stage; null for all but caches with a file.
using KeptFiles = std::vector<std::unique_ptr<KeptFile>>;
Result<KeptFiles> create_kept_files(const Plan& plan, const StageTypes& types);

/// Their descriptors, by stage; -1: none.
std::vector<int> kept_fds(const KeptFiles& files);

/// Watches the caches fill. Everything outlives it.
class KeptFileKeeper {
 public:
  KeptFileKeeper(const Plan& plan, Segments& segments, KeptFiles& files);
  ~KeptFileKeeper();

  /// After the last replica has ended: a line for every file, to be shown.
  struct Line {
    bool warning = false;
    std::string text;
  };
  std::vector<Line> finish();

 private:
  struct Filling {
    int stage = 0;
    KeptFile* file = nullptr;
    std::uint64_t next = 0;     // the first row that is not known to be there
    std::uint64_t samples = 0;  // 0: not known yet
    bool over = false;          // published, or that has failed
  };
  void run();
  void look(Filling& filling);

  const Plan& plan_;
  Segments& segments_;
  std::vector<Filling> fillings_;
  std::vector<Line> lines_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace brigade
