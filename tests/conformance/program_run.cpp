// Graphs whose consumers or producers are applications, read and fed by this program.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "pipeline/plan/task_queues.h"
#include "pipeline/state/run_state.h"
#include "tests/conformance/hang_timer.h"
#include "tests/conformance/line_run.h"
#include "tests/conformance/on_threads.h"
#include "tests/conformance/plain/plain_tensor.h"
#include "tests/conformance/test_stages.h"

namespace brigade::conformance {
namespace {

Event event_of(const Batch& batch) {
  Event event;
  event.port = batch.source();
  event.epoch = batch.epoch();
  event.number = batch.sample(0).number;
  for (std::int64_t i = 0; i < batch.size(); ++i)
    event.samples.push_back(sample_text(batch.sample(i), read_slot(batch.record(), i)));
  return event;
}

/// Those that it has not been told of yet.
void add_ends(const Plan& plan, const PlanStage& stage, std::uint64_t epoch, Events& seen) {
  for (const PlanQueue& queue : stage.queues) {
    const std::string& port = queue.inputs.front().port;
    const bool known = std::any_of(seen.begin(), seen.end(), [&](const Event& event) {
      return event.kind == Event::Kind::epoch_end && event.port == port && event.epoch == epoch;
    });
    if (!known && epoch < index_space_epochs(plan, queue.index_space))
      seen.push_back({Event::Kind::epoch_end, port, static_cast<std::uint32_t>(epoch), 0, {}});
  }
}

}  // namespace

void LineRun::run_as_program(bool in_process, std::uint64_t seed, const Disturbance& disturbance) {
  const HangTimer watchdog(yaml_);
  std::set<std::string> spared;
  if (disturbance.kills > 0) spared = spared_of(disturbance);
  RunOptions options;
  options.in_process = in_process;
  options.program = true;
  const auto session = start(options);
  if (session == nullptr) return;
  std::atomic<bool> at_work{false};
  std::optional<Disturber> disturber;
  if (disturbance.kills > 0)
    disturber.emplace(disturbance, spared, [&] { return at_work || recorded_bytes() > 0; });
  std::vector<std::thread> loops;
  for (const auto& [name, feed] : feeds_)
    loops.emplace_back(
        [seed, &given = feed, input = session->input(name)] { give_all(*input, given, seed); });
  for (const PlanStage& stage : plan_.stages) {
    if (!stage.is_output()) continue;
    loops.emplace_back([&, &seen = read_[stage.name], output = session->output(stage.name)] {
      OnThreads<Batch> returns(seed);
      for (std::uint64_t epoch = 0; epoch <= plan_.epochs; ++epoch) {
        for (;;) {
          auto batch = output->next(epoch, {__FILE__, __LINE__});
          if (!batch.ok()) continue;  // a thread has not run for a second; a hang is seen
          if (!*batch) break;
          at_work = true;
          seen.push_back(event_of(**batch));
          returns.add(std::move(**batch));
        }
        add_ends(plan_, stage, epoch, seen);
      }
    });
  }
  for (std::thread& loop : loops) loop.join();
  outcome_ = session->wait();
  if (disturber) disturbed_ = disturber->stop();
}

namespace {

constexpr std::size_t kListedBytesMax = 80;  // of a state, for a sample in its lists

/// What the program still has of an output when a part of the run ends.
class Held {
 public:
  /// At most `most` of the last `window` batches, any of them.
  Held(std::uint64_t most, std::uint64_t window, std::uint64_t seed)
      : most_(most), window_(window), random_(seed) {}

  /// And keeps none from now on.
  void clear() {
    most_ = 0;
    held_.clear();
  }
  void add(Batch batch) {
    held_.emplace_back(given_++, std::move(batch));
    while (held_.size() > most_)
      held_.erase(held_.begin() + static_cast<int>(random_() % held_.size()));
    std::erase_if(held_, [&](const auto& one) { return one.first + window_ <= given_; });
  }

 private:
  std::uint64_t most_;
  const std::uint64_t window_;
  std::mt19937_64 random_;
  std::uint64_t given_ = 0;
  std::vector<std::pair<std::uint64_t, Batch>> held_;
};

/// Until it has nothing left, or `batches` have been asked for.
void read_some(OutputQueue& output, const Plan& plan, std::atomic<std::int64_t>& batches,
               bool to_the_end, Events& seen, Held& held) {
  for (std::uint64_t epoch = 0; epoch <= plan.epochs; ++epoch) {
    for (;;) {
      if (batches.fetch_sub(1) <= 0) return;
      auto batch = output.next(epoch, {__FILE__, __LINE__});
      if (!batch.ok() && !to_the_end) return;  // behind another, which is not read any more
      if (!batch.ok()) held.clear();           // what it waits for may need their memory
      if (!batch.ok()) continue;
      if (!*batch) break;
      seen.push_back(event_of(**batch));
      held.add(std::move(**batch));
    }
    add_ends(plan, output.stage(), epoch, seen);
  }
}

}  // namespace

void LineRun::run_as_program(const ProgramPart& part) {
  const HangTimer watchdog(yaml_);
  outcome_ = {};
  ResumePoint resume = from_the_beginning(plan_, types_);
  if (!state_.empty()) {
    auto from = resume_from_state(plan_, resume, state_);
    if (!from.ok()) outcome_.failure = from.error().message;
    if (!from.ok()) return;
    resume = std::move(from->from);
  }
  RunOptions options;
  options.in_process = part.in_process;
  options.program = true;
  auto session = start(options, std::move(resume));
  if (session == nullptr) return;
  const bool to_the_end = part.batches == 0;
  std::atomic<std::int64_t> batches = to_the_end ? INT64_MAX : part.batches;
  std::mt19937_64 random(part.seed);
  std::deque<Held> held;  // beyond the end of the run
  std::vector<std::thread> loops;
  for (const PlanStage& stage : plan_.stages) {
    if (!stage.is_output()) continue;
    held.emplace_back(random() % stage.hold, stage.hold, random());
    loops.emplace_back(
        [&, &seen = read_[stage.name], &keeps = held.back(), output = session->output(stage.name)] {
          read_some(*output, plan_, batches, to_the_end, seen, keeps);
        });
  }
  for (std::thread& loop : loops) loop.join();
  if (to_the_end) {
    outcome_ = session->wait();
    return;
  }
  const auto state = session->state();
  session.reset();
  outcome_.failure = state.ok() ? go_on_from(*state, part) : state.error().message;
}

/// What is wrong with the state, or nothing.
std::string LineRun::go_on_from(const std::string& bytes, const ProgramPart& part) {
  auto state = state_from_bytes(bytes);
  if (!state.ok()) return state.error().message;
  std::size_t most = kStateBytesMax;
  for (const auto& [name, position] : state->consumers) {
    most += kListedBytesMax * (position.skipped.size() + position.quarantined.size());
    const auto read = read_.find(name);
    if (read == read_.end()) continue;
    const PlanStage& stage =
        *std::find_if(plan_.stages.begin(), plan_.stages.end(),
                      [&](const PlanStage& one) { return one.name == read->first; });
    for (const QueueNumber queue : stage.queues.numbers()) {
      const SamplePosition& at = position.queues[queue];
      const std::string& port = stage.queues[queue].inputs.front().port;
      if (at.index != 0) continue;
      given_again_ += std::erase_if(read->second, [&](const Event& event) {
        return (stage.queues.size() == 1 || event.port == port) && event.epoch >= at.epoch;
      });
    }
  }
  if (bytes.size() > most) return concat("a state of ", bytes.size(), " bytes");
  if (part.change) part.change(*state);
  state_ = part.change ? state_to_bytes(*state) : bytes;
  return "";
}

}  // namespace brigade::conformance
