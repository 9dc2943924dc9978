#include <cmath>
#include <nlohmann/json.hpp>

#include "pipeline/stats/source_json.h"
#include "pipeline/stats/summary.h"

namespace brigade {
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
