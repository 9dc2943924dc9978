#include "pipeline/report/results.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <brigade/text.h>

namespace brigade {
namespace {

struct Weighed {
  ReportedValue value;
  std::uint64_t samples = 0;
};

double as_double(const ReportedValue& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

bool all_whole(const std::vector<Weighed>& values) {
  return std::all_of(values.begin(), values.end(), [](const Weighed& weighed) {
    return std::holds_alternative<std::uint64_t>(weighed.value);
  });
}

ReportedValue sum(const std::vector<Weighed>& values) {
  if (all_whole(values)) {
    std::uint64_t total = 0;
    for (const Weighed& weighed : values) total += std::get<std::uint64_t>(weighed.value);
    return total;
  }
  double total = 0;
  for (const Weighed& weighed : values) total += as_double(weighed.value);
  return total;
}

// Replicas that have seen nothing say nothing about the mean.
std::optional<ReportedValue> mean(const std::vector<Weighed>& values) {
  double total = 0;
  double weights = 0;
  for (const Weighed& weighed : values) {
    if (weighed.samples == 0) continue;
    total += as_double(weighed.value) * static_cast<double>(weighed.samples);
    weights += static_cast<double>(weighed.samples);
  }
  if (weights == 0) return std::nullopt;
  return total / weights;
}

std::optional<ReportedValue> exclusive_or(const std::vector<Weighed>& values) {
  if (!all_whole(values)) return std::nullopt;
  std::uint64_t total = 0;
  for (const Weighed& weighed : values) total ^= std::get<std::uint64_t>(weighed.value);
  return total;
}

std::optional<ReportedValue> combine(Combine rule, const std::vector<Weighed>& values,
                                     std::size_t replicas) {
  if (replicas == 1) return values.front().value;
  switch (rule) {
    case Combine::sum:
      return sum(values);
    case Combine::mean:
      return mean(values);
    case Combine::exclusive_or:
      return exclusive_or(values);
    case Combine::only:
      break;
  }
  return std::nullopt;
}

std::vector<Weighed> values_of(std::string_view name, const std::vector<ReplicaResults>& replicas) {
  std::vector<Weighed> values;
  for (const ReplicaResults& replica : replicas) {
    const auto found = replica.values.find(name);
    if (found != replica.values.end()) values.push_back({found->second, replica.samples});
  }
  return values;
}

}  // namespace

std::vector<StageResult> combine_results(const std::vector<ReportSpec>& specs,
                                         const std::vector<ReplicaResults>& replicas) {
  std::vector<ReportSpec> all = specs;
  std::map<std::string, bool> others;
  for (const ReplicaResults& replica : replicas) {
    for (const auto& [name, value] : replica.values) others[name] = true;
  }
  for (const ReportSpec& spec : specs) others.erase(spec.name);
  for (const auto& [name, there] : others) all.push_back({name, Combine::only, false, ""});

  std::vector<StageResult> results;
  for (const ReportSpec& spec : all) {
    const std::vector<Weighed> values = values_of(spec.name, replicas);
    if (values.empty()) continue;
    results.push_back({spec.name, combine(spec.combine, values, replicas.size()), spec.progress});
  }
  return results;
}

bool is_checksum(const StageResult& result) {
  return result.value && std::holds_alternative<std::uint64_t>(*result.value) &&
         result.name.ends_with("checksum");
}

std::string hex_digits(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[value >> (4 * i) & 15];
  return text;
}

std::string format_result(const StageResult& result) {
  if (!result.value) return "-";
  if (is_checksum(result)) return hex_digits(std::get<std::uint64_t>(*result.value));
  if (const auto* whole = std::get_if<std::uint64_t>(&*result.value)) return format_count(*whole);
  const double number = std::get<double>(*result.value);
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 4).ptr;
  return std::string(digits, end);
}

}  // namespace brigade
