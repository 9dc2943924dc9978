#pragma once

// The threads of a small line: each is a replica that claims or waits, reads and writes slots, and
// finishes, by the templates of transports/ (Channel, advance, claim_or_wait, Waker, doorbells).
// One more may be the supervisor: it reaps a replica, which may die after any step, repairs, and
// goes on as its successor (repair()); or it asks for a stop and lowers the end (stop.h).

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/line.h"
#include "tests/weak_memory/recorded_policy.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::weak_memory {

/// What the supervisor does, and what is wrong with it on purpose.
struct Script {
  int victim = -1;      ///< the thread that may die; -1: none
  bool restart = true;  ///< else the others do without it
  bool stop = false;
  std::uint32_t empty_slots = 0;  ///< tasks (bits) of the victim that have one
  RepairRules rules = {};
  enum class Mistake : std::uint8_t {
    none,
    counted_first,         ///< the repair, before what it has repaired
    acknowledged_in_hand,  ///< the stop, before the task in flight is finished
    not_brought_along,     ///< a program takes what is DONE, and leaves the watermark there behind
  } mistake = Mistake::none;
};

class LineProgram : public Program {
 public:
  LineProgram(const ByStage<support::StageSpec>& stages, std::uint64_t samples,
              WakeOrder order = WakeOrder::by_sleeper, const Script& script = {});
  ~LineProgram() override;
  LineProgram(const LineProgram&) = delete;

  int threads() const override { return shape_.replicas + (has_supervisor() ? 1 : 0); }
  bool turn(int thread, uint16_t& from) override;
  Access name(int thread, const Operation& operation, FaultPoint after) const override;
  void prepare(State& state) const override;
  const char* at_end(const State& state) const override;
  std::string word_name(int word) const override;
  std::string thread_name(int thread) const override;
  bool may_die(int thread) const override { return thread == script_.victim; }
  bool is_awaited(int thread) const override {
    return script_.stop && thread < shape_.stages[0].replicas;
  }
  bool is_private(int word) const override { return words_[word].role == Role::kTally; }
  void reaped(State& state, int thread) const override;

 private:
  using P = RecordedPolicy;
  using Replica = Channel<P>;
  struct Word {
    Role role;
    StageNumber stage;
    uint32_t first;
    std::string name;
  };
  // Zeroed before a channel is made in it, so that equal channels have equal bytes.
  struct Room {
    alignas(Replica) std::byte bytes[sizeof(Replica)];
    Replica* channel() { return reinterpret_cast<Replica*>(bytes); }
  };

  template <class T>
  void number(RecordedPolicy::Atomic<T>& word, Role role, StageNumber stage,
              const std::string& name);
  void set_first_values();
  void number_words();
  void number_tally();
  std::uint64_t counted_empty_slots(const State& state) const;
  uint16_t keep(const Replica& channel);
  void work(StageNumber stage, std::uint64_t task);
  void finish(Replica& channel, std::uint64_t task, const SlotCounts& not_full);
  bool has_supervisor() const { return script_.victim >= 0 || script_.stop; }
  int replica_of(int thread) const;
  bool supervise(uint16_t& from);
  bool repair_the_dead(uint16_t& from);
  void acknowledge_in_hand(int thread);
  std::uint64_t multiple() const { return support::line_multiple(shape_); }
  StageNumber stage_of(int thread) const;
  int slot_of(StageNumber stage, std::uint64_t sample) const;

  const SharedShape shape_;
  const std::uint64_t samples_;
  const Script script_;
  support::LineMemory memory_;
  Control<P> control_;
  std::vector<Word> words_;
  std::vector<std::unique_ptr<Room>> kept_;  // private memories of threads, each once
  std::unordered_map<std::string, uint16_t> kept_by_content_;
  std::vector<uint16_t> first_;
  Room working_;
  bool working_in_use_ = false;
  bool supervising_ = false;
};

}  // namespace brigade::weak_memory
