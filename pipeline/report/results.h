#pragma once

// The numbers that stages report, combined over replicas by the
// rule in the contract (Combine). A number that cannot be
// combined is empty, shown as null. Pure functions on plain data.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <brigade/contract.h>

namespace brigade {

using ReportedValue = std::variant<double, std::uint64_t>;

/// What one replica has reported: the last value of each name.
struct ReplicaResults {
  std::map<std::string, ReportedValue, std::less<>> values;
  std::uint64_t samples = 0;  ///< that it has seen: its weight in a mean
};

/// One name of one stage.
struct StageResult {
  std::string name;
  std::optional<ReportedValue> value;  ///< none: several replicas, and no way to combine them
  bool progress = false;               ///< shown on the progress line
  friend bool operator==(const StageResult&, const StageResult&) = default;
};

/// Every name that the contract lists and somebody reported, in the contract's order, then names it
/// does not list in alphabetical order (of one replica only: `only`). `replicas`: of the stage; one
/// that has reported nothing counts as a replica all the same.
std::vector<StageResult> combine_results(const std::vector<ReportSpec>& specs,
                                         const std::vector<ReplicaResults>& replicas);

/// "0.8912", "60,000", and a checksum as 16 hexadecimal digits.
std::string format_result(const StageResult& result);

/// Whether the value is shown in hexadecimal: a whole number whose name ends in "checksum".
bool is_checksum(const StageResult& result);
std::string hex_digits(std::uint64_t value);

}  // namespace brigade
