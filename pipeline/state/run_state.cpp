#include "pipeline/state/run_state.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "pipeline/state/checkpoint_files.h"
#include "pipeline/state/read_position.h"
#include "pipeline/state/resume_numbers.h"

namespace brigade {
namespace {

constexpr std::string_view kTitle = "brigade state, ";
constexpr std::size_t kValueBytesMax = 64;

std::string without_long_values(const std::string& order) {
  constexpr std::string_view kIs = " = ";
  std::string brief;
  for (const std::string_view line : split(order, '\n')) {
    if (line.empty()) continue;
    const std::size_t value = line.find(kIs) + kIs.size();
    const bool is_long = line.size() - value > kValueBytesMax;
    brief += is_long ? concat(line.substr(0, value), digest_of(line.substr(value))) : line;
    brief += '\n';
  }
  return brief;
}

/// A stage's facts follow each other.
std::string by_stages(const std::string& order) {
  std::vector<std::pair<std::string, std::string>> stages;
  for (const std::string_view line : split(order, '\n')) {
    if (line.empty()) continue;
    const std::string_view name = line.substr(0, line.find('.'));
    if (stages.empty() || stages.back().first != name) stages.emplace_back(name, "");
    stages.back().second.append(line).append("\n");
  }
  std::string brief;
  for (const auto& [name, facts] : stages) brief += concat(name, " = ", digest_of(facts), "\n");
  return brief;
}

/// Each sample stands once among the lists of all.
void add_once(Position position, const PlanStage& stage, RunState& state) {
  if (!state.consumers.empty()) {
    position.sources.clear();
    position.quarantined.clear();
    position.identity.clear();
    position.libraries.clear();
  }
  std::erase_if(position.skipped, [&](const StageSample& sample) {
    return std::any_of(state.consumers.begin(), state.consumers.end(),
                       [&](const ConsumerPosition& other) {
                         const auto& known = other.position.skipped;
                         return std::find(known.begin(), known.end(), sample) != known.end();
                       });
  });
  state.consumers.push_back({stage.name, std::move(position)});
}

/// Files that must be those of the state's run.
bool saves_tensors(const Plan& plan) {
  return std::any_of(plan.shared.begin(), plan.shared.end(),
                     [](const PlanShared& shared) { return !shared.save_file.empty(); });
}

bool fits(RunState state) {
  for (ConsumerPosition& one : state.consumers) {
    one.position.quarantined.clear();
    one.position.skipped.clear();
  }
  return state_to_bytes(state).size() <= kStateBytesMax;
}

Result<void> check_has_state(const Plan& plan) {
  const bool has_output = std::any_of(plan.stages.begin(), plan.stages.end(),
                                      [](const PlanStage& stage) { return stage.is_output(); });
  if (!has_output)
    return Error{
        "the graph has no `consumer: application`, whose position a program could save; write "
        "`checkpoint: {file: PATH}` and resume from that file"};
  auto resumable = check_resumable(plan);
  if (!resumable) return resumable.error().within("a run of this graph has no state");
  return {};
}

Result<void> begin_at_epoch(const PlanStage& stage, std::uint64_t epoch, Position& position) {
  if (position.sources.empty())
    return Error{concat("the length of the epochs of ", quote(stage.name),
                        " is unknown before its first batch: take the state after that batch")};
  for (SamplePosition& at : position.queues)
    if (at.epoch < epoch) at = {epoch, 0};
  return {};
}

}  // namespace

std::string order_in_detail(const std::string& order, OrderDetail detail) {
  switch (detail) {
    case OrderDetail::facts:
      return without_long_values(order);
    case OrderDetail::stages:
      return by_stages(order);
    case OrderDetail::graph:
      break;
  }
  return concat("graph = ", digest_of(order), "\n");
}

Result<std::string> state_of_run(const Plan& plan, const ResumePoint& resume,
                                 const Control<SystemPolicy>& control,
                                 const ByStage<ByQueue<std::uint64_t>>& levels,
                                 std::uint64_t first_epoch) {
  BRIGADE_TRY(check_has_state(plan));
  RunState state;
  for (const StageNumber s : plan.stages.numbers()) {
    if (plan.stages[s].kind != StageKind::consumer) continue;
    Position position = read_position(plan, resume, control, s, levels[s]);
    position.run.clear();  // of no checkpoint
    if (!saves_tensors(plan)) position.identity.clear();
    position.samples = 0;  // whoever goes on is another command
    if (plan.stages[s].is_output() && first_epoch != 0)
      BRIGADE_TRY(begin_at_epoch(plan.stages[s], first_epoch, position));
    add_once(std::move(position), plan.stages[s], state);
  }
  for (const OrderDetail detail : {OrderDetail::facts, OrderDetail::stages, OrderDetail::graph}) {
    state.detail = detail;
    state.order = order_in_detail(resume.order, detail);
    if (fits(state)) break;
  }
  return state_to_bytes(state);
}

std::string state_to_bytes(const RunState& state) {
  const std::string json = state_to_json(state);
  return concat(kTitle, digest_of(json), "\n", json);
}

Result<RunState> state_from_bytes(std::string_view bytes) {
  const auto title = strip_prefix(bytes, kTitle);
  if (!title) return Error{bytes.empty() ? "it is empty" : "it does not begin like a state"};
  const std::size_t end = std::min(title->find('\n'), title->size());
  const std::string_view rest = title->substr(std::min(end + 1, title->size()));
  const std::string found = digest_of(rest);
  if (title->substr(0, end) != found)
    return Error{concat("it is damaged or truncated: expected ", quote(title->substr(0, end)),
                        ", found ", quote(found))};
  return state_from_json(rest);
}

}  // namespace brigade
