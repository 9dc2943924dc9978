#pragma once

// Output for the user of a run, on standard error: lines and, on a terminal, one
// progress line at the bottom that is updated in place. Also writes everything to
// a log file if there is one. A blocked terminal or file never delays or ends a
// run: a separate thread writes to each of the two (line_writer.h). Any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/owned_fd.h"
#include "pipeline/report/line_writer.h"
#include "pipeline/report/run_output.h"

namespace brigade {

/// A file that the lines of a run are appended to, each with the time (UTC) and its level in front:
///
///   2026-01-31T23:59:59.123Z warning the message
struct LogFile {
  std::string path;
  OwnedFd fd;

  /// Makes the file, or appends to it; also to /dev/null, or a pipe that somebody reads.
  static Result<LogFile> open(const std::string& path);
};

/// A line as it stands in the file, with the time of this call, without its end.
std::string logged(LogLevel level, std::string_view message);

/// `seconds` since 1970, `milliseconds` of the second: "2026-01-31T23:59:59.123Z".
std::string utc_text(std::int64_t seconds, int milliseconds);

inline constexpr std::int64_t kLiveEveryNs = 250'000'000;     ///< on a terminal
inline constexpr std::int64_t kPlainEveryNs = 5'000'000'000;  ///< anywhere else

class Console final : public RunOutput {
 public:
  /// Writes to a copy of `fd`. `quiet`: warnings and errors only. Errors are about descriptors and
  /// threads.
  static Result<std::unique_ptr<Console>> create(int fd, bool quiet,
                                                 std::optional<LogFile> log = std::nullopt);
  /// Waits as flush() does.
  ~Console() override;

  void tell(const Event& event) override;
  std::int64_t progress_every_ns() const override;

  /// Until all is written, or the terminal and the log file have taken nothing for kFlushPatience.
  /// Leaves the cursor below the progress line.
  void flush();

 private:
  Console(int fd, bool quiet);
  void progress(const std::string& text);
  void say_what_the_log_lacks();

  const int fd_;
  const bool quiet_;
  const bool terminal_;
  std::string log_path_;
  std::unique_ptr<LineWriter> out_;
  std::unique_ptr<LineWriter> log_;  // null: there is none
  std::atomic<std::int64_t> next_logged_ns_ =
      0;  // progress is logged as rarely as without a terminal
};

/// The first `columns` characters of UTF-8 text, "..." at the end where that cuts something off.
std::string cut_to_width(const std::string& text, std::size_t columns);

}  // namespace brigade
