#include "pipeline/stats/summary.h"

#include <chrono>
#include <cmath>

#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"
#include "base/units.h"
#include "pipeline/stats/bottleneck.h"

namespace brigade {
namespace {

// What was over in a moment has waited for starts and ends alone: no stage is slow in it.
constexpr double kBottleneckSecondsMin = 0.05;

std::string duration_text(double seconds) {
  return format_duration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

std::string rate_text(std::uint64_t samples, double seconds) {
  if (seconds <= 0) return "-";
  return format_count(static_cast<std::uint64_t>(static_cast<double>(samples) / seconds));
}

std::vector<std::string> stage_row(const StageFigures& stage, double seconds) {
  const StageShares shares = time_shares(stage);
  return {stage.name,
          concat(stage.replicas),
          format_count(stage.samples),
          rate_text(stage.samples, seconds),
          format_percentage(shares.busy),
          format_percentage(shares.wait_in),
          format_percentage(shares.wait_out)};
}

std::string headline(const Plan& plan, const RunSummary& summary) {
  const std::uint64_t epochs = summary.figures.epochs;
  std::string text = concat(
      plan.name.empty() ? "run" : printable(plan.name), ": ", format_count(summary.figures.samples),
      " samples, ", epochs, epochs == 1 ? " epoch" : " epochs", " in ",
      duration_text(summary.seconds), ", ", rate_text(summary.figures.samples, summary.seconds),
      " samples/s; the start took ", duration_text(summary.start_seconds));
  if (summary.first_sample_seconds) {
    text += concat(", the first sample came after ", duration_text(*summary.first_sample_seconds));
  }
  return text + "\n";
}

bool delivers_all(const EdgeAudit& audit) {
  return audit.produced == audit.delivered && audit.leaked == 0;
}

std::string edges_text(const std::vector<NamedEdgeAudit>& edges, SummaryDetail detail) {
  std::string text;
  for (const NamedEdgeAudit& edge : edges)
    if (detail == SummaryDetail::edges || !delivers_all(edge.audit))
      text += concat("  ", audit_text(edge), '\n');
  if (text.empty() && !edges.empty()) text = "  every sample that was made was delivered\n";
  return text;
}

std::string results_text(const RunSummary& summary) {
  std::string text;
  for (const auto& [stage, results] : summary.results) {
    std::vector<std::string> parts;
    for (const StageResult& result : results)
      parts.push_back(concat(result.name, ' ', format_result(result)));
    if (!parts.empty()) text += concat("  ", stage, ": ", join(parts, ", "), '\n');
  }
  return text;
}

}  // namespace

std::string summary_text(const Plan& plan, const RunSummary& summary, SummaryDetail detail) {
  if (detail == SummaryDetail::results) return results_text(summary);
  constexpr Align left = Align::left;
  constexpr Align right = Align::right;
  TextTable table({left, right, right, right, right, right, right});
  table.add({"stage", "replicas", "samples", "samples/s", "busy", "waits in", "waits out"});
  for (const StageFigures& stage : summary.figures.stages) {
    table.add(stage_row(stage, summary.seconds));
  }
  std::string text = headline(plan, summary) + table.text("  ");
  const auto bottleneck = find_bottleneck({}, summary.figures);
  if (bottleneck && summary.seconds >= kBottleneckSecondsMin) {
    text += concat("  bottleneck: ", bottleneck_text(summary.figures, *bottleneck), '\n');
  }
  for (const SourceAudit& audit : summary.sources)
    if (!audit.skipped.empty()) text += concat("  ", source_text(audit), '\n');
  return text + edges_text(summary.edges, detail) + results_text(summary);
}

}  // namespace brigade
