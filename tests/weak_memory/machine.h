#pragma once

// Threads over the memory of memory.h, as a transition system for tests/weak_memory/explorer.h. The
// threads run real code, whose shared words are RecordedPolicy's. A thread is not kept as a stack
// but as the results of its accesses since it last began its loop: to go on it is run again from
// there, is given those results, and is stopped by a longjmp at the access that comes next. So a
// state is plain bytes, and states that are reached in two ways are explored once.
//
// A step is one access to a word that others may write, with the entry that it reads. Of a word
// that nobody else writes, the access belongs to the step before it; the same holds for slots.
//
// A thread may die after any step, where its program says so. What it has stored stays; but of
// relaxed stores to words that are looked at only after a death, those since its last release may
// have been swapped by the compiler, and any of them may be missing. Who reaps it (waitpid) has
// all that it did in its past, as between two processes.
//
// Bounds: how often a run may switch away from a thread that could go on (Qadeer and Rehof,
// "Context-bounded model checking of concurrent software", TACAS 2005), and how often it may read
// anything but the newest entry. Within them every run is explored.

#include <setjmp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/weak_memory/access.h"
#include "tests/weak_memory/explorer.h"
#include "tests/weak_memory/memory.h"

namespace brigade::weak_memory {

inline constexpr int kResultsMax = 72;
inline constexpr int kStagesMax = 3;
inline constexpr int kRegisters = 4;

inline constexpr uint8_t kDies = 128;  // a choice; those above it: with some stores missing

enum class Doing : uint8_t { kReady, kAsleep, kDead, kFinished };

struct ThreadState {
  Operation next;                      // what it is stopped at
  uint32_t results[kResultsMax] = {};  // since the beginning of its loop
  uint8_t count = 0;
  Doing doing = Doing::kReady;
  uint16_t from = 0;  // its private memory at that beginning: Program's
};

struct State {
  Memory memory;
  ThreadState threads[kThreads];
  uint16_t claimed[kStagesMax] = {};  // for the properties only: tasks, by stage
  uint8_t switches_left = 0;
  uint8_t stale_left = 0;
  uint8_t last = kThreads;             // who took the last step
  uint8_t registers[kRegisters] = {};  // what a litmus test has read
  uint8_t deaths_left = 0;
  uint8_t held[kThreads] = {};  // for the properties only: the task in flight plus one
  uint16_t loose = 0;           // words (bits) whose newest store the dead may not have made
};

/// What the threads do.
class Program {
 public:
  virtual ~Program() = default;
  virtual int threads() const = 0;
  /// One turn of the thread's loop, from private memory `from`; `from` becomes what it leaves. May
  /// be left by a longjmp in any access. False: the thread has finished.
  virtual bool turn(int thread, uint16_t& from) = 0;
  /// Which use the access is. `after`: the last fault point the thread has passed.
  virtual Access name(int thread, const Operation& operation, FaultPoint after) const = 0;
  /// Gives words their first values.
  virtual void prepare(State& state) const = 0;
  virtual std::string word_name(int word) const = 0;
  virtual std::string thread_name(int thread) const = 0;
  /// Whether the thread may die, once in a run.
  virtual bool may_die(int) const { return false; }
  /// Whether nobody but a thread that may die looks at the word while that one lives.
  virtual bool is_private(int) const { return false; }
  /// Whether somebody waits for the end of the thread, and has then all that it did in its past.
  virtual bool is_awaited(int) const { return false; }
  /// A dead thread has been reaped.
  virtual void reaped(State&, int) const {}
  /// Where everybody has finished: nullptr, or what is wrong.
  virtual const char* at_end(const State& state) const = 0;
};

struct Bounds {
  uint8_t switches = 255;
  uint8_t stale = 255;
};

/// An order in the code replaced by a weaker one.
struct Weaker {
  Access access = Access::kNone;
  std::memory_order order = std::memory_order_seq_cst;
};

class Machine {
 public:
  using State = weak_memory::State;

  Machine(Program& program, const Bounds& bounds, const Weaker& weaker = {});
  ~Machine();

  State initial() const;
  bool moves(const State& state, std::vector<Move>& moves) const;
  const char* apply(State& state, Move move) const;
  const char* at_rest(const State& state) const;
  uint64_t print(const State& state) const { return fingerprint(state); }
  std::string describe(const State& before, Move move, const State& after) const;

  /// Every state within the bounds.
  Report explore(uint64_t states_max, Trace trace = Trace::kShortest);

  // For RecordedPolicy: the machine that runs in this thread.
  static Machine* active;
  uint32_t access(Operation operation);
  /// The store may be put behind the load that follows it: nothing keeps their order.
  bool may_sink(const Operation& operation) const;
  /// Slots are plain memory: their reads and writes are no steps, but may be races.
  void use_slot(bool write, int slot, int number);
  void claim(int stage, int task);
  /// By this thread, in an earlier turn of its loop.
  bool has_claimed(int stage, int task) const { return (state_->claimed[stage] >> task & 1) != 0; }
  void fail(const char* what) { broken_ = what; }
  void note(int reg, uint32_t value);
  /// Waits until the thread has ended; true: it has died.
  bool reap(int thread);
  /// Waits until each of these words (bits by thread) is not 0, or its thread has ended; returns
  /// who has ended.
  uint32_t await(const int (&words)[kThreads]);
  void at_point(FaultPoint point) { point_ = point; }

 private:
  bool is_replayed();
  bool is_settled(const Operation& operation) const;
  void run(State& state, int thread) const;
  uint32_t perform(State& state, int thread, const Operation& operation, int choice) const;
  void go_on(State& state, int thread, uint32_t result) const;
  void find_user(const Operation& operation);
  void forget(State& state) const;
  void wake(State& state, int word) const;
  void add_deaths(const State& state, int thread, std::vector<Move>& moves) const;
  void die(State& state, int thread, int missing) const;
  static bool can_go_on(const State& state, int thread);
  uint32_t reap(State& state, int thread, int dead) const;
  uint32_t await(State& state, int thread) const;
  void note_stores(State& state, int thread, const Operation& operation) const;

  Program& program_;
  const Bounds bounds_;
  const Weaker weaker_;
  // Who writes a word, and who may read an old value of it: found out as the search goes, which
  // then begins again.
  mutable uint8_t writers_[kWords] = {};
  mutable uint8_t readers_[kWords] = {};
  mutable bool found_user_ = false;
  // While a thread runs.
  mutable State* state_ = nullptr;
  mutable int thread_ = 0;
  mutable int at_ = 0;
  mutable FaultPoint point_ = FaultPoint::claim_start;
  mutable const char* broken_ = nullptr;
  mutable jmp_buf stop_;
};

}  // namespace brigade::weak_memory
