#pragma once

// The person in front of the run, on standard error: lines, and where it is a terminal one progress
// line at the bottom that is written over and over. Also writes everything to a log file when there
// is one. Lost output (a closed pipe) never ends a run.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/process/log_file.h"
#include "pipeline/process/run_lines.h"

namespace brigade {

inline constexpr std::int64_t kLiveEveryNs = 250'000'000;     ///< on a terminal
inline constexpr std::int64_t kPlainEveryNs = 5'000'000'000;  ///< anywhere else

class Console final : public RunLines {
 public:
  /// Writes to `fd`. `quiet`: warnings and errors only. `log`: may be null; outlives the console.
  Console(int fd, bool quiet, LogFile* log);
  /// Leaves the cursor below the progress line.
  ~Console() override;

  void line(LineKind kind, const std::string& foreign) override;
  void progress(const std::string& foreign) override;
  std::int64_t progress_every_ns() const override;

 private:
  void write_out(const std::string& text);
  void clear_live();

  const int fd_;
  const bool quiet_;
  const bool terminal_;
  LogFile* const log_;
  bool live_ = false;                // the cursor stands at the end of a progress line
  std::int64_t next_logged_ns_ = 0;  // progress is logged as rarely as without a terminal
};

/// The first `columns` characters of UTF-8 text, "..." at the end where that cuts something off.
std::string cut_to_width(const std::string& text, std::size_t columns);

}  // namespace brigade
