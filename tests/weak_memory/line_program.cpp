#include "tests/weak_memory/line_program.h"

#include <cstring>
#include <new>

#include "base/text.h"

namespace brigade::weak_memory {
namespace {

using Replica = Channel<RecordedPolicy>;

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
template struct Expose<Readers, &Replica::readers_>;

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

LineProgram::LineProgram(const std::vector<support::StageSpec>& stages, std::uint64_t samples)
    : shape_(support::line_shape(stages)),
      samples_(samples),
      memory_(control_bytes<P>(shape_)),
      control_(create_control<P>(memory_.data(), shape_)) {
  set_first_values();
  number_words();
  for (int t = 0; t < threads(); ++t) {
    const int stage = stage_of(t);
    const int first = shape_.stages[static_cast<std::size_t>(stage)].first_replica;
    std::memset(working_.bytes, 0, sizeof working_.bytes);
    auto* channel = new (working_.bytes) Replica(control_, stage, 0, t - first);
    first_.push_back(keep(*channel));
    channel->~Replica();
  }
}

LineProgram::~LineProgram() {
  for (auto& room : kept_) room->channel()->~Replica();
}

void LineProgram::set_first_values() {
  for (DomainWords<P>* domain : control_.domains) {
    domain->end.value.store(samples_, std::memory_order_relaxed);
  }
  control_.phase->value.store(static_cast<std::uint64_t>(Phase::running),
                              std::memory_order_relaxed);
}

template <class T>
void LineProgram::number(RecordedPolicy::Atomic<T>& word, Role role, int stage,
                         const std::string& name) {
  word.number(static_cast<int>(words_.size()));
  words_.push_back({role, stage, static_cast<uint32_t>(word.raw()), name});
}

void LineProgram::number_words() {
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    LaneWords<P>& lane = control_.stages[static_cast<std::size_t>(s)].lanes[0];
    number(lane.mark->low.value, Role::kLow, s, concat("low[", s, "]"));
    number(lane.mark->waiters.bits[0], Role::kWaiters, s, concat("waiters[", s, "]"));
    const LaneShape& shape = shape_.stages[static_cast<std::size_t>(s)].lanes[0];
    for (std::uint64_t w = 0; !shape.in_order && w < shape.window; ++w) {
      number(lane.table.lines()[w].value, Role::kTaskWord, s, concat("task[", s, "][", w, "]"));
    }
  }
  for (int t = 0; t < threads(); ++t) {
    number(control_.bells[t].rings, Role::kBell, stage_of(t), concat("bell[", t, "]"));
  }
  BRIGADE_CHECK(words_.size() <= kWords, words_.size());
}

void LineProgram::prepare(State& state) const {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    state.memory.words[w].entries[0].value = words_[w].first;
  }
  for (std::size_t t = 0; t < first_.size(); ++t) state.threads[t].from = first_[t];
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
  std::memset(working_.bytes, 0, sizeof working_.bytes);
  Replica& channel = *new (working_.bytes) Replica(*kept_[from]->channel());
  working_in_use_ = true;
  const Attempt<P> found = claim_or_wait<P>(
      control_.bells[thread], thread, 0, [&] { return channel.try_claim(); },
      [&] { channel.pay(); });
  if (found.look == Look::ended) return false;
  const int stage = stage_of(thread);
  Machine::active->claim(stage, static_cast<int>(found.task));
  work(stage, found.task);
  channel.finish(found.task);
  from = keep(channel);
  return true;
}

void LineProgram::work(int stage, std::uint64_t task) {
  const StageShape& shape = shape_.stages[static_cast<std::size_t>(stage)];
  const LaneShape& lane = shape.lanes[0];
  for (std::uint64_t s = task * lane.task; s < (task + 1) * lane.task; ++s) {
    for (const int input : lane.inputs) {
      Machine::active->use_row(false, row_of(input, s), static_cast<int>(s));
    }
    if (shape.rows > 0) Machine::active->use_row(true, row_of(stage, s), static_cast<int>(s));
  }
}

int LineProgram::stage_of(int thread) const {
  int stage = 0;
  while (thread >= shape_.stages[static_cast<std::size_t>(stage)].first_replica +
                       shape_.stages[static_cast<std::size_t>(stage)].replicas) {
    ++stage;
  }
  return stage;
}

int LineProgram::row_of(int stage, std::uint64_t sample) const {
  std::uint64_t row = 0;
  for (int s = 0; s < stage; ++s) row += shape_.stages[static_cast<std::size_t>(s)].rows;
  row += sample % shape_.stages[static_cast<std::size_t>(stage)].rows;
  BRIGADE_CHECK(row < kRows, row);
  return static_cast<int>(row);
}

Access LineProgram::name(int thread, const Operation& operation, FaultPoint after) const {
  const Word& word = words_[operation.word];
  const bool advances =
      after == FaultPoint::advance_loop || after == FaultPoint::advance_before_cas;
  switch (word.role) {
    case Role::kLow:
      if (operation.kind == Kind::kStore) return Access::kFinishLow;
      if (operation.kind == Kind::kCas) return Access::kAdvanceCas;
      if (advances) return Access::kAdvanceLow;
      return word.stage == stage_of(thread) ? Access::kOwnLow : Access::kReached;
    case Role::kTaskWord:
      if (operation.kind == Kind::kExchange) return Access::kFinishDone;
      if (operation.kind == Kind::kCas) return Access::kClaimCas;
      return advances ? Access::kAdvanceWord : Access::kClaimLook;
    case Role::kWaiters:
      if (operation.kind == Kind::kLoad) return Access::kGlance;
      if (operation.kind == Kind::kAnd) return Access::kClearWaiter;
      return operation.operand == 0 ? Access::kWakeLook : Access::kSetWaiter;
    case Role::kBell:
      if (operation.kind == Kind::kLoad) return Access::kBellLook;
      return operation.kind == Kind::kAdd ? Access::kRing : Access::kNone;
    default:
      return Access::kNone;
  }
}

const char* LineProgram::at_end(const State& state) const {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const uint32_t value = state.memory.newest_value(static_cast<int>(w));
    if (words_[w].role == Role::kLow && value != samples_) return "a mark is not at the end";
    if (words_[w].role == Role::kWaiters && value != 0) return "a bit is left in waiters";
  }
  for (std::size_t s = 0; s < shape_.stages.size(); ++s) {
    const std::uint64_t tasks = samples_ / shape_.stages[s].lanes[0].task;
    if (state.claimed[s] != (1u << tasks) - 1) return "a task was never claimed";
  }
  return nullptr;
}

std::string LineProgram::word_name(int word) const {
  return words_[static_cast<std::size_t>(word)].name;
}

std::string LineProgram::thread_name(int thread) const {
  const int stage = stage_of(thread);
  const int first = shape_.stages[static_cast<std::size_t>(stage)].first_replica;
  return concat("stage ", stage, ".", thread - first);
}

}  // namespace brigade::weak_memory
