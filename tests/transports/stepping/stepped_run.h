#pragma once

// One run of a small line over the stepped policy: the control segment of a shape, its replicas as
// fibers, and a supervisor that repairs and restarts the one that may die. After every step: marks
// only grow. Afterwards: nobody is left asleep, and no waiter's bit.
//
// A kind of line derives from it and says what its replicas do and what must hold.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/transports/stepping/stepped_policy.h"
#include "transports/audit.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stepping {

/// What may happen in a run.
struct Events {
  int victim_stage = -1;  ///< whose replica 0 may die; -1: nobody
  int deaths = 1;
  bool restart = true;  ///< else the stage goes on without its dead
  bool stop = false;    ///< the supervisor asks for a stop at any time
  int detours = 2;
  bool store_buffers = true;
  RepairRules rules;
};

class SteppedRun {
 public:
  /// Empty when everything held; else what did not.
  std::string run(Chooser& chooser);
  /// Of the last run.
  const std::string& trace() const { return trace_; }

 protected:
  using P = SteppedPolicy;

  SteppedRun(const Events& events, GraphShape shape);
  virtual ~SteppedRun() = default;

  virtual void reset() = 0;  ///< the control segment is new
  virtual void live(int stage, int replica) = 0;
  virtual std::uint64_t own_state() const = 0;  ///< fingerprint of what is not in shared words
  virtual void passed(Fiber&, FaultPoint) {}
  virtual void check_the_end() = 0;
  /// Of a stage that goes on without replica 0: what the supervisor does for it.
  virtual void give_up() {}
  /// After all sources have acknowledged.
  virtual void lower_ends() {}

  const StageShape& shape_of(int stage) const {
    return shape_.stages[static_cast<std::size_t>(stage)];
  }
  int stages() const { return static_cast<int>(shape_.stages.size()); }
  int global(int stage, int replica) const { return shape_of(stage).first_replica + replica; }
  std::uint64_t low(int stage, int lane) const {
    return control_.stages[static_cast<std::size_t>(stage)]
        .lanes[static_cast<std::size_t>(lane)]
        .mark->low.value.raw();
  }
  /// claim_or_wait() on a channel, or on lanes with marks to watch.
  template <class Lanes>
  Attempt<P> claim(Lanes& lanes, int stage, int replica, std::span<Mark<P>* const> also = {}) {
    return claim_or_wait<P>(
        control_, global(stage, replica), 0, [&] { return lanes.try_claim(); }, DoNothing{}, also);
  }

  const Events& events_;
  const GraphShape shape_;
  Control<P> control_;
  Fibers* fibers_ = nullptr;

 private:
  void start(int stage, int replica);
  void supervise();
  void repair_the_dead();
  void stop_the_sources();
  bool has_gone(int replica) const;
  void check_marks();

  support::LineMemory memory_;
  std::vector<const Fiber*> workers_;             // by replica of the graph, the last incarnation
  std::vector<std::vector<std::uint64_t>> lows_;  // by stage and lane
  bool dead_ = false;
  std::string trace_;
};

}  // namespace brigade::stepping
