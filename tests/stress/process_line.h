#pragma once

// A line of real processes over real shared memory, and a supervisor that kills, reaps, repairs and
// restarts them. The workers are this very program, started again with a role in its arguments.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/stress/restart.h"
#include "tests/support/line.h"
#include "transports/audit.h"
#include "transports/memory_file.h"
#include "transports/stop.h"

namespace brigade::stress {

struct LineSpec {
  const char* name;
  std::vector<support::StageSpec> stages;
};

/// What supervisor and workers know by name.
const LineSpec& line_named(const std::string& name);

/// A worker's whole life when the program was started as one; nothing otherwise.
std::optional<int> worker_main(int argc, char** argv);

extern const int kKillsPerLine;  ///< the short form is part of every test run

struct KillPlan {
  int kills = 0;               ///< SIGKILLs at random times; then the line is stopped and runs dry
  std::string fault;           ///< or BRIGADE_FAULT of the first incarnation of one replica
  bool still_is_dead = false;  ///< a mistake: who stands still at a fault point is repaired
  int fault_stage = 0;
  std::uint64_t samples = 0;  ///< where the line ends by itself; 0: by a stop after the kills
  RepairRules rules;
  Restart restart = Restart::after_repair;
  std::chrono::seconds hang_after{30};  ///< without progress
};

struct Outcome {
  std::string problem;  ///< empty: every sample exactly once, exact books, nobody hangs
  int kills = 0;
  std::uint64_t end = 0;
  int stops = 0;  ///< at fault points and from outside
};

class ProcessLine {
 public:
  ProcessLine(const LineSpec& spec, const KillPlan& plan, std::uint64_t seed);
  ~ProcessLine();

  Outcome run();

 private:
  using P = SystemPolicy;
  using Clock = std::chrono::steady_clock;

  struct Child {
    int stage = 0;
    int replica = 0;
    pid_t pid = -1;  // -1: it has ended well
    bool stopped = false;
  };

  void spawn(Child& child, const std::string& fault);
  void reap();
  void recover(Child& child);
  void disturb();
  void advance_the_stop();
  bool progressed();
  bool all_ended() const;
  void check(Outcome& outcome);

  const LineSpec& spec_;
  const KillPlan plan_;
  const GraphShape shape_;
  std::vector<MemoryFile> files_;  // control, ledger, pools
  MappedMemory control_memory_;
  MappedMemory ledger_memory_;
  Control<P> control_;
  std::vector<Child> children_;  // by replica of the graph
  std::mt19937_64 random_;
  std::string problem_;
  int kills_ = 0;
  int stops_ = 0;
  bool stop_asked_ = false;
  bool end_lowered_ = false;
  std::uint64_t last_sum_ = 0;
  Clock::time_point last_progress_;
  Clock::time_point next_disturbance_;
};

}  // namespace brigade::stress
