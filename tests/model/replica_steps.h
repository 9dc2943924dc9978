#pragma once

// The operations of a replica, docs/PROTOCOL.md's claim, work, finish, advance, wait and wake, cut
// into steps that touch shared memory once. What lies between two such accesses is private to
// the process and belongs to the step before. Loads of words that cannot change in a scenario
// (an end that is known, repairs where nobody dies) take no step.

#include "tests/model/shared_memory.h"

namespace brigade::model {

class ReplicaSteps {
 public:
  ReplicaSteps(SharedMemory& shared, int me);

  // Whether possibility `choice` of the next step is open now; a sleeper has none.
  bool may(int choice) const;
  void run(int choice);
  bool may_die() const;
  void die();

  // With the plain-store faults: a store that is still in the store buffer.
  bool may_flush() const { return has(kStorePending); }
  void flush();

  // The next step changes nothing that anybody else reads, and what it reads cannot change: the
  // order between it and the steps of others makes no difference.
  bool is_private() const;
  bool is_private_load() const;  // besides, it writes no shared memory: dying before it or
                                 // after it makes no difference either

  static constexpr int kChoices = 3;

 private:
  void run_waiting(int choice);  // the steps of wait_steps.cpp

  // claim_steps.cpp
  void claim_next();
  void load_repairs();
  void load_cursor();
  void look_at_stop();
  void load_stop();
  void store_ack();
  void look_at_end();
  void compare_with_end(int end);
  void load_own_level();
  void all_done();
  void store_ended();
  void next_period();
  void look_for_memory(int reader);
  void load_reader_level();
  void look_at_word();
  void load_word();
  void next_task();
  void look_for_input(int input);
  void load_input_level();
  void claimable();
  void claim();
  void hold();
  bool writable(int reader) const;
  bool readable(int input) const;
  bool taken() const;
  bool end_is_final() const;
  bool no_more_repairs() const;

  // work_steps.cpp
  void begin_work(int choice);
  bool open_chunk(int choice);
  void end_work();
  SlotKind kind_of(int position) const;
  void after_work();
  void list_skip_or_go_on();
  void look_at_skips();
  void append_skip();
  void write_tally_or_finish();
  TallyEntry& next_tally_entry();
  void store_tally_slots();
  void store_tally_task();
  void store_tally_number();
  void finish();
  void commit(int task);
  void after_finish();
  void note_moved(int table);
  void load_level();
  void load_word_at_level();
  void cas_level();
  void after_advance();
  int failing_sample() const;
  void stop_at_end_of_data();
  void acknowledge_end_of_data();

  // wait_steps.cpp
  bool one_bit() const;
  void must_wait(int watermark);
  void set_bits();
  void next_bit(At step);
  uint8_t& waiters();
  void set_bit();
  void read_doorbell();
  void check_everything_again();
  void stop_waiting();
  void clear_bit();
  void wake(Then then);
  void load_waiters();
  void clear_waiter(int choice);
  void ring_sleeper();
  void after_wake();
  void leave();
  void store_end();
  void ring_end(int choice);

  bool has(ReplicaFlag flag) const { return (r_.flags & flag) != 0; }
  void set(ReplicaFlag flag) { r_.flags = static_cast<uint8_t>(r_.flags | flag); }
  void clear(ReplicaFlag flag) { r_.flags = static_cast<uint8_t>(r_.flags & ~flag); }
  bool faulty(Fault fault) const { return graph_.faulty(fault); }
  void go(At at, int index = 0);
  int watermark_number() const { return graph_.first_watermark(stage_number_) + r_.table; }
  const Watermark& watermark() const { return graph_.watermark(watermark_number()); }
  const IndexSpace& index_space() const { return graph_.index_space(watermark().index_space); }
  bool is_source() const { return stage_.inputs.empty(); }
  int first_sample() const { return r_.task * stage_.task_size; }
  int past_sample() const { return (r_.task + 1) * stage_.task_size; }
  bool in_task(uint16_t samples) const;

  SharedMemory& shared_;
  State& state_;
  const Graph& graph_;
  int me_;
  int stage_number_;
  const StageSpec& stage_;
  Replica& r_;
};

}  // namespace brigade::model
