#pragma once

// Reports of the runtime to the supervisor, in addition to the reports of stages. Any thread.

#include <cstdint>
#include <string>

#include <brigade/stage.h>

namespace brigade {

/// A sample that is quarantined because it keeps ending its worker.
struct QuarantinedSample {
  std::uint64_t number = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< in its epoch
  std::uint64_t id = 0;     ///< index in its source
  std::string source;       ///< its name there, a file for example; empty: the source cannot tell
  friend bool operator==(const QuarantinedSample&, const QuarantinedSample&) = default;
};

class RunReporter : public Reporter {
 public:
  /// At least once per sample: also when a task is done again.
  virtual void quarantined(const QuarantinedSample& sample) = 0;
};

}  // namespace brigade
