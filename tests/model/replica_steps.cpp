#include "tests/model/replica_steps.h"

namespace brigade::model {

ReplicaSteps::ReplicaSteps(SharedMemory& shared, int me)
    : shared_(shared),
      state_(shared.state),
      graph_(shared.graph),
      me_(me),
      stage_number_(graph_.stage_of_replica(me)),
      stage_(graph_.stage(stage_number_)),
      r_(state_.replica[me]) {}

void ReplicaSteps::go(At at, int index) {
  r_.at = at;
  r_.index = static_cast<uint8_t>(index);
}

bool ReplicaSteps::in_task(uint16_t samples) const {
  return (samples >> first_sample() & ((1 << stage_.task_size) - 1)) != 0;
}

bool ReplicaSteps::may(int choice) const {
  if (r_.at == At::kWorkBegin && stage_.stream && !has(kPadding)) {
    if (choice == 1 && stage_.replicas > 1) return false;  // no max_wait
    const int last = past_sample() - 1;                    // what max_wait would pad
    if (choice == 1) return first_sample() < stage_.size && last % index_space().lcm != 0;
    return choice == 2 || first_sample() < stage_.size;
  }
  if (r_.at == At::kWakeClear || r_.at == At::kEndRing) return shared_.may_ring(r_.bits, choice);
  if (choice != 0 || is_gone(r_.at)) return false;
  if (r_.at == At::kSleep) return has(kRung);
  if (r_.at != At::kHeldMemory) return true;
  for (size_t i = 0; i < watermark().readers.size(); ++i) {
    if (!writable(static_cast<int>(i))) return false;
  }
  return true;
}

void ReplicaSteps::run(int choice) {
  const bool past_the_store_buffer =
      r_.at == At::kAdvanceLevel || r_.at == At::kAdvanceWord || r_.at == At::kWakeLoad;
  if (has(kStorePending) && !past_the_store_buffer) flush();
  switch (r_.at) {
    case At::kRepairs:
      return load_repairs();
    case At::kCursor:
      return load_cursor();
    case At::kStop:
      return load_stop();
    case At::kAck:
      return store_ack();
    case At::kEnd:
      return compare_with_end(state_.end[watermark().index_space]);
    case At::kOwnLevel:
      return load_own_level();
    case At::kWritable:
      return load_reader_level();
    case At::kWord:
      return load_word();
    case At::kReadable:
      return load_input_level();
    case At::kClaim:
      return claim();
    case At::kEndedStore:
      return store_ended();
    case At::kHeldMemory:
      return go(At::kWorkBegin);
    case At::kQuarantine:
      r_.seen = state_.quarantined;
      return go(At::kWorkBegin);
    case At::kWorkBegin:
      return begin_work(choice);
    case At::kWorkEnd:
      return end_work();
    case At::kSkipLook:
      return look_at_skips();
    case At::kSkipAppend:
      return append_skip();
    case At::kTallySlots:
      return store_tally_slots();
    case At::kTallyTask:
      return store_tally_task();
    case At::kTallyNumber:
      return store_tally_number();
    case At::kDone:
      return finish();
    case At::kAdvanceLevel:
      return load_level();
    case At::kAdvanceWord:
      return load_word_at_level();
    case At::kAdvanceCas:
      return cas_level();
    default:
      return run_waiting(choice);
  }
}

void ReplicaSteps::run_waiting(int choice) {
  switch (r_.at) {
    case At::kWakeLoad:
      return load_waiters();
    case At::kWakeClear:
      return clear_waiter(choice);
    case At::kWakeRing:
      return ring_sleeper();
    case At::kWaitSet:
      return set_bit();
    case At::kWaitDoorbell:
      return read_doorbell();
    case At::kSleep:
      return stop_waiting();
    case At::kWaitClear:
      return clear_bit();
    case At::kStopStore:
      return stop_at_end_of_data();
    case At::kEndStore:
      return store_end();
    case At::kEndRing:
      return ring_end(choice);
    default:
      return;  // gone
  }
}

// A stage whose dead are not replaced keeps one replica.
bool ReplicaSteps::may_die() const {
  if (state_.deaths_left == 0 || is_gone(r_.at)) return false;
  if (graph_.scenario().restart) return true;
  for (int other = 0; other < graph_.replicas(); ++other) {
    const At at = state_.replica[other].at;
    const bool colleague = other != me_ && graph_.stage_of_replica(other) == stage_number_;
    if (colleague && at != At::kDead && at != At::kReaped) return true;
  }
  return false;
}

// What the process had in private memory is gone; what it wrote to shared memory stays.
void ReplicaSteps::die() {
  Replica left;
  left.at = At::kDead;
  left.newest = r_.newest;
  left.tally[0] = r_.tally[0];
  left.tally[1] = r_.tally[1];
  left.ack = r_.ack;
  left.ended = r_.ended;
  left.tasks_done = r_.tasks_done;
  r_ = left;
}

bool ReplicaSteps::end_is_final() const {
  const int d = watermark().index_space;
  if (graph_.stops()) return state_.stop[d] == 2 && state_.end[d] != kUnknownEnd;
  return state_.end[d] != kUnknownEnd;
}

bool ReplicaSteps::no_more_repairs() const {
  if (r_.repairs_changed != 0 || state_.deaths_left != 0 || stage_.poison != 0) return false;
  for (int r = 0; r < graph_.replicas(); ++r) {
    if (state_.replica[r].at == At::kDead) return false;
  }
  return state_.supervisor.at < SupervisorAt::kSettle || state_.supervisor.at > SupervisorAt::kRing;
}

bool ReplicaSteps::is_private_load() const {
  if (has(kStorePending)) return false;
  switch (r_.at) {
    case At::kRepairs:
      return no_more_repairs();
    case At::kStop:
      return state_.stop[watermark().index_space] == 2;
    case At::kEnd:
      return end_is_final();
    case At::kOwnLevel:
      return state_.level[watermark_number()] >= r_.seen && end_is_final();
    case At::kWritable:
      return writable(r_.index);
    case At::kReadable:
      return readable(r_.index);
    case At::kWord: {
      const Word& word = shared_.word(watermark_number(), r_.task);
      return taken() && (word.number > r_.task || word.tag % 4 == kDone);
    }
    default:
      return false;
  }
}

bool ReplicaSteps::is_private() const {
  if (has(kStorePending)) return false;
  switch (r_.at) {
    case At::kWorkBegin:
      return !in_task(stage_.poison);
    case At::kWorkEnd:
    case At::kTallySlots:
    case At::kTallyTask:
    case At::kTallyNumber:
    case At::kEndedStore:
      return true;
    default:
      return is_private_load();
  }
}

}  // namespace brigade::model
