#pragma once

// Where the lines of a run go: the console, a log file, a test. Called from several threads, the
// supervisor's above all, which has deaths to repair: no call may wait for whoever reads the lines.

#include <cstdint>
#include <string>

namespace brigade {

enum class LineKind : std::uint8_t {
  output,   ///< what a worker printed or said, with its name in front
  note,     ///< what the supervisor does
  warning,  ///< shown also under --quiet
  error     ///< why the run failed
};

class RunOutput {
 public:
  virtual ~RunOutput() = default;

  virtual void line(LineKind kind, const std::string& text) = 0;
  /// How the run goes; takes the place of the last progress line where there is a terminal.
  virtual void progress(const std::string& text) = 0;
  /// Nanoseconds between two progress lines; 0: none are wanted.
  virtual std::int64_t progress_every_ns() const = 0;
};

}  // namespace brigade
