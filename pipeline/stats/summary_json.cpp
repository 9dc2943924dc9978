#include <cmath>
#include <nlohmann/json.hpp>

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

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json source_json(const SourceBook& book) {
  ordered_json left_out = ordered_json::array();
  for (const LeftOut& one : book.left_out)
    left_out.push_back({{"count", one.count}, {"why", left_out_name(one.why)}, {"text", one.text}});
  return {{"name", book.name},
          {"found", or_null(found_by(book))},
          {"gives", or_null(book.gives)},
          {"left_out", left_out}};
}

ordered_json edge_json(const EdgeBook& book) {
  return {{"from", book.from},
          {"to", book.to},
          {"produced", book.audit.produced},
          {"delivered", book.audit.delivered},
          {"dropped", book.audit.dropped},
          {"quarantined", book.audit.quarantined},
          {"leaked", book.audit.leaked}};
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

std::string summary_json(const RunSummary& summary) {
  ordered_json out;
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.figures.samples) / summary.seconds : 0;
  out["samples"] = summary.figures.samples;
  out["seconds"] = summary.seconds;
  out["samples_per_second"] = rate;
  out["first_sample_seconds"] = or_null(summary.first_sample_seconds);
  out["epochs"] = summary.figures.epochs;
  out["stages"] = ordered_json::array();
  for (const StageFigures& stage : summary.figures.stages) {
    out["stages"].push_back(stage_json(stage));
  }
  out["sources"] = ordered_json::array();
  for (const SourceBook& book : summary.sources) out["sources"].push_back(source_json(book));
  out["edges"] = ordered_json::array();
  for (const EdgeBook& book : summary.edges) out["edges"].push_back(edge_json(book));
  out["results"] = ordered_json::object();
  for (const auto& [stage, results] : summary.results) {
    out["results"][stage] = ordered_json::object();
    for (const StageResult& result : results)
      out["results"][stage][result.name] = result_json(result);
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace brigade
