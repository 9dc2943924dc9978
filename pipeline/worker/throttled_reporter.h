#pragma once

// From a stage's report() and log() to the supervisor: numbers are throttled to one per name and
// 100 ms (a loss per batch would be thousands a second), lines and final values always arrive.
// A ReportSink is a packet pipe in a worker and a queue under `--in-process`.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/worker/messages.h"
#include "pipeline/worker/tasks/run_reporter.h"

namespace brigade {

/// Longest silence about a number that keeps changing.
inline constexpr std::int64_t kReportEveryNs = 100'000'000;

/// Called from any thread.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  /// Delivers, waiting for room.
  virtual void send(const Report& report) = 0;
  /// Delivers where there is room now; else false.
  virtual bool try_send(const Report& report) = 0;
};

/// The pipe of one worker to its supervisor.
class PipeSink final : public ReportSink {
 public:
  explicit PipeSink(int fd) : fd_(fd) {}
  void send(const Report& report) override;
  bool try_send(const Report& report) override;

 private:
  int fd_;
};

/// What a stage gets as its Reporter. Callable from any thread of the stage.
class ThrottledReporter final : public RunReporter {
 public:
  /// `replica`: number in the graph. Sink and clock outlive the reporter.
  ThrottledReporter(int replica, ReportSink& sink, const Clock& clock)
      : replica_(replica), sink_(sink), clock_(clock) {}

  void report(std::string_view name, double value) override { keep(name, value); }
  void report(std::string_view name, std::uint64_t value) override { keep(name, value); }
  void log(std::string_view line) override { log_once({}, line); }
  void log_once(std::string_view subject, std::string_view line) override;
  void quarantined(const QuarantinedSample& sample) override {
    sink_.send({replica_, Quarantined{sample}});
  }

  /// Sends the last value of every name that has changed since it was sent.
  void flush();

 private:
  struct Number {
    ReportedValue value;
    bool sent = false;
    std::int64_t sent_ns = 0;
  };
  void keep(std::string_view name, ReportedValue value);

  const int replica_;
  ReportSink& sink_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Number, std::less<>> numbers_;
};

}  // namespace brigade
