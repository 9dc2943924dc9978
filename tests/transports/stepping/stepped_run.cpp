#include "tests/transports/stepping/stepped_run.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"

namespace brigade::stepping {

SharedShape stream_shape(const StreamLine& line) {
  GraphBuilder graph;
  graph.graph().epochs = line.epochs;
  ValidStage& stream = graph.producer("stream", {support::kPlannedNumber});
  stream.chunk = line.chunk;
  stream.replicas = line.replicas;
  graph.type_of("stream").indexed = false;
  ValidStage& reader = graph.consumer("reader", {"stream"});
  reader.batched = true;
  reader.sources[0].batch = line.batch;
  return support::planned_shape(graph, {line.slots, 0});
}

SteppedRun::SteppedRun(const Events& events, SharedShape shape)
    : events_(events), shape_(std::move(shape)), memory_(control_bytes<P>(shape_)) {}

std::string SteppedRun::run(Chooser& chooser) {
  SteppedPolicy::mistakes = events_.mistakes;
  Fibers::Limits limits;
  limits.detours = events_.detours;
  limits.deaths = events_.victim_stage < 0 ? 0 : events_.deaths;
  std::fill_n(memory_.data(), control_bytes<P>(shape_), std::byte{0});
  control_ = create_control<P>(memory_.data(), shape_, events_.wake_order);
  workers_.assign(static_cast<std::size_t>(shape_.replicas), nullptr);
  levels_.clear();
  for (const StageShape& stage : shape_.stages) levels_.emplace_back(stage.queues.size());
  dead_ = claimed_ = false;
  reset();
  Fibers fibers(chooser, limits, events_.store_buffers);
  fibers_ = &fibers;
  for (const StageNumber s : shape_.stages.numbers())
    for (int r = 0; r < shape_of(s).replicas; ++r) start(s, r);
  fibers.spawn("supervisor", [this] { supervise(); });
  fibers.after_step = [this] { check_watermarks(); };
  const bool wrong_repair = events_.mistakes.of_supervisor();
  fibers.observer = [this, wrong_repair](Fiber& fiber, FaultPoint point) {
    if (wrong_repair && fiber.mortal) claimed_ = claimed_ || point == FaultPoint::claim_after_cas;
    passed(fiber, point);
  };
  fibers.on_death = [this](Fiber&) { dead_ = true; };
  fibers.other_state = [this] { return mix(own_state(), (dead_ ? 1 : 0) + (claimed_ ? 2 : 0)); };
  fibers.run();
  if (fibers.is_pruned()) return "";
  if (fibers.failure().empty()) {
    check_watermarks();
    for (const StageNumber s : shape_.stages.numbers())
      for (const QueueWords<P>& queue : control_.stages[s].queues)
        if (queue.watermark->waiters.bits[0].raw() != 0)
          fibers.fail(concat("waiter bits were left on a watermark of stage ", s.value()));
    check_the_end();
  }
  if (!fibers.failure().empty()) trace_ = fibers.trace();
  return fibers.failure();
}

void SteppedRun::start(StageNumber stage, int replica) {
  Fiber& fiber = fibers_->spawn(concat("stage ", stage.value(), " replica ", replica),
                                [this, stage, replica] { live(stage, replica); });
  fiber.stage = stage;
  fiber.replica = replica;
  fiber.mortal = stage == events_.victim_stage && replica == 0;
  workers_[global(stage, replica)] = &fiber;
}

void SteppedRun::supervise() {
  if (events_.mistakes.repairs_the_living) {
    wait_for_claim();
    repair(control_, events_.victim_stage, 0);
  }
  if (events_.stop) stop_the_sources();
  const auto all_have_left = [this] {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const Fiber* fiber) { return fiber->state == Fiber::State::finished; });
  };
  for (;;) {
    fibers_->wait_until([&] { return dead_ || all_have_left(); });
    if (!dead_) return;
    repair_the_dead();
  }
}

/// Until the replica that may die holds a task, or finds none.
void SteppedRun::wait_for_claim() {
  const int victim = global(events_.victim_stage, 0);
  fibers_->wait_until([&] { return claimed_ || workers_[victim]->state != Fiber::State::ready; });
}

void SteppedRun::repair_the_dead() {
  if (!dead_) return;
  const bool too_early = events_.mistakes.restarts_before_repair;
  if (too_early) {
    claimed_ = false;
    start(events_.victim_stage, 0);
    wait_for_claim();
  }
  const std::vector<std::uint64_t> poison = poisoned();
  const bool late = events_.mistakes.quarantines_late;
  repair(control_, events_.victim_stage, 0, late ? std::span<const std::uint64_t>() : poison,
         events_.rules);
  if (late) fibers_->step();
  for (const std::uint64_t number : poison)
    if (late) control_.stages[events_.victim_stage].quarantine.append(number);
  dead_ = false;
  if (!too_early) events_.restart ? start(events_.victim_stage, 0) : give_up();
}

bool SteppedRun::has_gone(int replica) const {
  const Fiber& fiber = *workers_[replica];
  return fiber.state == Fiber::State::finished && !(fiber.died && dead_);
}

void SteppedRun::stop_the_sources() {
  ask_stop(control_);
  const auto settled = [this] {
    for (const StageNumber s : shape_.stages.numbers())
      for (int r = 0; shape_of(s).source && r < shape_of(s).replicas; ++r)
        if (control_.replicas[global(s, r)].ack.value.raw() == 0 && !has_gone(global(s, r)))
          return false;
    return true;
  };
  while (!all_acknowledged(control_, [this](int replica) { return has_gone(replica); })) {
    fibers_->wait_until([&] { return dead_ || settled(); });
    repair_the_dead();
  }
  lower_ends();
}

void SteppedRun::expect_stream_ended(std::uint64_t batch, std::uint64_t full) {
  const std::uint64_t end = control_.index_spaces[0]->end.value.raw();
  if (level(0, 0) != end || level(1, 0) != end || end % batch != 0)
    fibers_->fail(
        concat("watermarks at ", level(0, 0), " and ", level(1, 0), ", the end is ", end));
  expect_audit(0, 1, 0, full);
}

void SteppedRun::expect_audit(StageNumber writer, StageNumber reader, QueueNumber queue,
                              std::uint64_t full) {
  const EdgeAudit edge = audit_edge(control_, writer, reader, queue);
  if (edge.produced == full && edge.delivered == full && edge.dropped == 0 && edge.leaked == 0)
    return;
  fibers_->fail(concat("the audit from stage ", writer.value(), " to ", reader.value(), ": full ",
                       full, ", produced ", edge.produced, ", delivered ", edge.delivered,
                       ", dropped ", edge.dropped, ", leaked ", edge.leaked));
}

void SteppedRun::check_watermarks() {
  for (const StageNumber s : shape_.stages.numbers()) {
    auto& levels = levels_[s];
    for (const QueueNumber queue : levels.numbers()) {
      const std::uint64_t now = level(s, queue);
      if (now < levels[queue])
        fibers_->fail(concat("the watermark of stage ", s.value(), ", task queue ", queue.value(),
                             " went down"));
      if (queue == 0) moved(s, levels[queue], now);
      levels[queue] = now;
    }
  }
}

}  // namespace brigade::stepping
