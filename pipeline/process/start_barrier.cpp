#include "pipeline/process/start_barrier.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/run/sampler.h"

namespace brigade {
namespace {

constexpr std::size_t kNamesShown = 4;
constexpr std::uint64_t kNumbersMax = std::uint64_t{1} << 48;  // what a task word can count

/// Samples of the domains derived from one, for each of its own.
std::uint64_t largest_fan_out(const Plan& plan, int domain) {
  std::uint64_t largest = 1;
  for (const PlanDomain& derived : plan.domains)
    if (derived.above == domain) largest = std::max(largest, derived.fan_out);
  return largest;
}

}  // namespace

StartBarrier::StartBarrier(const Plan& plan) : plan_(plan) {
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < plan.stages[static_cast<std::size_t>(s)].replicas; ++r) {
      replicas_.push_back({s, r, false, false, std::nullopt});
    }
  }
  waiting_ = static_cast<int>(replicas_.size());
}

void StartBarrier::ready(int replica, std::optional<std::uint64_t> size) {
  Replica& it = replicas_[static_cast<std::size_t>(replica)];
  if (!it.ready) --waiting_;
  it.ready = true;
  it.size = size;
}

void StartBarrier::gone(int replica) {
  Replica& it = replicas_[static_cast<std::size_t>(replica)];
  if (!it.ready && !it.gone) --waiting_;
  it.gone = true;
}

std::string StartBarrier::name(const Replica& replica) const {
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(replica.stage)];
  return stage.replicas == 1 ? stage.name : concat(stage.name, ".", replica.replica);
}

std::string StartBarrier::waiting_for() const {
  std::vector<std::string> names;
  for (const Replica& replica : replicas_) {
    if (!replica.ready && !replica.gone && names.size() < kNamesShown)
      names.push_back(name(replica));
  }
  const int more = waiting_ - static_cast<int>(names.size());
  return concat(join(names, ", "), more > 0 ? concat(" and ", more, " more") : "");
}

Result<std::optional<std::uint64_t>> StartBarrier::size_of_stage(int stage) const {
  const Replica* first = nullptr;
  for (const Replica& replica : replicas_) {
    if (replica.stage != stage || (replica.gone && !replica.ready)) continue;
    if (first == nullptr) first = &replica;
    if (replica.size == first->size) continue;
    return Error{concat("replicas of one source must find the same samples: ", name(*first),
                        " found ", format_samples(first->size.value_or(0)), ", ", name(replica),
                        " found ", format_samples(replica.size.value_or(0)),
                        "; did its files change while the run started?")};
  }
  return first->size;
}

/// What its source has, which begins above it.
Result<std::optional<std::uint64_t>> StartBarrier::size_of_cache(const PlanStage& stage) const {
  const int domain = stage.lanes[1].domain;
  const PlanDomain& above = plan_.domains[static_cast<std::size_t>(domain)];
  BRIGADE_ASSIGN(const auto start, start_of(above.above < 0 ? domain : above.above));
  if (!start) return std::optional<std::uint64_t>{};
  const std::uint64_t samples = start->samples * above.fan_out;
  const std::uint64_t kept = stage.limit == 0 ? samples : std::min(samples, stage.limit);
  if (kept <= stage.cache.rows) return std::optional(kept);
  return Error{concat("the cache \"", stage.name, "\" has room for ",
                      format_samples(stage.cache.rows), ", but its source has ",
                      format_samples(samples), "; write `samples: ", samples,
                      "` into its `params:`, or keep fewer by `limit:`")};
}

Result<std::optional<DomainStart>> StartBarrier::start_of(int domain) const {
  const PlanDomain& planned = plan_.domains[static_cast<std::size_t>(domain)];
  std::optional<std::uint64_t> samples;
  int first = -1;
  for (int source : planned.sources) {
    const PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
    BRIGADE_ASSIGN(const auto size,
                   stage.is_cache() ? size_of_cache(stage) : size_of_stage(source));
    if (!size) continue;
    if (*size == 0) {
      return Error{concat("source \"", stage.name, "\" has no samples; look at its `params:`",
                          stage.limit > 0 ? " and `limit:`" : "")};
    }
    if (samples && *samples != *size) {
      return Error{concat("sources that are zipped need equal sizes: \"",
                          plan_.stages[static_cast<std::size_t>(first)].name, "\" has ",
                          format_samples(*samples), ", \"", stage.name, "\" has ",
                          format_samples(*size), "; `limit:` makes the larger one shorter")};
    }
    samples = size;
    first = source;
  }
  if (!samples) return std::optional<DomainStart>{};
  const std::uint64_t fan_out = largest_fan_out(plan_, domain);
  if (*samples > kNumbersMax / fan_out ||
      plan_.epochs > kNumbersMax / fan_out / (*samples + planned.multiple)) {
    return Error{concat("source \"", plan_.stages[static_cast<std::size_t>(first)].name, "\" has ",
                        format_samples(*samples), ", and ", format_count(plan_.epochs),
                        " epochs of them", fan_out == 1 ? "" : concat(", times ", fan_out, ","),
                        " are more than the 2^48 that can be numbered; lower `epochs:`")};
  }
  return std::optional<DomainStart>{{domain, *samples, epoch_period(*samples, planned.multiple)}};
}

std::optional<DomainStart> StartBarrier::start_so_far(int domain) const {
  const PlanDomain& planned = plan_.domains[static_cast<std::size_t>(domain)];
  if (planned.above >= 0) {
    auto start = start_so_far(planned.above);
    if (!start) return start;
    return DomainStart{domain, start->samples * planned.fan_out, start->period * planned.fan_out};
  }
  for (int source : planned.sources) {
    const PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
    if (stage.is_cache()) {
      const auto above = start_so_far(stage.lanes[1].domain);
      if (!above) continue;
      const std::uint64_t size =
          stage.limit == 0 ? above->samples : std::min(above->samples, stage.limit);
      return DomainStart{domain, size, epoch_period(size, planned.multiple)};
    }
    for (const Replica& replica : replicas_) {
      if (replica.stage != source || !replica.size) continue;
      return DomainStart{domain, *replica.size, epoch_period(*replica.size, planned.multiple)};
    }
  }
  return std::nullopt;
}

Result<std::vector<DomainStart>> StartBarrier::starts() const {
  std::vector<DomainStart> starts;
  for (int domain = 0; domain < static_cast<int>(plan_.domains.size()); ++domain) {
    if (plan_.domains[static_cast<std::size_t>(domain)].above >= 0) continue;
    BRIGADE_ASSIGN(const auto start, start_of(domain));
    if (start) starts.push_back(*start);
  }
  return starts;
}

}  // namespace brigade
