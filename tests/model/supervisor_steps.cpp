#include "tests/model/supervisor_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace brigade::model {
namespace {

using Steps = std::vector<SupervisorAt>;

// The repair table, top to bottom.
const Steps kTable = {SupervisorAt::kSettle,       SupervisorAt::kQuarantine, SupervisorAt::kReopen,
                      SupervisorAt::kAdvanceLevel, SupervisorAt::kClearBits,  SupervisorAt::kCount,
                      SupervisorAt::kRing,         SupervisorAt::kFinish};

Steps without(SupervisorAt step) {
  Steps steps = kTable;
  steps.erase(std::find(steps.begin(), steps.end(), step));
  return steps;
}

Steps with_first(SupervisorAt step) {
  Steps steps = without(step);
  steps.insert(steps.begin(), step);
  return steps;
}

Steps swapped(SupervisorAt one, SupervisorAt other) {
  Steps steps = kTable;
  std::iter_swap(std::find(steps.begin(), steps.end(), one),
                 std::find(steps.begin(), steps.end(), other));
  return steps;
}

Steps order_for(Fault fault) {
  switch (fault) {
    case Fault::kNoReopen:
      return without(SupervisorAt::kReopen);
    case Fault::kNoRepairAdvance:
      return without(SupervisorAt::kAdvanceLevel);
    case Fault::kNoRepairsCount:
      return without(SupervisorAt::kCount);
    case Fault::kRepairsCountFirst:
      return with_first(SupervisorAt::kCount);
    case Fault::kNoRepairDoorbells:
      return without(SupervisorAt::kRing);
    case Fault::kNoSettle:
      return without(SupervisorAt::kSettle);
    case Fault::kSettleAfterReopen:
      return swapped(SupervisorAt::kSettle, SupervisorAt::kReopen);
    case Fault::kQuarantineAfterOpen:
      return swapped(SupervisorAt::kQuarantine, SupervisorAt::kReopen);
    default:
      return kTable;
  }
}

const Steps& repair_order(Fault fault) {
  static const std::vector<Steps> orders = [] {
    std::vector<Steps> all;
    for (int f = 0; f < 64; ++f) all.push_back(order_for(static_cast<Fault>(f)));
    return all;
  }();
  return orders[static_cast<size_t>(fault)];
}

}  // namespace

SupervisorSteps::SupervisorSteps(SharedMemory& shared)
    : shared_(shared), state_(shared.state), graph_(shared.graph), me_(state_.supervisor) {}

void SupervisorSteps::choices(Choices& open) const {
  if (me_.at == SupervisorAt::kRing || me_.at == SupervisorAt::kStopRing ||
      me_.at == SupervisorAt::kEndRing) {
    for (uint8_t c = 0; shared_.may_ring(me_.bits, c); ++c) open.push_back(c);
    return;
  }
  if (me_.at != SupervisorAt::kIdle) return open.push_back(0);
  for (int r = 0; r < graph_.replicas(); ++r) {
    const At at = state_.replica[r].at;
    if (at == At::kDead) open.push_back(static_cast<uint8_t>(kRepair + r));
    if (at == At::kReaped && graph_.scenario().restart) {
      open.push_back(static_cast<uint8_t>(kRestart + r));
    }
  }
  for (int d = 0; d < graph_.index_spaces() && graph_.stops(); ++d) {
    if (state_.stop[d] == 0 && graph_.scenario().stop)
      open.push_back(static_cast<uint8_t>(kStopIndexSpace + d));
    if (state_.stop[d] == 1 && shared_.all_or_gone_acknowledged(d)) {
      open.push_back(static_cast<uint8_t>(kLowerEnd + d));
    }
  }
}

void SupervisorSteps::run(int choice) {
  switch (me_.at) {
    case SupervisorAt::kIdle:
      return take_up(choice);
    case SupervisorAt::kSettle:
      settle();
      return next_repair_step();
    case SupervisorAt::kQuarantine:
      state_.quarantined = 1;
      return next_repair_step();
    case SupervisorAt::kReopen:
      return reopen();
    case SupervisorAt::kAdvanceLevel:
      me_.seen = state_.level[me_.watermark];
      me_.at = SupervisorAt::kAdvanceWord;
      return;
    case SupervisorAt::kAdvanceWord:
      return load_word_at_level();
    case SupervisorAt::kAdvanceCas:
      return cas_level();
    case SupervisorAt::kClearBits:
      return clear_bit();
    case SupervisorAt::kCount:
      count_repair();
      return next_repair_step();
    case SupervisorAt::kRing:
      return ring_one(choice);
    case SupervisorAt::kFinish:
      return finish_repair();
    case SupervisorAt::kStopRing:
    case SupervisorAt::kEndRing:
      shared_.ring_one_of(me_.bits, choice);
      if (me_.bits == 0) me_ = Supervisor{};
      return;
    case SupervisorAt::kStopTwo:
      state_.stop[me_.watermark] = 2;
      me_.at = SupervisorAt::kEndRing;
      me_.bits = graph_.index_space(me_.watermark).replicas;
      if (graph_.faulty(Fault::kEndWithoutDoorbells)) me_ = Supervisor{};
      return;
  }
}

void SupervisorSteps::take_up(int choice) {
  if (choice >= kLowerEnd) return lower_end(choice - kLowerEnd);
  if (choice >= kStopIndexSpace) return ask_stop(choice - kStopIndexSpace);
  if (choice >= kRestart) return restart(choice - kRestart);
  repair(choice - kRepair);
}

// The step that finds the death also does the first thing that the table asks for.
void SupervisorSteps::repair(int replica) {
  me_.victim = static_cast<uint8_t>(replica);
  if (graph_.faulty(Fault::kRestartBeforeRepair)) restart(replica);
  const bool gone = !graph_.scenario().restart && !graph_.faulty(Fault::kGoneNeverAcknowledges);
  const StageSpec& stage = graph_.stage(graph_.stage_of_replica(replica));
  const bool shares_stream = stage.stream && stage.replicas > 1;
  if (shares_stream && gone) state_.replica[replica].ack = 1;
  next_repair_step();
}

void SupervisorSteps::restart(int replica) {
  Replica& r = state_.replica[replica];
  const Watermark& watermark =
      graph_.watermark(graph_.first_watermark(graph_.stage_of_replica(replica)));
  r.flags = 0;
  r.repairs_changed = watermark.words ? 1 : 0;
  r.at = watermark.words ? At::kRepairs : At::kCursor;
}

// Steps that find nothing to do are passed over: what they look at cannot change any more.
void SupervisorSteps::next_repair_step() {
  const Steps& order = repair_order(graph_.scenario().fault);
  auto step = me_.at == SupervisorAt::kIdle ? order.begin()
                                            : std::find(order.begin(), order.end(), me_.at) + 1;
  while (!has_work(*step)) ++step;
  me_.at = *step;
  const int stage = graph_.stage_of_replica(me_.victim);
  me_.seen = 0;
  me_.watermark = static_cast<uint8_t>(
      me_.at == SupervisorAt::kAdvanceLevel ? graph_.first_watermark(stage) : 0);
  if (me_.at != SupervisorAt::kRing) return;
  const bool narrow = graph_.faulty(Fault::kDoorbellsOfNeighboursOnly);
  me_.bits = narrow ? graph_.neighbourhood(stage) : graph_.index_space_mates(stage);
}

bool SupervisorSteps::has_work(SupervisorAt step) {
  const int stage = graph_.stage_of_replica(me_.victim);
  int watermark = 0, entry = 0;
  switch (step) {
    case SupervisorAt::kSettle:
      return graph_.scenario().tallies;
    case SupervisorAt::kQuarantine:
      return (state_.replica[me_.victim].flags & kBlamed) != 0 && state_.poison_deaths >= 2;
    case SupervisorAt::kReopen:
      return claimed_by_victim(watermark, entry);
    case SupervisorAt::kAdvanceLevel:
    case SupervisorAt::kCount:
      return graph_.watermark(graph_.first_watermark(stage)).words;
    case SupervisorAt::kClearBits:
      return std::any_of(std::begin(state_.waiters), std::end(state_.waiters),
                         [&](uint8_t bits) { return (bits & bit(me_.victim)) != 0; });
    default:
      return true;
  }
}

// One step: the entries and a word CLAIMED by the dead are not touched by anybody else.
void SupervisorSteps::settle() {
  Replica& dead = state_.replica[me_.victim];
  const int good = shared_.counting_entry(me_.victim);
  dead.tally[1 - good] = dead.tally[good];
  dead.newest = Newest::kEqual;
}

bool SupervisorSteps::claimed_by_victim(int& watermark, int& entry) const {
  const int stage = graph_.stage_of_replica(me_.victim);
  const int first = graph_.first_watermark(stage);
  for (watermark = first; watermark < first + graph_.tables(stage); ++watermark) {
    if (!graph_.watermark(watermark).words) continue;
    for (entry = 0; entry < graph_.watermark(watermark).window; ++entry) {
      if (owned(state_.word[watermark][entry], me_.victim)) return true;
    }
  }
  return false;
}

void SupervisorSteps::reopen() {
  int watermark = 0, entry = 0;
  if (claimed_by_victim(watermark, entry)) state_.word[watermark][entry].tag = tag(kOpen, 0);
  if (!claimed_by_victim(watermark, entry)) next_repair_step();
}

void SupervisorSteps::load_word_at_level() {
  using Passable = SharedMemory::Passable;
  const Passable passable = shared_.look_at_level(me_.watermark, me_.seen);
  if (passable == Passable::kYes) {
    me_.at = SupervisorAt::kAdvanceCas;
    return;
  }
  me_.seen = 0;
  me_.at = SupervisorAt::kAdvanceLevel;
  if (passable == Passable::kPassedAlready) return;
  const int stage = graph_.stage_of_replica(me_.victim);
  if (++me_.watermark == graph_.first_watermark(stage) + graph_.tables(stage)) next_repair_step();
}

void SupervisorSteps::cas_level() {
  shared_.move_level(me_.watermark, me_.seen);
  me_.seen = 0;
  me_.at = SupervisorAt::kAdvanceLevel;
}

void SupervisorSteps::clear_bit() {
  for (uint8_t& waiters : state_.waiters) {
    if ((waiters & bit(me_.victim)) == 0) continue;
    waiters = static_cast<uint8_t>(waiters & ~bit(me_.victim));
    break;
  }
  if (!has_work(SupervisorAt::kClearBits)) next_repair_step();
}

void SupervisorSteps::count_repair() {
  const int stage = graph_.stage_of_replica(me_.victim);
  for (int r = 0; r < graph_.replicas(); ++r) {
    if (graph_.stage_of_replica(r) == stage) state_.replica[r].repairs_changed = 1;
  }
}

void SupervisorSteps::ring_one(int choice) {
  shared_.ring_one_of(me_.bits, choice);
  if (me_.bits == 0) next_repair_step();
}

void SupervisorSteps::finish_repair() {
  Replica& r = state_.replica[me_.victim];
  r.flags = static_cast<uint8_t>(r.flags & ~kBlamed);
  if (r.at == At::kDead) r.at = At::kReaped;
  me_ = Supervisor{};
}

void SupervisorSteps::ask_stop(int index_space) {
  state_.stop[index_space] = 1;
  me_.at = SupervisorAt::kStopRing;
  me_.bits = graph_.index_space(index_space).sources;
}

// Sources that have acknowledged claim nothing, so their words stand still: one step.
void SupervisorSteps::lower_end(int index_space) {
  const int end = std::min<int>(state_.end[index_space], shared_.claimed_up_to(index_space));
  shared_.check_lowered_end(index_space, end);
  state_.end[index_space] = static_cast<uint8_t>(end);
  me_.watermark = static_cast<uint8_t>(index_space);
  me_.at = SupervisorAt::kStopTwo;
}

}  // namespace brigade::model
