#pragma once

// One run of a small line over the stepped policy: the control segment of a shape, its replicas as
// fibers, and a supervisor that repairs and restarts the one that may die. After every step:
// watermarks only grow. Afterwards: nobody is left asleep, and no waiter's bit.
//
// A kind of line derives from it and says what its replicas do and what must hold.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/transports/stepping/stepped_policy.h"
#include "transports/audit.h"
#include "transports/channel.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stepping {

/// A stream, stage 0, and its reader of batches.
struct StreamLine {
  std::uint64_t chunk = 1;
  std::uint64_t batch = 2;
  std::uint64_t slots = 4;
  std::uint64_t replicas = 1;
  std::uint64_t epochs = 1;
};
SharedShape stream_shape(const StreamLine& line);

/// What may happen in a run.
struct Events {
  std::string name;
  StageNumber victim_stage = -1;  ///< whose replica 0 may die; -1: nobody
  int deaths = 1;
  bool restart = true;  ///< else the stage goes on without its dead
  bool stop = false;    ///< the supervisor asks for a stop at any time
  int detours = 2;
  bool store_buffers = true;
  WakeOrder wake_order = WakeOrder::by_sleeper;
  RepairRules rules;
  Mistakes mistakes;
};

class SteppedRun {
 public:
  /// Empty when everything held; else what did not.
  std::string run(Chooser& chooser);
  /// Of the last run.
  const std::string& trace() const { return trace_; }

 protected:
  using P = SteppedPolicy;

  SteppedRun(const Events& events, SharedShape shape);
  virtual ~SteppedRun() = default;

  virtual void reset() = 0;  ///< the control segment is new
  virtual void live(StageNumber stage, int replica) = 0;
  virtual std::uint64_t own_state() const = 0;  ///< fingerprint of what is not in shared words
  virtual void passed(Fiber&, FaultPoint) {}
  virtual void moved(StageNumber, std::uint64_t /*from*/, std::uint64_t /*to*/) {}  ///< queue 0
  virtual void check_the_end() = 0;
  /// The sample of the dead that goes into quarantine.
  virtual std::vector<std::uint64_t> poisoned() const { return {}; }
  /// Of a stage that goes on without replica 0: what the supervisor does for it.
  virtual void give_up() {}
  /// After all sources have acknowledged.
  virtual void lower_ends() {}

  const StageShape& shape_of(StageNumber stage) const { return shape_.stages[stage]; }
  int global(StageNumber stage, int replica) const {
    return shape_of(stage).first_replica + replica;
  }
  /// The next multiple.
  static std::uint64_t closed(std::uint64_t number, std::uint64_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
  }
  std::uint64_t level(StageNumber stage, QueueNumber queue) const {
    return control_.stages[stage].queues[queue].watermark->level.value.raw();
  }
  /// The next task of a channel, or of task queues with watermarks to watch; nothing: they have
  /// ended.
  template <class Queues>
  std::optional<std::uint64_t> claim(Queues& queues, StageNumber stage, int replica,
                                     std::span<Watermark<P>* const> also = {}) {
    const Attempt<P> found = claim_or_wait<P>(
        control_, global(stage, replica), 0, [&] { return queues.try_claim(); }, DoNothing{}, also);
    return found.look == Look::ended ? std::nullopt : std::optional(found.task);
  }
  /// All of a reader of batches: each number in order. `is_padding` looks at its slot.
  template <class IsPadding>
  void read_batches(StageNumber reader, std::uint64_t batch, IsPadding is_padding) {
    Channel<P> channel(control_, reader, 0, 0);
    while (const auto task = claim(channel, reader, 0)) {
      SlotCounts counts;
      for (std::uint64_t number = *task * batch; number < (*task + 1) * batch; ++number) {
        fibers_->step();
        if (is_padding(number)) ++counts.pads;
      }
      channel.finish(*task, counts);
    }
  }
  /// A stream, stage 0, and its reader of batches both went to the recorded end, a multiple of
  /// `batch`, with so many samples.
  void expect_stream_ended(std::uint64_t batch, std::uint64_t full);
  /// So many samples went over an edge, and no other.
  void expect_audit(StageNumber writer, StageNumber reader, QueueNumber queue, std::uint64_t full);

  const Events& events_;
  const SharedShape shape_;
  Control<P> control_;
  Fibers* fibers_ = nullptr;

 private:
  void start(StageNumber stage, int replica);
  void supervise();
  void repair_the_dead();
  void wait_for_claim();
  void stop_the_sources();
  bool has_gone(int replica) const;
  void check_watermarks();

  support::LineMemory memory_;
  ByReplica<const Fiber*> workers_;  // the last incarnation of each
  ByStage<ByQueue<std::uint64_t>> levels_;
  bool dead_ = false;
  bool claimed_ = false;  // by the one that may die, where the supervisor makes a mistake
  std::string trace_;
};

}  // namespace brigade::stepping
