#include "pipeline/process/start_barrier.h"

#include "base/text.h"
#include "pipeline/run/sampler.h"

namespace brigade {
namespace {

constexpr std::size_t kNamesShown = 4;
constexpr std::uint64_t kNumbersMax = std::uint64_t{1} << 48;  // what a task word can count

std::string samples_text(std::uint64_t samples) {
  return concat(format_count(samples), samples == 1 ? " sample" : " samples");
}

}  // namespace

StartBarrier::StartBarrier(const Plan& plan) : plan_(plan) {
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < plan.stages[static_cast<std::size_t>(s)].replicas; ++r) {
      replicas_.push_back({s, r, false, std::nullopt});
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

std::string StartBarrier::name(const Replica& replica) const {
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(replica.stage)];
  return stage.replicas == 1 ? stage.name : concat(stage.name, ".", replica.replica);
}

std::string StartBarrier::waiting_for() const {
  std::vector<std::string> names;
  for (const Replica& replica : replicas_) {
    if (!replica.ready && names.size() < kNamesShown) names.push_back(name(replica));
  }
  const int more = waiting_ - static_cast<int>(names.size());
  return concat(join(names, ", "), more > 0 ? concat(" and ", more, " more") : "");
}

Result<std::optional<std::uint64_t>> StartBarrier::size_of_stage(int stage) const {
  const Replica* first = nullptr;
  for (const Replica& replica : replicas_) {
    if (replica.stage != stage) continue;
    if (first == nullptr) first = &replica;
    if (replica.size == first->size) continue;
    return Error{concat("replicas of one source must find the same samples: ", name(*first),
                        " found ", samples_text(first->size.value_or(0)), ", ", name(replica),
                        " found ", samples_text(replica.size.value_or(0)),
                        "; did its files change while the run started?")};
  }
  return first->size;
}

Result<std::optional<DomainStart>> StartBarrier::start_of(int domain) const {
  const PlanDomain& planned = plan_.domains[static_cast<std::size_t>(domain)];
  std::optional<std::uint64_t> samples;
  int first = -1;
  for (int source : planned.sources) {
    BRIGADE_ASSIGN(const auto size, size_of_stage(source));
    if (!size) continue;
    const PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
    if (*size == 0) {
      return Error{concat("source \"", stage.name, "\" has no samples; look at its `params:`",
                          stage.limit > 0 ? " and `limit:`" : "")};
    }
    if (samples && *samples != *size) {
      return Error{concat("sources that are zipped need equal sizes: \"",
                          plan_.stages[static_cast<std::size_t>(first)].name, "\" has ",
                          samples_text(*samples), ", \"", stage.name, "\" has ",
                          samples_text(*size), "; `limit:` makes the larger one shorter")};
    }
    samples = size;
    first = source;
  }
  if (!samples) return std::optional<DomainStart>{};
  if (*samples > kNumbersMax || plan_.epochs > kNumbersMax / (*samples + planned.multiple)) {
    return Error{concat("source \"", plan_.stages[static_cast<std::size_t>(first)].name, "\" has ",
                        samples_text(*samples), ", and ", format_count(plan_.epochs),
                        " epochs of them are more than the 2^48 that can be numbered; "
                        "lower `epochs:`")};
  }
  return std::optional<DomainStart>{{domain, *samples, epoch_period(*samples, planned.multiple)}};
}

std::optional<DomainStart> StartBarrier::start_so_far(int domain) const {
  const PlanDomain& planned = plan_.domains[static_cast<std::size_t>(domain)];
  for (int source : planned.sources) {
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
    BRIGADE_ASSIGN(const auto start, start_of(domain));
    if (start) starts.push_back(*start);
  }
  return starts;
}

}  // namespace brigade
