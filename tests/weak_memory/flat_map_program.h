#pragma once

// A flat_map stage (transports/flat_map_queues.h) and may die after any step, and
// the supervisor that repairs it and goes on as its successor. Its inputs are all there, its output
// ring is never full, so nobody waits: what is looked at is the journal. Some inputs have no
// output, some two.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/weak_memory/recorded_policy.h"
#include "transports/flat_map_queues.h"
#include "transports/repair.h"

namespace brigade::weak_memory {

class FlatMapProgram : public NamedWords {
 public:
  enum class Mistake : std::uint8_t {
    none,
    in_place,        ///< a journal of one entry
    noted_late,      ///< the input in work, after its first output
    consumed_first,  ///< the input's watermark moves before the journal says so
    given_again      ///< a successor gives all outputs of the input in work
  };
  /// `outputs`: how many each input has.
  explicit FlatMapProgram(std::vector<int> outputs, const RepairRules& rules = {},
                          Mistake mistake = Mistake::none);

  bool turn(int thread, uint16_t& from) override;
  Access name(int thread, const Operation& operation, FaultPoint after) const override;
  void prepare(State& state) const override {
    NamedWords::prepare(state);
    state.deaths_left = 1;
  }
  const char* at_end(const State& state) const override;
  std::string thread_name(int thread) const override;
  bool may_die(int thread) const override { return thread == 0; }
  bool is_private(int word) const override;

 private:
  using P = RecordedPolicy;
  using Queues = FlatMapQueues<P>;

  void pass_inputs(Queues& queues, bool successor) const;
  void give(Queues& queues, std::uint64_t input, bool successor) const;
  void consume(Queues& queues, std::uint64_t input) const;

  const std::vector<int> outputs_;
  const RepairRules rules_;
  const Mistake mistake_;
  const SharedShape shape_;
  support::LineMemory memory_;
  Control<P> control_;
  int sequence_ = 0;              // the first word of the journal; the others follow it
  std::optional<Queues> queues_;  // of the turn that runs, or that a longjmp has left
};

}  // namespace brigade::weak_memory
