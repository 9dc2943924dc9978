#pragma once

// Fibers in one thread, and who runs next. Every access to a shared word is a step; before each one
// a Chooser decides whether the fiber goes on, another runs first, or it dies right there. So a run
// is a function of the choices made, and can be repeated, varied, or enumerated.
//
// Memory is x86-TSO when `store_buffers` is set: a store that is not seq_cst stays in its fiber's
// buffer until that fiber's next read-modify-write, seq_cst store, system call or death, or until
// somebody has a barrier passed by all. That one comes between two of its instructions: a store
// that the compiler may still put behind the loads that follow it (keep_order()) is not among them.

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transports/fault_points.h"
#include "transports/shape.h"

namespace brigade::stepping {

/// Picks one of `count` ways to go on. 0: the same fiber, alive; or where it cannot, the next in
/// turn.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual int choose(int count) = 0;
  /// Asked before a choice, with a fingerprint of the whole state: true ends the run, because all
  /// ways on from here are known.
  virtual bool wants_state() const { return false; }
  virtual bool is_known(std::uint64_t /*state*/) { return false; }
};

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^
         (a << 21 | a >> 43) ^ b;
}

/// Unwinds a fiber that has died, or whose run is over.
struct Unwind {};

struct Fiber {
  enum class State : std::uint8_t { ready, asleep, waiting, finished };

  std::string name;
  std::function<void()> body;
  State state = State::ready;
  const void* asleep_on = nullptr;    // the futex word
  std::function<bool()> waiting_for;  // looked at by the scheduler, costs no step
  bool mortal = false;
  bool dying = false;
  bool died = false;
  StageNumber stage = -1;
  int replica = -1;
  std::uint64_t task = 0;  // the task in flight, for the observer

  struct Store {
    std::uint64_t* word;
    std::uint64_t value;
  };
  std::vector<Store> buffer;
  std::size_t ordered = 0;    // of these stores, as many have their place among the instructions
  std::uint64_t history = 0;  // of all values it has seen: its local state is a function of them

  ucontext_t context{};
  std::unique_ptr<char[]> stack;
};

class Fibers {
 public:
  struct Limits {
    int detours = 2;  ///< choices other than 0, deaths apart
    int deaths = 0;
    int steps = 20'000;  ///< more is a livelock
  };

  Fibers(Chooser& chooser, const Limits& limits, bool store_buffers);
  ~Fibers();

  /// From outside or from a fiber.
  Fiber& spawn(std::string name, std::function<void()> body);
  /// Runs until every fiber has finished, something failed, or nobody can go on (a deadlock).
  void run();

  /// The run is wrong: ends it. From a fiber it does not return.
  void fail(const std::string& why);
  const std::string& failure() const { return failure_; }
  bool is_pruned() const { return pruned_; }
  std::string trace() const;

  // For fibers:
  Fiber& current() { return *current_; }
  void step();
  bool chance();  ///< a choice of the fiber's own: false, or as a detour true
  void sleep_on(const void* word);
  void wake_all(const void* word);
  void wait_until(std::function<bool()> condition);
  void store(std::uint64_t* word, std::uint64_t value, bool buffered);
  std::uint64_t load(const std::uint64_t* word);
  void write(std::uint64_t* word, std::uint64_t value);
  void drain();
  void drain_all();   ///< a barrier in all fibers
  void keep_order();  ///< for the compiler
  void passed(FaultPoint point);

  std::function<void()> after_step;                  ///< looks at the state; may fail()
  std::function<void(Fiber&, FaultPoint)> observer;  ///< may fail()
  std::function<void(Fiber&)> on_death;
  std::function<std::uint64_t()> other_state;  ///< fingerprint of what is not in shared words

  /// The run in progress in this thread, if any.
  static Fibers* active;

 private:
  static void enter();
  void drain(Fiber& fiber);
  bool enabled(Fiber& fiber) const;
  void leave(Fiber::State state);
  Fiber* pick_other();
  void find_able();
  bool prune();
  std::uint64_t fingerprint() const;
  void switch_to(Fiber* next);
  void unwind_rest();

  static constexpr std::size_t kStackBytes = 256 << 10;

  Chooser& chooser_;
  const Limits limits_;
  const bool store_buffers_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  ucontext_t main_{};
  bool ending_ = false;
  int detours_ = 0;
  int deaths_ = 0;
  int steps_ = 0;
  bool pruned_ = false;
  std::uint64_t memory_ = 0;  // fingerprint of all shared words
  std::string failure_;
  std::vector<Fiber*> able_;
  std::vector<std::pair<const Fiber*, FaultPoint>> passed_;
};

}  // namespace brigade::stepping
