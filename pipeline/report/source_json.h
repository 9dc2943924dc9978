#pragma once

// A source's audit as JSON: the same in a run's summary and in its plan. Pure functions.

#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/report/source_audit.h"

namespace brigade {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json source_json(const SourceAudit& audit) {
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const SkippedInputs& one : audit.skipped)
    skipped.push_back(
        {{"count", one.count}, {"why", skip_reason_name(one.why)}, {"text", one.text}});
  return {{"name", audit.name},
          {"found", or_null(found_by(audit))},
          {"gives", or_null(audit.gives)},
          {"skipped", skipped}};
}

}  // namespace brigade
