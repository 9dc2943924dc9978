#pragma once

// The supervisor: repairs a dead replica in the order of docs/PROTOCOL.md's table while the others
// go on, starts it again, asks for a stop and lowers the end. It does one thing at a time, and
// never waits within one.

#include "tests/model/shared_memory.h"

namespace brigade::model {

class SupervisorSteps {
 public:
  struct Choices {
    uint8_t values[kReplicasMax + 2 * kIndexSpacesMax];
    int count = 0;
    void push_back(uint8_t choice) { values[count++] = choice; }
    const uint8_t* begin() const { return values; }
    const uint8_t* end() const { return values + count; }
  };

  explicit SupervisorSteps(SharedMemory& shared);

  // What it may do next; between two of its duties it may take up any that is due.
  void choices(Choices& open) const;
  void run(int choice);
  // A stop may come or not: nobody may rely on it.
  static bool is_optional(int choice) { return choice >= kStopIndexSpace && choice < kLowerEnd; }

 private:
  static constexpr int kRepair = 1;           // + replica
  static constexpr int kRestart = 9;          // + replica
  static constexpr int kStopIndexSpace = 17;  // + index space
  static constexpr int kLowerEnd = 21;        // + index space

  void take_up(int choice);
  void repair(int replica);
  void restart(int replica);
  void ask_stop(int index_space);
  void lower_end(int index_space);

  void next_repair_step();
  bool has_work(SupervisorAt step);
  void settle();
  void reopen();
  void load_word_at_level();
  void cas_level();
  void clear_bit();
  void count_repair();
  void ring_one(int choice);
  void finish_repair();
  bool claimed_by_victim(int& watermark, int& entry) const;

  SharedMemory& shared_;
  State& state_;
  const Graph& graph_;
  Supervisor& me_;
};

}  // namespace brigade::model
