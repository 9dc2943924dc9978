#include "tests/stress/swept_line.h"

#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "base/text.h"
#include "transports/stop.h"

namespace brigade::stress {
namespace {

constexpr std::size_t kTasksMax = 256;  // of a stage

std::uint64_t pool_bytes(const StageShape& stage) {
  return (stage.rows * (sizeof(RowHeader) + kSweptPayloadBytes) + 63) / 64 * 64;
}

MappedMemory shared_memory(std::uint64_t bytes) {
  const MemoryFile file = MemoryFile::create("sweep", bytes).value();
  MappedMemory memory = map_memory(file.fd(), bytes, MapMode::read_write).value();
  BRIGADE_CHECK(madvise(memory.data(), bytes, MADV_DOFORK) == 0);  // the stepped process is a fork
  return memory;
}

}  // namespace

SweptLine::SweptLine(const SweptSpec& spec, int victim_stage)
    : spec_(spec), victim_stage_(victim_stage), shape_(shape_from(spec)) {
  bytes_ = control_bytes<H>(shape_);
  std::vector<std::uint64_t> offsets;
  for (const StageShape& stage : shape_.stages) {
    offsets.push_back(bytes_);
    bytes_ += pool_bytes(stage);
  }
  memory_ = shared_memory(bytes_);
  section_memory_ = shared_memory(sizeof(int));
  section_ = reinterpret_cast<volatile int*>(section_memory_.data());
  control_ = create_control<H>(memory_.data(), shape_, WakeOrder::by_sleeper);
  for (std::size_t s = 0; s < shape_.stages.size(); ++s) {
    const std::uint64_t rows = shape_.stages[s].rows;
    pools_.emplace_back(memory_.data() + offsets[s], std::max<std::uint64_t>(rows, 1),
                        std::vector<RowArray>{{rows * sizeof(RowHeader), kSweptPayloadBytes}});
  }
  for (int d = 0; d < std::max(1, spec.merged); ++d) {
    set_end(control_, d, spec.samples, spec.samples, 1);
  }
  HandsPolicy::rung.clear();
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    crew_.finished.emplace_back(kTasksMax);
    for (int r = 0; r < shape_of(s).replicas; ++r) crew_.hands.push_back(new_hand(s, r));
  }
}

/// Of a merge: lane 0 is its output, and one lane for each of its sources, all domains apart.
GraphShape SweptLine::shape_from(const SweptSpec& spec) {
  GraphShape shape = support::line_shape(spec.stages);
  if (spec.merged == 0) return shape;
  const auto sources = static_cast<std::size_t>(spec.merged);
  shape.domains = spec.merged + 1;
  StageShape& merge = shape.stages[sources];
  merge.source = false;
  merge.journal_ports = spec.merged;
  merge.lanes[0].domain = spec.merged;
  for (int s = 0; s < spec.merged; ++s) {
    shape.stages[static_cast<std::size_t>(s)].lanes[0].domain = s;
    LaneShape lane = merge.lanes[0];
    lane.domain = s;
    lane.inputs = {s};
    merge.lanes.push_back(lane);
  }
  shape.stages.back().lanes[0].domain = spec.merged;
  shape.epoch_ends.assign(sources, 0);
  shape.epoch_ends.push_back(1);
  return shape;
}

SweptLine::Hand SweptLine::new_hand(int stage, int replica) {
  Hand hand{Channel<H>(control_, stage, 0, replica), stage, replica};
  if (is_merge(stage)) hand.state = Hand::State::left;  // it lives in live_as_merge()
  return hand;
}

void SweptLine::say(std::string problem) {
  if (crew_.problem.empty()) crew_.problem = std::move(problem);
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
      const Attempt<H> attempt = hand.channel.try_claim();
      if (hand.waits_on != nullptr) {
        clear_waiter(hand.waits_on->waiters, shape_of(hand.stage).first_replica + hand.replica);
      }
      hand.state = Hand::State::looking;
      found(hand, attempt);
      break;
    }
    case Hand::State::looking: {
      const Attempt<H> attempt = hand.channel.try_claim();
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
  Mark<H>* const mark = blocked.blocked_on;
  const int global = shape_of(hand.stage).first_replica + hand.replica;
  hand_out_wakes();
  control_.bells[global].until.store(blocked.until);
  if (mark != nullptr) set_waiter(mark->waiters, global);
  const Attempt<H> again = hand.channel.try_claim();
  if (again.look == Look::blocked && again.blocked_on == mark && again.until >= blocked.until) {
    hand.state = Hand::State::asleep;
    hand.waits_on = mark;
    hand.rung = false;
    return;
  }
  if (mark != nullptr) clear_waiter(mark->waiters, global);
  found(hand, again);
}

void SweptLine::found(Hand& hand, const Attempt<H>& attempt) {
  if (attempt.look == Look::ended) {
    hand.state = Hand::State::left;
  }
  if (attempt.look != Look::claimed) return;
  for (const Hand& other : crew_.hands) {
    if (other.state == Hand::State::holding && other.stage == hand.stage &&
        other.task == attempt.task) {
      say(concat("task ", attempt.task, " of stage ", hand.stage, " is in two hands"));
    }
  }
  if (is_committed(hand.stage, attempt.task) || attempt.task >= kTasksMax) {
    return say(concat("task ", attempt.task, " of stage ", hand.stage, " was claimed when done"));
  }
  hand.state = Hand::State::holding;
  hand.task = attempt.task;
  spoil_rows(hand.stage, hand.task);  // half written, should anybody look
}

void SweptLine::complete_task(Hand& hand) {
  const RowCounts counts = work(hand.stage, hand.task);
  hand.channel.finish(hand.task, counts);
  ++crew_.finished[static_cast<std::size_t>(hand.stage)][hand.task];
  hand.state = Hand::State::looking;
}

void SweptLine::hand_out_wakes() {
  for (const void* bell : HandsPolicy::rung) {
    for (std::size_t r = 0; r < crew_.hands.size(); ++r) {
      if (bell == &control_.bells[r].rings) crew_.hands[r].rung = true;
    }
  }
  HandsPolicy::rung.clear();
}

bool SweptLine::move_all() {
  bool moved = false;
  for (Hand& hand : crew_.hands) moved = move(hand) || moved;
  return moved && crew_.problem.empty();
}

void SweptLine::play(int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < steps; ++i) move(crew_.hands[random() % crew_.hands.size()]);
  Hand& hand = crew_.hands[static_cast<std::size_t>(victim())];
  if (hand.state == Hand::State::holding) complete_task(hand);
  if (hand.state == Hand::State::asleep && hand.waits_on != nullptr) {
    clear_waiter(hand.waits_on->waiters, victim());
  }
  hand_out_wakes();
  hand.state = Hand::State::left;  // from here on it is the process that lives
}

bool SweptLine::wake_victim() {
  Hand& hand = crew_.hands[static_cast<std::size_t>(victim())];
  hand_out_wakes();
  hand.rung = false;
  while (!hand.rung) {
    if (!move_all()) return false;
  }
  auto& bell = *reinterpret_cast<std::atomic<std::uint32_t>*>(&control_.bells[victim()].rings);
  SystemPolicy::wake(bell);
  return true;
}

}  // namespace brigade::stress
