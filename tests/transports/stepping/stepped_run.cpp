#include "tests/transports/stepping/stepped_run.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace brigade::stepping {

SteppedRun::SteppedRun(const Events& events, GraphShape shape)
    : events_(events), shape_(std::move(shape)), memory_(control_bytes<P>(shape_)) {}

std::string SteppedRun::run(Chooser& chooser) {
  SteppedPolicy::mistakes = {};
  Fibers::Limits limits;
  limits.detours = events_.detours;
  limits.deaths = events_.victim_stage < 0 ? 0 : events_.deaths;
  std::fill_n(memory_.data(), control_bytes<P>(shape_), std::byte{0});
  control_ = create_control<P>(memory_.data(), shape_, WakeOrder::by_sleeper);
  workers_.assign(static_cast<std::size_t>(shape_.replicas), nullptr);
  lows_.clear();
  for (const StageShape& stage : shape_.stages) lows_.emplace_back(stage.lanes.size());
  dead_ = false;
  reset();
  Fibers fibers(chooser, limits, events_.store_buffers);
  fibers_ = &fibers;
  for (int s = 0; s < stages(); ++s)
    for (int r = 0; r < shape_of(s).replicas; ++r) start(s, r);
  fibers.spawn("supervisor", [this] { supervise(); });
  fibers.after_step = [this] { check_marks(); };
  fibers.observer = [this](Fiber& fiber, FaultPoint point) { passed(fiber, point); };
  fibers.on_death = [this](Fiber&) { dead_ = true; };
  fibers.other_state = [this] { return mix(own_state(), dead_ ? 1 : 0); };
  fibers.run();
  if (fibers.is_pruned()) return "";
  if (fibers.failure().empty()) {
    check_marks();
    for (int s = 0; s < stages(); ++s)
      for (const LaneWords<P>& lane : control_.stages[static_cast<std::size_t>(s)].lanes)
        if (lane.mark->waiters.bits[0].raw() != 0)
          fibers.fail(concat("waiter bits were left on a mark of stage ", s));
    check_the_end();
  }
  if (!fibers.failure().empty()) trace_ = fibers.trace();
  return fibers.failure();
}

void SteppedRun::start(int stage, int replica) {
  Fiber& fiber = fibers_->spawn(concat("stage ", stage, " replica ", replica),
                                [this, stage, replica] { live(stage, replica); });
  fiber.stage = stage;
  fiber.replica = replica;
  fiber.mortal = stage == events_.victim_stage && replica == 0;
  workers_[static_cast<std::size_t>(global(stage, replica))] = &fiber;
}

void SteppedRun::supervise() {
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

void SteppedRun::repair_the_dead() {
  if (!dead_) return;
  repair(control_, events_.victim_stage, 0, {}, events_.rules);
  dead_ = false;
  events_.restart ? start(events_.victim_stage, 0) : give_up();
}

bool SteppedRun::has_gone(int replica) const {
  const Fiber& fiber = *workers_[static_cast<std::size_t>(replica)];
  return fiber.state == Fiber::State::finished && !(fiber.died && dead_);
}

void SteppedRun::stop_the_sources() {
  ask_stop(control_);
  const auto settled = [this] {
    for (int s = 0; s < stages(); ++s)
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

void SteppedRun::check_marks() {
  for (int s = 0; s < stages(); ++s) {
    auto& lows = lows_[static_cast<std::size_t>(s)];
    for (std::size_t lane = 0; lane < lows.size(); ++lane) {
      const std::uint64_t now = low(s, static_cast<int>(lane));
      if (now < lows[lane])
        fibers_->fail(concat("the mark of stage ", s, ", lane ", lane, " went down"));
      lows[lane] = now;
    }
  }
}

}  // namespace brigade::stepping
