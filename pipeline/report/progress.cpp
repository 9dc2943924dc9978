#include "pipeline/report/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/report/bottleneck.h"

namespace brigade {
namespace {

// What the rate is measured over is short; beyond this an ETA says nothing.
constexpr double kEtaSecondsMax = 1e8;

double rate(const RunFigures& before, const RunFigures& now) {
  const double seconds = static_cast<double>(now.now_ns - before.now_ns) / 1e9;
  if (seconds <= 0 || now.samples < before.samples) return 0;
  return static_cast<double>(now.samples - before.samples) / seconds;
}

std::string eta(const RunFigures& now, double samples_per_second) {
  if (now.samples_expected <= now.samples || samples_per_second <= 0) return "";
  const double seconds =
      static_cast<double>(now.samples_expected - now.samples) / samples_per_second;
  if (seconds > kEtaSecondsMax) return "";
  const auto rounded = std::chrono::nanoseconds(std::llround(seconds * 1e9));
  return concat("  ETA ", format_duration(rounded));
}

}  // namespace

double data_ready_share(const RunFigures& before, const RunFigures& now) {
  double waited = 0;
  double total = 0;
  for (const StageNumber s : now.stages.numbers()) {
    if (now.stages[s].kind != StageKind::consumer || !before.stages.has(s)) continue;
    const auto& a = before.stages[s];
    const auto& b = now.stages[s];
    waited += static_cast<double>(b.wait_in_ns - a.wait_in_ns);
    total += static_cast<double>((b.wait_in_ns - a.wait_in_ns) + (b.busy_ns - a.busy_ns));
  }
  return total <= 0 ? 1 : std::clamp(1 - waited / total, 0.0, 1.0);
}

std::string progress_line(const Plan& plan, const RunFigures& before, const RunFigures& now,
                          const std::vector<StageResult>& shown) {
  const double samples_per_second = rate(before, now);
  std::string line = concat("epoch ", std::min(now.epochs + 1, plan.epochs), "/", plan.epochs, "  ",
                            format_count(now.samples));
  if (now.samples_expected != 0) line += concat("/", format_count(now.samples_expected));
  line += concat("  ", format_count(static_cast<std::uint64_t>(samples_per_second)), " samples/s",
                 "  data ready: ", format_percentage(data_ready_share(before, now)));
  for (const StageResult& result : shown) {
    line += concat("  ", result.name, " ", format_result(result));
  }
  return line + eta(now, samples_per_second);
}

}  // namespace brigade
