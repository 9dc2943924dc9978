#pragma once

// The receiver of a run's events: the console with its log file, a program's
// queue, a test. Called from several threads, mainly the supervisor's, which
// must repair deaths: no call may wait for a reader of the events.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <brigade/event.h>

namespace brigade {

/// Which events a slow reader loses first.
enum class OutputRank : std::uint8_t { output, note, error };

inline OutputRank rank_of(const Event& event) {
  if (event.level == EventLevel::error) return OutputRank::error;
  const bool is_output = event.kind == EventKind::logged || event.kind == EventKind::printed ||
                         event.kind == EventKind::progress;
  return is_output ? OutputRank::output : OutputRank::note;
}

/// The part of a queue's room that events of a rank may fill: output of workers half, notes and
/// warnings three quarters. So a stage that prints much does not crowd out a death, and neither
/// crowds out the reason for the end.
constexpr std::size_t share_of(OutputRank rank, std::size_t room) {
  if (rank == OutputRank::error) return room;
  return rank == OutputRank::output ? room / 2 : room / 4 * 3;
}

class RunOutput {
 public:
  virtual ~RunOutput() = default;

  virtual void tell(const Event& event) = 0;
  /// Nanoseconds between two events of progress; 0: none are wanted.
  virtual std::int64_t progress_every_ns() const = 0;

  /// An event that has nothing but a message.
  void note(std::string text) { tell({.message = std::move(text)}); }
  void warn(std::string text) { tell({.level = EventLevel::warning, .message = std::move(text)}); }
  void error(std::string text) { tell({.level = EventLevel::error, .message = std::move(text)}); }
};

/// Hands them on to several, which outlive it.
class RunOutputs final : public RunOutput {
 public:
  explicit RunOutputs(std::vector<RunOutput*> to) : to_(std::move(to)) {}

  void tell(const Event& event) override {
    for (RunOutput* one : to_) one->tell(event);
  }
  /// As often as one of them wants it.
  std::int64_t progress_every_ns() const override {
    std::int64_t every = 0;
    for (const RunOutput* one : to_) {
      const std::int64_t wanted = one->progress_every_ns();
      if (wanted != 0) every = every == 0 ? wanted : std::min(every, wanted);
    }
    return every;
  }

 private:
  std::vector<RunOutput*> to_;
};

}  // namespace brigade
