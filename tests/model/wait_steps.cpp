// wait and wake: nobody sleeps over a change, and whoever has moved a watermark rings who sleeps on
// it.

#include <utility>

#include "tests/model/replica_steps.h"

namespace brigade::model {

bool ReplicaSteps::one_bit() const {
  return graph_.scenario().sleeper == Sleeper::kBlockingWatermark;
}

// The claim cannot go on until `watermark` moves (kNoWatermark: until the doorbell rings).
void ReplicaSteps::must_wait(int watermark) {
  r_.seen = r_.seen_tag = 0;
  if (has(kLooksAgain)) {
    if (one_bit() && watermark != r_.blocked_on)
      return stop_waiting();  // on what has no bit of mine
    return go(has(kDoorbellRead) ? At::kSleep : At::kWaitDoorbell);
  }
  r_.blocked_on = static_cast<uint8_t>(one_bit() ? watermark : 0);
  if (faulty(Fault::kDoorbellAfterRecheck) || faulty(Fault::kDoorbellAfterBit)) return set_bits();
  go(At::kWaitDoorbell);
}

void ReplicaSteps::set_bits() { next_bit(At::kWaitSet); }

// Sets or clears the bit on the next of the watermarks this wait depends on; then what comes after.
void ReplicaSteps::next_bit(At step) {
  const bool first = r_.at != step;
  const int watermarks = one_bit() ? 1 : static_cast<int>(watermark().waits_on.size());
  const int index = first ? 0 : r_.index + 1;
  const bool none = one_bit() && r_.blocked_on == kNoWatermark;
  if (index < watermarks && !none) return go(step, index);
  if (step == At::kWaitSet && faulty(Fault::kNoRecheck)) return go(At::kSleep);
  if (step == At::kWaitSet && faulty(Fault::kDoorbellAfterBit)) return go(At::kWaitDoorbell);
  if (step == At::kWaitSet) return check_everything_again();
  r_.blocked_on = 0;
  claim_next();
}

uint8_t& ReplicaSteps::waiters() {
  return state_.waiters[one_bit() ? r_.blocked_on : watermark().waits_on[r_.index]];
}

void ReplicaSteps::set_bit() {
  waiters() = static_cast<uint8_t>(waiters() | bit(me_));
  next_bit(At::kWaitSet);
}

void ReplicaSteps::read_doorbell() {
  set(kDoorbellRead);
  clear(kRung);
  if (has(kLooksAgain)) return go(At::kSleep);
  if (faulty(Fault::kDoorbellAfterBit)) return check_everything_again();
  set_bits();
}

void ReplicaSteps::check_everything_again() {
  set(kLooksAgain);
  claim_next();
}

// Something has changed, or the doorbell rang.
void ReplicaSteps::stop_waiting() {
  clear(kLooksAgain);
  clear(kDoorbellRead);
  clear(kRung);
  r_.seen = r_.seen_tag = 0;
  next_bit(At::kWaitClear);
}

void ReplicaSteps::clear_bit() {
  waiters() = static_cast<uint8_t>(waiters() & ~bit(me_));
  next_bit(At::kWaitClear);
}

// Of the watermarks that have moved; `then` comes after the last doorbell.
void ReplicaSteps::wake(Then then) {
  r_.then = then;
  r_.seen = r_.seen_tag = 0;
  if (faulty(Fault::kNoWake)) r_.moved = 0;
  after_wake();
}

void ReplicaSteps::load_waiters() {
  const int table = __builtin_ctz(r_.moved);
  r_.bits = state_.waiters[graph_.first_watermark(stage_number_) + table];
  r_.moved = static_cast<uint8_t>(r_.moved & ~bit(table));
  r_.index = static_cast<uint8_t>(table);
  after_wake();
}

// Whoever clears a sleeper's bit rings it.
void ReplicaSteps::clear_waiter(int choice) {
  uint8_t& waiters = state_.waiters[graph_.first_watermark(stage_number_) + r_.index];
  const uint8_t sleeper = bit(shared_.doorbell_at(r_.bits, choice));
  const bool mine = (waiters & sleeper) != 0;
  waiters = static_cast<uint8_t>(waiters & ~sleeper);
  r_.bits = static_cast<uint8_t>(r_.bits & ~sleeper);
  if (!mine) return after_wake();
  r_.ringing = sleeper;
  go(At::kWakeRing, r_.index);
}

void ReplicaSteps::ring_sleeper() {
  shared_.ring(__builtin_ctz(std::exchange(r_.ringing, uint8_t{0})));
  after_wake();
}

void ReplicaSteps::after_wake() {
  if (r_.bits != 0) return go(At::kWakeClear, r_.index);
  if (r_.moved != 0) return go(At::kWakeLoad);
  switch (std::exchange(r_.then, Then::kClaimNext)) {
    case Then::kClaimNext:
      return claim_next();
    case Then::kStoreEnd:
      return go(At::kEndStore);
    case Then::kStopAtEndOfData:
      return go(At::kStopStore);
  }
}

void ReplicaSteps::leave() {
  if (!has(kStorePending)) r_.task = 0;
  r_.table = r_.epoch = 0;
  clear(kPadding);
  go(At::kLeft);
}

void ReplicaSteps::store_end() {
  uint8_t& end = state_.end[watermark().index_space];
  const int level = state_.level[watermark_number()];
  shared_.require(end == kUnknownEnd || end == level, "end was set to two values");
  shared_.require(level % index_space().lcm == 0, "the end is no multiple of L");
  end = static_cast<uint8_t>(level);
  clear(kEnding);
  clear(kPadding);
  if (faulty(Fault::kEndWithoutDoorbells)) return claim_next();
  r_.bits = static_cast<uint8_t>(index_space().replicas & ~bit(me_));
  go(At::kEndRing);
}

void ReplicaSteps::ring_end(int choice) {
  shared_.ring_one_of(r_.bits, choice);
  if (r_.bits != 0) return go(At::kEndRing);
  claim_next();
}

}  // namespace brigade::model
