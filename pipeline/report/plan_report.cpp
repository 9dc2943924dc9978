#include "pipeline/report/plan_report.h"

#include "pipeline/plan/plan_json.h"
#include "pipeline/report/source_json.h"

namespace brigade {

using nlohmann::ordered_json;

std::string plan_report(const Plan& plan, const std::vector<SourceAudit>& sources,
                        const std::vector<ConsumerEpoch>& consumers, const RankOrigin& ranks,
                        const std::vector<PackageFacts>& packages) {
  ordered_json report = ordered_json::parse(plan_to_json(plan, -1));
  report["sources"] = ordered_json::array();
  for (const SourceAudit& source : sources) report["sources"].push_back(source_json(source));
  report["consumers"] = ordered_json::array();
  for (const ConsumerEpoch& consumer : consumers)
    report["consumers"].push_back({{"name", consumer.stage},
                                   {"from", consumer.port},
                                   {"samples", or_null(consumer.samples)},
                                   {"batches", or_null(consumer.batches)},
                                   {"unknown", consumer.unknown}});
  report["ranks"] = {{"by", ranks.by}, {"half", ranks.half}, {"unlike", ranks.unlike}};
  report["libraries"] = ordered_json::object();
  for (const PackageFacts& package : packages)
    report["libraries"][package.module] = package.libraries;
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace brigade
