#pragma once

// What the replicas of sources have said of what they found: a book for each source, for the lines
// at the start of a run and for its summary. The supervisor's thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/process/run_lines.h"
#include "pipeline/stats/source_book.h"

namespace brigade {

class SourceCounts {
 public:
  /// `plan` outlives it.
  explicit SourceCounts(const Plan& plan);

  /// `replica`: number in the graph; `samples`: none of a stream, and of what is no source.
  void ready(int replica, std::optional<std::uint64_t> samples,
             const std::vector<LeftOut>& left_out);

  /// Of every producer, by the first of its replicas that is ready: all have found the same.
  std::vector<SourceBook> books() const;
  /// A line for each source that leaves something out; a warning where nobody has asked for it.
  void say(RunLines& lines) const;

 private:
  const Plan& plan_;
  std::vector<SourceBook> by_replica_;
};

}  // namespace brigade
