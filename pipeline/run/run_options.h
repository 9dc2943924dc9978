#pragma once

// The options of a run, in addition to its plan.

#include <cstdint>
#include <string>

#include "pipeline/application/interruptible_sleep.h"
#include "transports/repair.h"
namespace brigade {

struct RunOptions {
  bool in_process = false;                 ///< threads instead of processes
  bool handle_signals = false;             ///< SIGINT, SIGTERM and SIGHUP stop the run
  std::int64_t exec_ns = 0;                ///< CLOCK_MONOTONIC when the program started
  std::string workers = "/proc/self/exe";  ///< what they execute: this very program
  int forker = -1;       ///< socket of who forks workers of `exec:` instead (forked_runner.h)
  bool program = false;  ///< a program's own: its stages may be the program's
  bool quarantine_file = false;  ///< lists what is quarantined, in the working directory
  RepairRules repair_rules;      ///< all of them, except in tests of the tests
  Interrupted interrupted;       ///< asked where a program's thread waits
};

}  // namespace brigade
