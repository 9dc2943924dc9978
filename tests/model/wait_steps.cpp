// wait and wake: nobody sleeps over a change, and whoever moved a mark owes a wake-up.

#include "tests/model/replica_steps.h"

namespace brigade::model {

// A free stage looks at all its inputs, and sleeps on all of them.
bool ReplicaSteps::one_bit() const {
  return graph_.scenario().sleeper == Sleeper::kBlockingMark && !stage_.free;
}

// The claim cannot go on until `mark` moves (kNoMark: until the bell rings).
void ReplicaSteps::must_wait(int mark) {
  r_.seen = r_.seen_tag = 0;
  if (has(kLooksAgain)) {
    if (one_bit() && mark != r_.blocked_on) return stop_waiting();  // on what has no bit of mine
    return go(has(kBellRead) ? At::kSleep : At::kWaitBell);
  }
  r_.blocked_on = static_cast<uint8_t>(one_bit() ? mark : 0);
  if (r_.owes != 0 && !faulty(Fault::kNoWakeBeforeWait)) return pay(Then::kWait);
  wait();
}

void ReplicaSteps::wait() {
  r_.then = Then::kClaimNext;
  next_bit(At::kWaitSet);
}

// Sets or clears the bit on the next of the marks this wait depends on; then what comes after.
void ReplicaSteps::next_bit(At step) {
  const bool first = r_.at != step;
  const int marks = one_bit() ? 1 : static_cast<int>(mark().waits_on.size());
  const int index = first ? 0 : r_.index + 1;
  const bool none = one_bit() && r_.blocked_on == kNoMark;
  if (index < marks && !none) return go(step, index);
  if (step == At::kWaitSet && !faulty(Fault::kBellAfterRecheck)) return go(At::kWaitBell);
  if (step == At::kWaitSet) return check_everything_again();
  r_.blocked_on = 0;
  claim_next();
}

uint8_t& ReplicaSteps::waiters() {
  return state_.waiters[one_bit() ? r_.blocked_on : mark().waits_on[r_.index]];
}

void ReplicaSteps::set_bit() {
  waiters() = static_cast<uint8_t>(waiters() | bit(me_));
  next_bit(At::kWaitSet);
}

void ReplicaSteps::read_bell() {
  set(kBellRead);
  clear(kRung);
  if (faulty(Fault::kNoRecheck) || has(kLooksAgain)) return go(At::kSleep);
  check_everything_again();
}

void ReplicaSteps::check_everything_again() {
  set(kLooksAgain);
  claim_next();
}

// Something has changed, or the bell rang.
void ReplicaSteps::stop_waiting() {
  clear(kLooksAgain);
  clear(kBellRead);
  clear(kRung);
  r_.seen = r_.seen_tag = 0;
  next_bit(At::kWaitClear);
}

void ReplicaSteps::clear_bit() {
  waiters() = static_cast<uint8_t>(waiters() & ~bit(me_));
  next_bit(At::kWaitClear);
}

void ReplicaSteps::pay(Then then) {
  r_.then = then;
  r_.seen = r_.seen_tag = 0;
  go(At::kWakeLoad);
}

void ReplicaSteps::load_waiters() {
  const int table = __builtin_ctz(r_.owes);
  r_.bits = state_.waiters[graph_.first_mark(stage_number_) + table];
  r_.owes = static_cast<uint8_t>(r_.owes & ~bit(table));
  after_wake();
}

void ReplicaSteps::ring_one(int choice) {
  shared_.ring_one_of(r_.bits, choice);
  after_wake();
}

void ReplicaSteps::after_wake() {
  if (r_.bits != 0) return go(At::kWakeRing);
  if (r_.owes != 0) return go(At::kWakeLoad);
  if (r_.then == Then::kLeave) return leave();
  if (r_.then == Then::kWait) return wait();
  claim_next();
}

void ReplicaSteps::leave() {
  if (r_.owes != 0 && !faulty(Fault::kNoWakeBeforeLeave)) return pay(Then::kLeave);
  if (!has(kStorePending)) r_.task = 0;
  r_.table = r_.epoch = r_.owes = r_.closed = 0;
  r_.then = Then::kClaimNext;
  clear(kPadding);
  go(At::kLeft);
}

void ReplicaSteps::store_end() {
  uint8_t& end = state_.end[mark().domain];
  const int low = stage_.free ? state_.free.ends[state_.free.epochs - 1]
                              : static_cast<int>(state_.low[mark_number()]);
  shared_.require(end == kUnknownEnd || end == low, "end was set to two values");
  shared_.require(low % domain().lcm == 0, "the end is no multiple of L");
  end = static_cast<uint8_t>(low);
  clear(kEnding);
  clear(kPadding);
  if (faulty(Fault::kEndWithoutBells)) return claim_next();
  r_.bits = static_cast<uint8_t>(domain().replicas & ~bit(me_));
  go(At::kEndRing);
}

void ReplicaSteps::ring_end(int choice) {
  shared_.ring_one_of(r_.bits, choice);
  if (r_.bits != 0) return go(At::kEndRing);
  claim_next();
}

}  // namespace brigade::model
