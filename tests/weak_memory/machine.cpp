#include "tests/weak_memory/machine.h"

#include <algorithm>
#include <cstdlib>

namespace brigade::weak_memory {
namespace {

constexpr const char* kTooManyEntries = "limit: a word has more entries than the machine keeps";
constexpr const char* kTooLong = "limit: a turn has more accesses than the machine keeps";

std::memory_order when_it_fails(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

constexpr const char* kAnotherUser = "another thread uses a word";
constexpr const char* kGoesRound = "livelock: a turn reads the same again and again";
constexpr int kPeriodMax = 8;

constexpr uint8_t kNoWord = 255;

// A turn that is longer than the machine keeps: whether its second half repeats a few results.
const char* too_long(const ThreadState& thread) {
  const uint32_t* const end = thread.results + kResultsMax;
  const uint32_t* const half = thread.results + kResultsMax / 2;
  for (int period = 1; period <= kPeriodMax; ++period)
    if (std::equal(half + period, end, half)) return kGoesRound;
  return kTooLong;
}

}  // namespace

Machine* Machine::active = nullptr;

Machine::Machine(Program& program, const Bounds& bounds, const Weaker& weaker)
    : program_(program), bounds_(bounds), weaker_(weaker) {
  active = this;
}

Machine::~Machine() { active = nullptr; }

Report Machine::explore(uint64_t states_max, Trace trace) {
  Report report;
  // An access by a thread that is not known to use the word ends a search.
  for (Trace as = Trace::kAsFound;;) {
    found_user_ = false;
    report = Explorer<Machine>(*this, states_max, as).explore();
    if (!found_user_ && (report.violation.empty() || as == trace)) return report;
    as = found_user_ ? Trace::kAsFound : trace;
  }
}

State Machine::initial() const {
  State state;
  state.switches_left = bounds_.switches;
  state.stale_left = bounds_.stale;
  for (WordHistory& word : state.memory.words) word.count = 1;  // every word begins as 0
  for (int t = 0; t < kThreads; ++t) state.threads[t].doing = Doing::kFinished;
  program_.prepare(state);
  for (int t = 0; t < program_.threads(); ++t) {
    state.threads[t].doing = Doing::kReady;
    run(state, t);
  }
  return state;
}

bool Machine::moves(const State& state, std::vector<Move>& moves) const {
  const bool last_can = state.last < kThreads && can_go_on(state, state.last);
  for (int t = 0; t < program_.threads(); ++t) {
    const ThreadState& thread = state.threads[t];
    if (!can_go_on(state, t)) continue;
    if (last_can && t != state.last && state.switches_left == 0) continue;
    moves.push_back({static_cast<uint8_t>(t), 0});
    const Operation& next = thread.next;
    if ((next.kind != Kind::kLoad && next.kind != Kind::kCas) || state.stale_left == 0) continue;
    const bool cas = next.kind == Kind::kCas;
    const auto order = cas ? when_it_fails(next.memory_order()) : next.memory_order();
    const WordHistory& word = state.memory.words[next.word];
    const int newest = state.memory.newest(next.word);
    for (int e = newest - 1; e >= state.memory.oldest(t, next.word, order); --e) {
      if (cas && word.entries[e].value == next.expected) continue;  // it could not fail
      moves.push_back({static_cast<uint8_t>(t), static_cast<uint8_t>(newest - e)});
    }
  }
  const bool some = !moves.empty();  // a death need not come
  for (int t = 0; t < program_.threads(); ++t) add_deaths(state, t, moves);
  return some;
}

// With each set of stores that it may not have made.
void Machine::add_deaths(const State& state, int t, std::vector<Move>& moves) const {
  const Doing doing = state.threads[t].doing;
  const bool lives = doing == Doing::kReady || doing == Doing::kAsleep;
  if (!lives || state.deaths_left == 0 || !program_.may_die(t)) return;
  const int sets = 1 << __builtin_popcount(state.loose);
  for (int missing = 0; missing < sets; ++missing)
    moves.push_back({static_cast<uint8_t>(t), static_cast<uint8_t>(kDies + missing)});
}

void Machine::die(State& state, int t, int missing) const {
  --state.deaths_left;
  state.threads[t].doing = Doing::kDead;
  for (int word = 0; word < kWords; ++word) {
    if ((state.loose >> word & 1) == 0) continue;
    if ((missing & 1) != 0) state.memory.undo(word);
    missing >>= 1;
  }
  state.loose = 0;
  forget(state);
}

bool Machine::can_go_on(const State& state, int t) {
  if (state.threads[t].doing != Doing::kReady) return false;
  const Operation& operation = state.threads[t].next;
  if (operation.kind == Kind::kReap) {
    const Doing doing = state.threads[operation.operand].doing;
    return doing == Doing::kDead || doing == Doing::kFinished;
  }
  if (operation.kind != Kind::kAwait) return true;
  for (int other = 0; other < kThreads; ++other) {
    const auto word = static_cast<uint8_t>(operation.operand >> (8 * other));
    const bool ended = state.threads[other].doing == Doing::kFinished;
    if (word != kNoWord && !ended && state.memory.newest_value(word) == 0) return false;
  }
  return true;
}

const char* Machine::apply(State& state, Move move) const {
  const int t = move.actor;
  broken_ = nullptr;
  if (move.choice >= kDies) {
    die(state, t, move.choice - kDies);
    return nullptr;
  }
  const bool last_can = state.last < kThreads && can_go_on(state, state.last);
  const bool counts = last_can && state.last != t && bounds_.switches != 255;
  if (counts) --state.switches_left;
  if (move.choice > 0 && bounds_.stale != 255) --state.stale_left;
  state.last = move.actor;
  if (bounds_.switches == 255) state.last = kThreads;
  const Operation operation = state.threads[t].next;
  if (operation.kind == Kind::kSleep &&
      state.memory.newest_value(operation.word) == operation.expected) {
    state.threads[t].doing = Doing::kAsleep;
  } else {
    go_on(state, t, perform(state, t, operation, move.choice));
  }
  forget(state);
  return found_user_ ? kAnotherUser : broken_;
}

void Machine::forget(State& state) const {
  int alive = 0;
  for (int t = 0; t < kThreads; ++t) {
    const Doing doing = state.threads[t].doing;
    if (doing == Doing::kFinished && !program_.is_awaited(t)) state.memory.views[t] = View{};
    if (doing == Doing::kReady || doing == Doing::kAsleep) alive |= 1 << t;
  }
  uint8_t readers[kWords];
  for (int w = 0; w < kWords; ++w) readers[w] = static_cast<uint8_t>(readers_[w] & alive);
  state.memory.forget(readers, state.loose);
}

uint32_t Machine::perform(State& state, int t, const Operation& operation, int choice) const {
  Memory& memory = state.memory;
  const int word = operation.word;
  const auto order = operation.memory_order();
  if (operation.kind == Kind::kSleep) return 0;
  if (operation.kind == Kind::kWake) {
    wake(state, word);
    return 0;
  }
  if (operation.kind == Kind::kBarrier) {
    if (order == std::memory_order_seq_cst) memory.barrier_everywhere();
    if (order == std::memory_order_seq_cst) state.loose = 0;
    return 0;
  }
  if (operation.kind == Kind::kReap) return reap(state, t, static_cast<int>(operation.operand));
  if (operation.kind == Kind::kAwait) return await(state, t);
  note_stores(state, t, operation);
  if (operation.writes() && !memory.has_room(word)) {
    broken_ = kTooManyEntries;
    return 0;
  }
  if (operation.kind == Kind::kLoad) {
    return memory.load(t, word, memory.newest(word) - choice, order);
  }
  if (operation.kind == Kind::kStore) {
    memory.store(t, word, operation.operand, order);
    return 0;
  }
  const int entry = memory.newest(word) - choice;
  const uint32_t before = memory.words[word].entries[entry].value;
  if (operation.kind == Kind::kCas && before != operation.expected) {
    return memory.load(t, word, entry, when_it_fails(order));
  }
  memory.modify(t, word, operation.change(before), order);
  return before;
}

uint32_t Machine::reap(State& state, int t, int dead) const {
  if (state.threads[dead].doing != Doing::kDead) return 0;
  state.memory.follow(t, dead);
  state.threads[dead].doing = Doing::kFinished;
  state.threads[dead].next = Operation{};
  std::fill(state.threads[dead].results, state.threads[dead].results + kResultsMax, 0);
  state.threads[dead].count = 0;
  program_.reaped(state, dead);
  return 1;
}

uint32_t Machine::await(State& state, int t) const {
  uint32_t ended = 0;
  for (int other = 0; other < kThreads; ++other) {
    if (state.threads[other].doing != Doing::kFinished) continue;
    state.memory.follow(t, other);
    ended |= 1u << other;
  }
  return ended;
}

void Machine::note_stores(State& state, int t, const Operation& operation) const {
  if (operation.access == Access::kFinishDone || operation.access == Access::kFinishLevel)
    state.held[t] = 0;
  if (!program_.may_die(t) || !operation.writes()) return;
  if (releases(operation.memory_order())) {
    state.loose = 0;
  } else if (operation.kind == Kind::kStore && program_.is_private(operation.word)) {
    state.loose = static_cast<uint16_t>(state.loose | 1 << operation.word);
  }
}

void Machine::wake(State& state, int word) const {
  for (int t = 0; t < program_.threads(); ++t) {
    ThreadState& thread = state.threads[t];
    if (thread.doing != Doing::kAsleep || thread.next.word != word) continue;
    thread.doing = Doing::kReady;
    go_on(state, t, 0);
  }
}

void Machine::go_on(State& state, int t, uint32_t result) const {
  ThreadState& thread = state.threads[t];
  if (thread.count == kResultsMax) {
    broken_ = too_long(thread);
    return;
  }
  thread.results[thread.count++] = result;
  if (broken_ == nullptr) run(state, t);
}

// Runs a thread up to its next step, or to its end.
void Machine::run(State& state, int t) const {
  State* const state_before = state_;
  const int thread_before = thread_, at_before = at_;
  ThreadState& thread = state.threads[t];
  state_ = &state;
  thread_ = t;
  if (setjmp(stop_) == 0) {
    for (;;) {
      at_ = 0;
      uint16_t from = thread.from;
      const bool more = program_.turn(t, from);
      std::fill(thread.results, thread.results + thread.count, 0);
      thread.count = 0;
      thread.from = from;
      if (more) continue;
      thread.doing = Doing::kFinished;
      thread.next = Operation{};
      break;
    }
  }
  state_ = state_before;
  thread_ = thread_before;
  at_ = at_before;
}

void Machine::find_user(const Operation& operation) {
  const auto bit = static_cast<uint8_t>(1 << thread_);
  const auto add = [&](uint8_t& users) {
    found_user_ |= (users & bit) == 0;
    users |= bit;
  };
  if (operation.writes()) add(writers_[operation.word]);
  if (operation.kind == Kind::kLoad || operation.kind == Kind::kCas) add(readers_[operation.word]);
}

// Nobody else writes the word, or any more: there is one entry to read, and no step of others
// matters to it.
bool Machine::is_settled(const Operation& operation) const {
  if (operation.kind != Kind::kLoad) return false;
  return (writers_[operation.word] & ~(1 << thread_)) == 0 || program_.is_private(operation.word);
}

uint32_t Machine::access(Operation operation) {
  ThreadState& thread = state_->threads[thread_];
  if (at_ < thread.count) return thread.results[at_++];
  operation.access = program_.name(thread_, operation, point_);
  if (operation.access != Access::kNone && operation.access == weaker_.access) {
    operation.order = static_cast<uint8_t>(weaker_.order);
  }
  find_user(operation);
  if (is_settled(operation) && thread.count < kResultsMax) {
    const uint32_t result = perform(*state_, thread_, operation, 0);
    thread.results[thread.count++] = result;
    ++at_;
    return result;
  }
  thread.next = operation;
  longjmp(stop_, 1);
}

bool Machine::may_sink(const Operation& operation) const {
  return weaker_.access == Access::kKeepOrder &&
         program_.name(thread_, operation, point_) == Access::kFinishLevel;
}

void Machine::use_slot(bool write, int slot, int number) {
  if (is_replayed()) return;
  Memory& memory = state_->memory;
  const char* race =
      write ? memory.write_slot(thread_, slot, number) : memory.read_slot(thread_, slot);
  if (race == nullptr && !write && memory.slots[slot].number != number) {
    race = "a slot was read that holds another number";
  }
  if (broken_ == nullptr) broken_ = race;
}

void Machine::claim(int stage, int task) {
  if (is_replayed()) return;
  uint16_t& claimed = state_->claimed[stage];
  if ((claimed >> task & 1) != 0) broken_ = "a task was claimed twice";
  claimed = static_cast<uint16_t>(claimed | 1 << task);
  state_->held[thread_] = static_cast<uint8_t>(task + 1);
}

bool Machine::reap(int thread) {
  Operation operation;
  operation.kind = Kind::kReap;
  operation.operand = static_cast<uint32_t>(thread);
  return access(operation) != 0;
}

uint32_t Machine::await(const int (&words)[kThreads]) {
  Operation operation;
  operation.kind = Kind::kAwait;
  for (int t = 0; t < kThreads; ++t)
    operation.operand |= static_cast<uint32_t>(words[t] < 0 ? kNoWord : words[t]) << (8 * t);
  return access(operation);
}

void Machine::note(int reg, uint32_t value) {
  if (!is_replayed()) state_->registers[reg] = static_cast<uint8_t>(value);
}

// What has no result is noted, too, so that it is done once.
bool Machine::is_replayed() {
  ThreadState& thread = state_->threads[thread_];
  if (at_++ < thread.count) return true;
  if (thread.count == kResultsMax) {
    broken_ = too_long(thread);
    longjmp(stop_, 1);
  }
  thread.results[thread.count++] = 0;
  return false;
}

const char* Machine::at_rest(const State& state) const {
  for (int t = 0; t < program_.threads(); ++t) {
    if (state.threads[t].doing != Doing::kFinished) return "deadlock: a thread sleeps for ever";
  }
  return program_.at_end(state);
}

}  // namespace brigade::weak_memory
