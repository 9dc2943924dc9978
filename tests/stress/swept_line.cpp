#include "tests/stress/swept_line.h"

#include <sys/mman.h>

#include <algorithm>
#include <random>

#include <brigade/text.h>
#include "transports/stop.h"

namespace brigade::stress {
namespace {

constexpr std::size_t kTasksMax = 256;  // of a stage

std::uint64_t ring_bytes(const StageShape& stage) {
  return (stage.slots * (sizeof(SlotHeader) + kSweptPayloadBytes) + 63) / 64 * 64;
}

Mapping shared_memory(std::uint64_t bytes) {
  const MemoryFile file = MemoryFile::create("sweep", bytes).value();
  Mapping memory = map_memory(file.fd(), bytes, MapMode::read_write).value();
  BRIGADE_CHECK(madvise(memory.data(), bytes, MADV_DOFORK) == 0);  // the stepped process is a fork
  return memory;
}

/// The middle stage gives what it has kept, in an index space of its own.
void add_cache(SharedShape& shape) {
  StageShape& cache = shape.stages[1];
  QueueShape keeps = cache.queues[0];
  keeps.window = shape.stages[0].slots / keeps.task;
  cache.interleave = Interleave::cache;
  cache.source = true;
  cache.queues[0].inputs.clear();
  cache.queues[0].index_space = shape.stages[2].queues[0].index_space = 1;
  cache.queues.push_back(keeps);
  shape.index_spaces = 2;
}

}  // namespace

SweptLine::SweptLine(const SweptSpec& spec, StageNumber victim_stage)
    : spec_(spec), victim_stage_(victim_stage), shape_(shape_from(spec)) {
  bytes_ = control_bytes<H>(shape_);
  ByStage<std::uint64_t> offsets;
  for (const StageShape& stage : shape_.stages) {
    offsets.push_back(bytes_);
    bytes_ += ring_bytes(stage);
  }
  const std::uint64_t kept_at = bytes_;
  if (spec.join == Interleave::cache) bytes_ += spec.samples * sizeof(*kept_);
  memory_ = shared_memory(bytes_);
  section_memory_ = shared_memory(sizeof(int));
  section_ = reinterpret_cast<volatile int*>(section_memory_.data());
  control_ = create_control<H>(memory_.data(), shape_, spec.order);
  for (const StageNumber s : shape_.stages.numbers()) {
    const std::uint64_t slots = shape_.stages[s].slots;
    rings_.emplace_back(memory_.data() + offsets[s], std::max<std::uint64_t>(slots, 1),
                        std::vector<SlotArray>{{slots * sizeof(SlotHeader), kSweptPayloadBytes}});
  }
  kept_ = reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data() + kept_at);
  const std::uint64_t epochs = spec.join == Interleave::epochs ? kSweptEpochs : 1;
  for (int d = 0; spec.streamed.empty() && d < (spec.join ? 2 : std::max(1, spec.merged)); ++d) {
    set_end(control_, IndexSpaceNumber(d), spec.samples / epochs, spec.samples / epochs, epochs);
  }
  HandsPolicy::rung.clear();
  for (const StageNumber s : shape_.stages.numbers()) {
    worker_pool_.finished.emplace_back(shape_of(s).queues.size(), std::vector<int>(kTasksMax));
    for (int r = 0; r < shape_of(s).replicas; ++r) worker_pool_.hands.push_back(new_hand(s, r));
  }
}

SharedShape SweptLine::shape_from(const SweptSpec& spec) {
  SharedShape shape = support::line_shape(spec.stages);
  if (spec.join == Interleave::cache) {
    add_cache(shape);
  } else if (spec.join) {
    support::join_two(shape, *spec.join);
  }
  if (!spec.streamed.empty())
    shape.epoch_ends = {spec.stages[0].replicas == 1 ? spec.streamed.size() : 1};
  if (spec.merged > 0) support::make_flat_map(shape, spec.merged);
  return shape;
}

SweptLine::Hand SweptLine::new_hand(StageNumber stage, int replica) {
  Hand hand{queues_of(control_, stage, replica), stage, replica};
  const bool may_be_victim = stage == victim_stage_ && replica == 0;
  if (has_own_loop(stage) && may_be_victim) hand.state = Hand::State::left;  // live_in_hands()
  return hand;
}

void SweptLine::say(std::string problem) {
  if (worker_pool_.problem.empty()) worker_pool_.problem = std::move(problem);
}

std::uint64_t SweptLine::fingerprint() const {
  std::uint64_t hash = bytes_;
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory_.data());
  for (std::uint64_t i = 0; i < bytes_ / 8; ++i) {
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// --- the hands -----------------------------------------------------------------------------------

/// One look or one task; false: it sleeps, or has left.
bool SweptLine::move(Hand& hand) {
  switch (hand.state) {
    case Hand::State::left:
      return false;
    case Hand::State::holding:
      complete_task(hand);
      break;
    case Hand::State::asleep: {
      if (!hand.rung) return false;
      if (rests(hand)) break;
      const Attempt<H> attempt = hand.queues.try_claim();
      for (Watermark<H>* watermark : hand.waits_on)
        clear_waiter(watermark->waiters, shape_of(hand.stage).first_replica + hand.replica);
      hand.state = Hand::State::looking;
      found(hand, attempt);
      break;
    }
    case Hand::State::looking: {
      if (rests(hand)) break;
      const Attempt<H> attempt = hand.queues.try_claim();
      if (attempt.look == Look::blocked) {
        lie_down(hand, attempt);
      } else {
        found(hand, attempt);
      }
      break;
    }
  }
  hand_out_wakes();
  return true;
}

/// As claim_or_wait() does it, up to the system call.
void SweptLine::lie_down(Hand& hand, const Attempt<H>& blocked) {
  const int global = shape_of(hand.stage).first_replica + hand.replica;
  const auto also = hand.queues.watched();
  const std::uint64_t until = also.empty() ? blocked.until : 0;
  hand_out_wakes();
  control_.doorbells[global].until.store(until);
  hand.waits_on.assign(also.begin(), also.end());
  if (blocked.blocked_on != nullptr) hand.waits_on.push_back(blocked.blocked_on);
  for (Watermark<H>* watermark : hand.waits_on) set_waiter(watermark->waiters, global);
  const Attempt<H> again = hand.queues.try_claim();
  const bool watched = again.blocked_on == blocked.blocked_on ||
                       std::find(hand.waits_on.begin(), hand.waits_on.end(), again.blocked_on) !=
                           hand.waits_on.end();
  if (again.look == Look::blocked && watched && again.until >= until) {
    hand.state = Hand::State::asleep;
    hand.rung = false;
    return;
  }
  for (Watermark<H>* watermark : hand.waits_on) clear_waiter(watermark->waiters, global);
  found(hand, again);
}

void SweptLine::found(Hand& hand, const Attempt<H>& attempt) {
  if (attempt.look == Look::ended) {
    hand.state = Hand::State::left;
  }
  if (attempt.look != Look::claimed) return;
  hand.queue = hand.queues.queue();
  for (const Hand& other : worker_pool_.hands) {
    if (other.state == Hand::State::holding && other.stage == hand.stage &&
        other.queue == hand.queue && other.task == attempt.task) {
      say(concat("task ", attempt.task, " of stage ", hand.stage.value(), " is in two hands"));
    }
  }
  check_turn(hand.stage, hand.queue, attempt.task);
  if (is_committed(hand.stage, hand.queue, attempt.task) || attempt.task >= kTasksMax) {
    return say(
        concat("task ", attempt.task, " of stage ", hand.stage.value(), " was claimed when done"));
  }
  hand.state = Hand::State::holding;
  hand.task = attempt.task;
  spoil_slots(hand.stage, hand.queue, hand.task);  // half written, should anybody look
}

void SweptLine::complete_task(Hand& hand) {
  const SlotCounts counts = is_stream(hand.stage) ? share_in_hands(hand.replica, hand.task)
                                                  : work(hand.stage, hand.queue, hand.task);
  hand.queues.finish(hand.task, counts);
  ++worker_pool_.finished[hand.stage][hand.queue][hand.task];
  hand.state = Hand::State::looking;
}

void SweptLine::hand_out_wakes() {
  for (const void* doorbell : HandsPolicy::rung) {
    for (const int r : worker_pool_.hands.numbers()) {
      if (doorbell == &control_.doorbells[r].rings) worker_pool_.hands[r].rung = true;
    }
  }
  HandsPolicy::rung.clear();
}

bool SweptLine::move_all() {
  bool moved = false;
  for (Hand& hand : worker_pool_.hands) moved = move(hand) || moved;
  return moved && worker_pool_.problem.empty();
}

void SweptLine::play(int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < steps; ++i)
    move(worker_pool_.hands[static_cast<int>(random() % worker_pool_.hands.size())]);
  Hand& hand = worker_pool_.hands[victim()];
  if (hand.state == Hand::State::holding) complete_task(hand);
  if (hand.state == Hand::State::asleep)
    for (Watermark<H>* watermark : hand.waits_on) clear_waiter(watermark->waiters, victim());
  hand_out_wakes();
  hand.state = Hand::State::left;  // from here on it is the process that lives
}

bool SweptLine::wake_victim() {
  Hand& hand = worker_pool_.hands[victim()];
  hand_out_wakes();
  hand.rung = false;
  while (!hand.rung) {
    if (!move_all()) return false;
  }
  auto& doorbell =
      *reinterpret_cast<std::atomic<std::uint32_t>*>(&control_.doorbells[victim()].rings);
  SystemPolicy::wake(doorbell);
  return true;
}

}  // namespace brigade::stress
