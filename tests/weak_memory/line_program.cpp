#include "tests/weak_memory/line_program.h"

#include <cstring>
#include <new>

#include <brigade/text.h>

namespace brigade::weak_memory {
namespace {

using Replica = Channel<RecordedPolicy>;

// In place of private memory: what the supervisor does next.
constexpr uint16_t kSupervises = 0xffff;
constexpr uint16_t kHasAsked = 0xfffe;

// What a channel remembers between tasks is private to it; a test that stores and compares it may
// look. (An explicit instantiation may name private members.)
template <class Tag, auto kMember>
struct Expose {
  friend auto member(Tag) { return kMember; }
};
struct Inputs {
  friend auto member(Inputs);
};
struct Readers {
  friend auto member(Readers);
};
template struct Expose<Inputs, &Replica::inputs_>;
struct AnyOrder {
  friend auto member(AnyOrder);
};
template struct Expose<Readers, &Replica::readers_>;
template struct Expose<AnyOrder, &Replica::any_order_>;

// All bytes of a channel, with what its two lists hold in place of where that lies.
std::string content_of(const Replica& channel) {
  std::string bytes(reinterpret_cast<const char*>(&channel), sizeof(Replica));
  std::string lists;
  const auto unfold = [&](const auto& list) {
    const auto at = reinterpret_cast<const char*>(&list) - reinterpret_cast<const char*>(&channel);
    std::memset(bytes.data() + at, 0, sizeof list);
    for (const auto& neighbour : list) lists += concat(neighbour.reached, ",");
    lists += ";";
  };
  unfold(channel.*member(Inputs{}));
  unfold(channel.*member(Readers{}));
  return bytes + lists;
}

}  // namespace

LineProgram::LineProgram(const ByStage<support::StageSpec>& stages, std::uint64_t samples,
                         WakeOrder order, const Script& script)
    : shape_(support::line_shape(stages)),
      samples_(samples),
      script_(script),
      memory_(control_bytes<P>(shape_)),
      control_(create_control<P>(memory_.data(), shape_, order)) {
  set_first_values();
  number_words();
  for (int t = 0; t < shape_.replicas; ++t) {
    const StageNumber stage = stage_of(t);
    const int first = shape_.stages[stage].first_replica;
    std::memset(working_.bytes, 0, sizeof working_.bytes);
    auto* channel = new (working_.bytes) Replica(control_, stage, 0, t - first);
    if (stages[stage].any_order) channel->take_any_order();
    first_.push_back(keep(*channel));
    channel->~Replica();
  }
  if (has_supervisor()) first_.push_back(kSupervises);
}

LineProgram::~LineProgram() {
  for (auto& room : kept_) room->channel()->~Replica();
}

void LineProgram::set_first_values() {
  for (IndexSpaceWords<P>* index_space : control_.index_spaces) {
    index_space->end.value.store(samples_, std::memory_order_relaxed);
  }
  control_.phase->value.store(static_cast<std::uint64_t>(Phase::running),
                              std::memory_order_relaxed);
}

template <class T>
void LineProgram::number(RecordedPolicy::Atomic<T>& word, Role role, StageNumber stage,
                         const std::string& name) {
  word.number(static_cast<int>(words_.size()));
  words_.push_back({role, stage, static_cast<uint32_t>(word.raw()), name});
}

void LineProgram::number_words() {
  for (const StageNumber s : shape_.stages.numbers()) {
    QueueWords<P>& queue = control_.stages[s].queues[0];
    number(queue.watermark->level.value, Role::kLevel, s, concat("level[", s.value(), "]"));
    number(queue.watermark->waiters.bits[0], Role::kWaiters, s, concat("waiters[", s.value(), "]"));
    const QueueShape& shape = shape_.stages[s].queues[0];
    for (std::uint64_t w = 0; !shape.in_order && w < shape.window; ++w) {
      number(queue.table.lines()[w].value, Role::kTaskWord, s,
             concat("task[", s.value(), "][", w, "]"));
    }
  }
  for (int t = 0; t < shape_.replicas; ++t) {
    number(control_.doorbells[t].rings, Role::kDoorbell, stage_of(t), concat("doorbell[", t, "]"));
    number(control_.doorbells[t].until, Role::kUntil, stage_of(t), concat("until[", t, "]"));
    control_.replicas[t].in_flight.value.ignore();
  }
  if (script_.victim >= 0) {
    const StageNumber stage = stage_of(script_.victim);
    number(control_.stages[stage].repairs->value, Role::kRepairs, stage, "repairs");
    if (script_.empty_slots != 0) number_tally();
  }
  if (script_.stop) {
    number(control_.index_spaces[0]->end.value, Role::kEnd, 0, "end");
    number(control_.index_spaces[0]->stop.value, Role::kStop, 0, "stop");
    for (int r = 0; r < shape_.stages[0].replicas; ++r)
      number(control_.replicas[r].ack.value, Role::kAck, 0, concat("ack[", r, "]"));
  }
  BRIGADE_CHECK(words_.size() <= kWords, words_.size());
}

void LineProgram::number_tally() {
  QueueWords<P>& queue = control_.stages[stage_of(script_.victim)].queues[0];
  for (TallyEntry<P>& entry : queue.tallies[0].entries) {
    number(entry.sequence, Role::kTally, 0, "tally.sequence");
    number(entry.task, Role::kTally, 0, "tally.task");
    number(entry.empty_slots, Role::kTally, 0, "tally.empty_slots");
    for (auto* word :
         {&entry.pads, &entry.dropped, &entry.quarantined, &entry.samples_done, &entry.consumed})
      word->ignore();
  }
}

void LineProgram::prepare(State& state) const {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    state.memory.words[w].entries[0].value = words_[w].first;
  }
  for (std::size_t t = 0; t < first_.size(); ++t) state.threads[t].from = first_[t];
  if (script_.victim >= 0) state.deaths_left = 1;
}

// What it held may be claimed again.
void LineProgram::reaped(State& state, int thread) const {
  if (state.held[thread] == 0) return;
  uint16_t& claimed = state.claimed[index_of(stage_of(thread))];
  claimed = static_cast<uint16_t>(claimed & ~(1u << (state.held[thread] - 1)));
  state.held[thread] = 0;
}

uint16_t LineProgram::keep(const Replica& channel) {
  const auto [found, is_new] =
      kept_by_content_.emplace(content_of(channel), static_cast<uint16_t>(kept_.size()));
  if (is_new) {
    kept_.push_back(std::make_unique<Room>());
    std::memset(kept_.back()->bytes, 0, sizeof(Room::bytes));
    new (kept_.back()->bytes) Replica(channel);
  }
  return found->second;
}

bool LineProgram::turn(int thread, uint16_t& from) {
  if (working_in_use_) working_.channel()->~Replica();  // a longjmp has left it
  working_in_use_ = false;
  RecordedPolicy::sunk = {};
  supervising_ = from == kSupervises || from == kHasAsked;
  if (supervising_) return supervise(from);
  std::memset(working_.bytes, 0, sizeof working_.bytes);
  Replica& channel = *new (working_.bytes) Replica(*kept_[from]->channel());
  working_in_use_ = true;
  const int me = replica_of(thread);
  const Attempt<P> found = claim_or_wait<P>(control_, me, 0, [&] { return channel.try_claim(); });
  if (found.look == Look::ended) return false;
  const StageNumber stage = stage_of(thread);
  Machine::active->claim(stage.value(), static_cast<int>(found.task));
  if (script_.mistake == Script::Mistake::acknowledged_in_hand) acknowledge_in_hand(thread);
  work(stage, found.task);
  SlotCounts not_full;
  not_full.empty_slots = script_.empty_slots >> found.task & 1;
  finish(channel, found.task, not_full);
  from = keep(channel);
  return true;
}

void LineProgram::finish(Replica& channel, std::uint64_t task, const SlotCounts& not_full) {
  bool& any_order = channel.*member(AnyOrder{});
  const bool takes_what_is_done = any_order;
  if (script_.mistake == Script::Mistake::not_brought_along) any_order = false;
  channel.finish(task, not_full);
  any_order = takes_what_is_done;
}

bool LineProgram::supervise(uint16_t& from) {
  if (script_.victim >= 0) return repair_the_dead(from);
  if (from == kSupervises) {
    ask_stop(control_);
    from = kHasAsked;
    return true;
  }
  int acks[kThreads] = {-1, -1, -1, -1};
  for (int r = 0; r < shape_.stages[0].replicas; ++r)
    acks[r] = control_.replicas[r].ack.value.number();
  const uint32_t ended = Machine::active->await(acks);
  const auto gone = [&](int replica) { return (ended >> replica & 1) != 0; };
  if (!all_acknowledged(control_, gone)) return true;  // an old value: asks again
  lower_end(control_, 0, multiple());
  return false;
}

bool LineProgram::repair_the_dead(uint16_t& from) {
  if (!Machine::active->reap(script_.victim)) return false;
  const StageNumber stage = stage_of(script_.victim);
  const int replica = script_.victim - shape_.stages[stage].first_replica;
  if (script_.mistake == Script::Mistake::counted_first) {
    repair(control_, stage, replica, {}, {false, false, false, false, true, false});
    RepairRules rest;
    rest.count = false;
    repair(control_, stage, replica, {}, rest);
  } else {
    repair(control_, stage, replica, {}, script_.rules);
  }
  if (!script_.restart) return false;
  std::memset(working_.bytes, 0, sizeof working_.bytes);
  const auto* channel = new (working_.bytes) Replica(control_, stage, 0, replica);
  working_in_use_ = true;
  from = keep(*channel);
  return true;
}

void LineProgram::acknowledge_in_hand(int thread) {
  if (stage_of(thread) != 0) return;
  const auto asked = static_cast<std::uint64_t>(Stop::asked);
  if (control_.index_spaces[0]->stop.value.load(std::memory_order_seq_cst) == asked)
    control_.replicas[thread].ack.value.store(1, std::memory_order_seq_cst);
}

void LineProgram::work(StageNumber stage, std::uint64_t task) {
  const StageShape& shape = shape_.stages[stage];
  const QueueShape& queue = shape.queues[0];
  for (std::uint64_t s = task * queue.task; s < (task + 1) * queue.task; ++s) {
    for (const StageNumber input : queue.inputs) {
      Machine::active->use_slot(false, slot_of(input, s), static_cast<int>(s));
    }
    if (shape.slots > 0) Machine::active->use_slot(true, slot_of(stage, s), static_cast<int>(s));
  }
}

int LineProgram::replica_of(int thread) const {
  return thread == shape_.replicas ? script_.victim : thread;
}

StageNumber LineProgram::stage_of(int thread) const {
  thread = replica_of(thread);
  StageNumber stage = 0;
  while (thread >= shape_.stages[stage].first_replica + shape_.stages[stage].replicas) {
    ++stage;
  }
  return stage;
}

int LineProgram::slot_of(StageNumber stage, std::uint64_t sample) const {
  std::uint64_t slot = 0;
  for (StageNumber s = 0; s < stage; ++s) slot += shape_.stages[s].slots;
  slot += sample % shape_.stages[stage].slots;
  BRIGADE_CHECK(slot < kSlots, slot);
  return static_cast<int>(slot);
}

Access LineProgram::name(int thread, const Operation& operation, FaultPoint after) const {
  if (operation.kind == Kind::kBarrier) return Access::kBarrier;
  const Word& word = words_[operation.word];
  const bool advances =
      after == FaultPoint::advance_loop || after == FaultPoint::advance_before_cas;
  switch (word.role) {
    case Role::kLevel:
      if (operation.kind == Kind::kStore || operation.kind == Kind::kExchange)
        return Access::kFinishLevel;
      if (operation.kind == Kind::kCas) return Access::kAdvanceCas;
      if (advances) return Access::kAdvanceLevel;
      return word.stage == stage_of(thread) ? Access::kOwnLevel : Access::kReached;
    case Role::kTaskWord:
      if (operation.kind == Kind::kExchange) return Access::kFinishDone;
      if (operation.kind == Kind::kCas) return Access::kClaimCas;
      if (operation.kind == Kind::kStore) return Access::kReopen;
      if (advances) return Access::kAdvanceWord;
      if (!supervising_ && word.stage != stage_of(thread)) return Access::kDoneAbove;
      return supervising_ ? Access::kWordLook : Access::kClaimLook;
    case Role::kWaiters:
      if (operation.kind == Kind::kLoad)
        return after == FaultPoint::wake_before_load ? Access::kWakeLook : Access::kGlance;
      return operation.kind == Kind::kAnd ? Access::kClearWaiter : Access::kSetWaiter;
    case Role::kDoorbell:
      if (operation.kind == Kind::kLoad) return Access::kDoorbellLook;
      return operation.kind == Kind::kAdd ? Access::kRing : Access::kNone;
    case Role::kUntil:
      return operation.kind == Kind::kLoad ? Access::kReadUntil : Access::kSayUntil;
    case Role::kTally:
      return operation.kind == Kind::kStore && words_[operation.word].name == "tally.sequence"
                 ? Access::kTallyCommit
                 : Access::kNone;
    case Role::kRepairs:
      return operation.kind == Kind::kAdd ? Access::kCountRepair : Access::kRepairsLook;
    case Role::kStop:
      if (operation.kind == Kind::kLoad) return Access::kStopLook;
      return operation.operand == static_cast<uint32_t>(Stop::asked) ? Access::kAskStop
                                                                     : Access::kEndIsSet;
    case Role::kAck:
      return operation.kind == Kind::kLoad ? Access::kAckLook : Access::kAcknowledge;
    case Role::kEnd:
      if (operation.kind == Kind::kStore) return Access::kLowerEnd;
      return supervising_ ? Access::kNone : Access::kEndLook;
    default:
      return Access::kNone;
  }
}

const char* LineProgram::at_end(const State& state) const {
  std::uint64_t end = samples_;
  for (std::size_t w = 0; w < words_.size(); ++w)
    if (words_[w].role == Role::kEnd) end = state.memory.newest_value(static_cast<int>(w));
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const uint32_t value = state.memory.newest_value(static_cast<int>(w));
    if (words_[w].role == Role::kLevel && value != end) return "a watermark is not at the end";
    if (words_[w].role == Role::kWaiters && value != 0) return "a bit is left in waiters";
  }
  for (const StageNumber s : shape_.stages.numbers()) {
    const std::uint64_t tasks = end / shape_.stages[s].queues[0].task;
    if (state.claimed[index_of(s)] != (1u << tasks) - 1)
      return "a task was never claimed, or beyond the end";
  }
  if (counted_empty_slots(state) !=
      static_cast<std::uint64_t>(__builtin_popcount(script_.empty_slots)))
    return "the tally is wrong";
  return nullptr;
}

/// As the newest entry of the victim's tally says, after everything is done.
std::uint64_t LineProgram::counted_empty_slots(const State& state) const {
  std::uint64_t sequence = 0, empty_slots = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    if (words_[w].name != "tally.sequence") continue;
    const auto at = static_cast<int>(w);  // task and empty slots follow it
    if (state.memory.newest_value(at) <= sequence) continue;
    sequence = state.memory.newest_value(at);
    empty_slots = state.memory.newest_value(at + 2);
  }
  return empty_slots;
}

std::string LineProgram::word_name(int word) const { return words_[word].name; }

std::string LineProgram::thread_name(int thread) const {
  if (thread == shape_.replicas) return "supervisor, successor";
  const StageNumber stage = stage_of(thread);
  const int first = shape_.stages[stage].first_replica;
  return concat("stage ", stage.value(), ".", thread - first);
}

}  // namespace brigade::weak_memory
