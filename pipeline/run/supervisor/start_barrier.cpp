#include "pipeline/run/supervisor/start_barrier.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/planner/zipped_sources.h"
#include "pipeline/records/sampler.h"

namespace brigade {
namespace {

constexpr std::size_t kNamesShown = 4;
constexpr std::uint64_t kSampleNumbersMax = std::uint64_t{1} << 48;  // what a task word can count

/// Samples of the index spaces derived from one, for each of its own.
std::uint64_t largest_fan_out(const Plan& plan, IndexSpaceNumber index_space) {
  std::uint64_t largest = 1;
  for (const PlanIndexSpace& derived : plan.index_spaces)
    if (derived.above == index_space) largest = std::max(largest, derived.fan_out);
  return largest;
}

}  // namespace

StartBarrier::StartBarrier(const Plan& plan)
    : plan_(plan), table_(plan), replicas_(table_.size()) {}

void StartBarrier::ready(int replica, std::optional<std::uint64_t> size, std::uint64_t found) {
  Replica& it = replicas_[replica];
  it.ready = true;
  it.size = size;
  it.found = found;
}

void StartBarrier::gone(int replica) { replicas_[replica].gone = true; }

/// One replica of a transform can do all that its stage has to do; the others join it as those do
/// that are started again.
bool StartBarrier::waits_for(int number) const {
  const Replica& replica = replicas_[number];
  if (replica.ready || replica.gone) return false;
  const PlanStage& stage = table_.stage(number);
  if (stage.kind != StageKind::transform || stage.is_cache()) return true;
  const auto first = replicas_.begin() + stage.first_replica;
  return std::none_of(first, first + stage.replicas, [](const Replica& it) { return it.ready; });
}

bool StartBarrier::complete() const {
  for (const int number : table_.numbers())
    if (waits_for(number)) return false;
  return true;
}

std::string StartBarrier::name(int number) const {
  const PlanStage& stage = table_.stage(number);
  return stage.replicas == 1 ? stage.name : table_.name(number);
}

std::string StartBarrier::waiting_for() const {
  std::vector<std::string> names;
  int more = 0;
  for (const int number : table_.numbers()) {
    if (!waits_for(number)) continue;
    if (names.size() < kNamesShown)
      names.push_back(name(number));
    else
      ++more;
  }
  return concat(join(names, ", "), more > 0 ? concat(" and ", more, " more") : "");
}

Result<std::optional<std::uint64_t>> StartBarrier::size_of_stage(StageNumber stage) const {
  const PlanStage& source = plan_.stages[stage];
  int first = -1;
  std::optional<std::uint64_t> size;
  for (int r = 0; r < source.replicas; ++r) {
    const int number = source.first_replica + r;
    const Replica& replica = replicas_[number];
    if (replica.gone && !replica.ready) continue;
    if (first < 0) {
      first = number;
      size = replica.size;
    }
    if (replica.size == size) continue;
    return Error{concat("replicas of one source must find the same samples: ", name(first),
                        " found ", format_samples(size.value_or(0)), ", ", name(number), " found ",
                        format_samples(replica.size.value_or(0)),
                        "; its files must not change while the run starts")};
  }
  return size;
}

/// What its source has, which begins above it.
Result<std::optional<std::uint64_t>> StartBarrier::size_of_cache(const PlanStage& stage) const {
  const IndexSpaceNumber index_space = stage.queues[1].index_space;
  const PlanIndexSpace& above = plan_.index_spaces[index_space];
  BRIGADE_ASSIGN(const auto start, start_of(above.above < 0 ? index_space : above.above));
  if (!start) return std::optional<std::uint64_t>{};
  const std::uint64_t samples = start->samples * above.fan_out;
  const std::uint64_t kept = limited(stage.limit, samples);
  if (kept <= stage.cache.slots) return std::optional(kept);
  return Error{concat("the cache \"", stage.name, "\" has room for ",
                      format_samples(stage.cache.slots), ", but its source has ",
                      format_samples(samples), "; write `samples: ", samples,
                      "` into its `params:`, or store fewer with `limit:`")};
}

Result<void> StartBarrier::check_zipped(IndexSpaceNumber index_space) const {
  FoundSamples found(plan_.stages.size());
  for (const int number : table_.numbers())
    if (replicas_[number].found != 0) found[table_.stage_index(number)] = replicas_[number].found;
  const auto mismatch = mismatch_of_zipped(plan_, index_space, found);
  if (!mismatch) return {};
  return Error{concat(mismatch->message, "; ", mismatch->help)};
}

Result<std::optional<IndexSpaceStart>> StartBarrier::start_of(IndexSpaceNumber index_space) const {
  const PlanIndexSpace& planned = plan_.index_spaces[index_space];
  BRIGADE_TRY(check_zipped(index_space));
  std::optional<std::uint64_t> samples;
  StageNumber first = -1;
  for (StageNumber source : planned.sources) {
    const PlanStage& stage = plan_.stages[source];
    BRIGADE_ASSIGN(const auto size,
                   stage.is_cache() ? size_of_cache(stage) : size_of_stage(source));
    if (!size) continue;
    if (*size == 0) {
      return Error{concat("source \"", stage.name, "\" has no samples; check its `params:`",
                          stage.limit.any() ? " and `limit:`" : "")};
    }
    if (samples && *samples != *size) {
      return Error{concat("zipped sources need equal sizes: \"", plan_.stages[first].name,
                          "\" has ", format_samples(*samples), ", \"", stage.name, "\" has ",
                          format_samples(*size),
                          "; shorten the larger one with `limit: N` and `take: first`")};
    }
    samples = size;
    first = source;
  }
  if (!samples) return std::optional<IndexSpaceStart>{};
  const std::uint64_t fan_out = largest_fan_out(plan_, index_space);
  if (*samples > kSampleNumbersMax / fan_out ||
      plan_.epochs > kSampleNumbersMax / fan_out / (*samples + planned.multiple)) {
    return Error{concat("source \"", plan_.stages[first].name, "\" has ", format_samples(*samples),
                        ", which over ", format_count(plan_.epochs), " epochs",
                        fan_out == 1 ? "" : concat(", times ", fan_out, ","),
                        " exceed the limit of 2^48; lower `epochs:`")};
  }
  return std::optional<IndexSpaceStart>{
      {index_space, *samples, epoch_period(*samples, planned.multiple)}};
}

std::optional<IndexSpaceStart> StartBarrier::start_so_far(IndexSpaceNumber index_space) const {
  const PlanIndexSpace& planned = plan_.index_spaces[index_space];
  if (planned.above >= 0) {
    auto start = start_so_far(planned.above);
    if (!start) return start;
    return IndexSpaceStart{index_space, start->samples * planned.fan_out,
                           start->period * planned.fan_out};
  }
  for (StageNumber source : planned.sources) {
    const PlanStage& stage = plan_.stages[source];
    if (stage.is_cache()) {
      const auto above = start_so_far(stage.queues[1].index_space);
      if (!above) continue;
      const std::uint64_t size = limited(stage.limit, above->samples);
      return IndexSpaceStart{index_space, size, epoch_period(size, planned.multiple)};
    }
    for (int r = 0; r < stage.replicas; ++r) {
      const Replica& replica = replicas_[stage.first_replica + r];
      if (!replica.size) continue;
      return IndexSpaceStart{index_space, *replica.size,
                             epoch_period(*replica.size, planned.multiple)};
    }
  }
  return std::nullopt;
}

Result<std::vector<IndexSpaceStart>> StartBarrier::starts() const {
  std::vector<IndexSpaceStart> starts;
  for (const IndexSpaceNumber index_space : plan_.index_spaces.numbers()) {
    if (plan_.index_spaces[index_space].above >= 0) continue;
    BRIGADE_ASSIGN(const auto start, start_of(index_space));
    if (start) starts.push_back(*start);
  }
  return starts;
}

}  // namespace brigade
