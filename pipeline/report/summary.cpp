#include "pipeline/report/summary.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"
#include "base/units.h"
#include "pipeline/report/bottleneck.h"
#include "pipeline/report/source_json.h"

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
    text += concat(", first sample after ", duration_text(*summary.first_sample_seconds));
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
  if (text.empty() && !edges.empty()) text = "  all samples were delivered\n";
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

namespace {

using nlohmann::ordered_json;

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

ordered_json stage_json(const StageFigures& stage) {
  return {{"name", stage.name},
          {"samples", stage.samples},
          {"busy", seconds(stage.busy_ns)},
          {"wait_in", seconds(stage.wait_in_ns)},
          {"wait_out", seconds(stage.wait_out_ns)},
          {"restarts", stage.restarts},
          {"skipped", stage.skipped}};
}

ordered_json edge_json(const NamedEdgeAudit& edge) {
  return {{"from", edge.from},
          {"to", edge.to},
          {"produced", edge.audit.produced},
          {"delivered", edge.audit.delivered},
          {"dropped", edge.audit.dropped},
          {"quarantined", edge.audit.quarantined},
          {"unread", edge.audit.unread},
          {"leaked", edge.audit.leaked}};
}

// A checksum does not fit the numbers of most JSON readers; nan and infinities fit none.
ordered_json result_json(const StageResult& result) {
  if (!result.value) return nullptr;
  if (is_checksum(result)) return hex_digits(std::get<std::uint64_t>(*result.value));
  if (const auto* whole = std::get_if<std::uint64_t>(&*result.value)) return *whole;
  const double number = std::get<double>(*result.value);
  return std::isfinite(number) ? ordered_json(number) : ordered_json(nullptr);
}

}  // namespace

std::string summary_json(const RunSummary& summary, std::string_view end,
                         const std::string& failure) {
  ordered_json out;
  out["end"] = end;
  out["failure"] = failure.empty() ? ordered_json(nullptr) : ordered_json(failure);
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.figures.samples) / summary.seconds : 0;
  out["samples"] = summary.figures.samples;
  out["start_seconds"] = summary.start_seconds;
  out["seconds"] = summary.seconds;
  out["samples_per_second"] = rate;
  out["first_sample_seconds"] = or_null(summary.first_sample_seconds);
  out["epochs"] = summary.figures.epochs;
  out["stages"] = ordered_json::array();
  for (const StageFigures& stage : summary.figures.stages) {
    out["stages"].push_back(stage_json(stage));
  }
  out["sources"] = ordered_json::array();
  for (const SourceAudit& audit : summary.sources) out["sources"].push_back(source_json(audit));
  out["edges"] = ordered_json::array();
  for (const NamedEdgeAudit& edge : summary.edges) out["edges"].push_back(edge_json(edge));
  out["results"] = ordered_json::object();
  for (const auto& [stage, results] : summary.results) {
    out["results"][stage] = ordered_json::object();
    for (const StageResult& result : results)
      out["results"][stage][result.name] = result_json(result);
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace brigade
