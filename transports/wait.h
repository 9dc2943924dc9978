#pragma once

// Sleeping until there is work. Spin a little if cores are free, then the sleeper's
// steps: store the position to wait for, read the own doorbell, set the own bit on that
// watermark, make that visible to every finisher, look again, sleep on the doorbell. A
// sleeper is also rung after every repair, stop and end. An idle graph uses no CPU.

#include <algorithm>
#include <cstdint>
#include <span>

#include "transports/channel.h"

namespace brigade {

struct DoNothing {
  void operator()() const {}
};

/// Until the doorbell is rung.
template <class P>
struct SleepUntilRung {
  template <class Word>
  void operator()(Word& rings, std::uint32_t seen) const {
    P::sleep(rings, seen);
  }
};

/// Calls `attempt()` until it claims or ends, sleeping in between. `spins`: looks before that, with
/// growing pauses; 0 when runnable threads are as many as cores. `before_sleep()` is called once,
/// when those have found nothing. `also`: the other watermarks that can unblock an attempt which
/// looks at several task queues (it can name only one); the sleeper's bit is set on all.
/// `sleep(word, seen)`: as P::sleep(), which may return early.
template <class P, class TryClaim, class BeforeSleep = DoNothing, class Sleep = SleepUntilRung<P>>
Attempt<P> claim_or_wait(const Control<P>& control, int replica, int spins, TryClaim&& attempt,
                         BeforeSleep&& before_sleep = {}, std::span<Watermark<P>* const> also = {},
                         Sleep&& sleep = {}) {
  Attempt<P> found = attempt();
  for (int i = 0; i < spins && found.look == Look::blocked; ++i) {
    for (int pause = 0; pause <= std::min(i, kSpinPausesMax); ++pause) P::relax();
    found = attempt();
  }
  if (found.look != Look::blocked) return found;
  before_sleep();
  Doorbell<P>& doorbell = control.doorbells[replica];
  for (;;) {
    Watermark<P>* watermark = found.blocked_on;
    const std::uint64_t until = also.empty() ? found.until : std::min(found.until, kAnyMovement);
    P::point(FaultPoint::wait_before_bit);
    doorbell.until.store(until, std::memory_order_relaxed);  // published by the bit
    const std::uint32_t rings = doorbell.rings.load(std::memory_order_seq_cst);
    if (watermark != nullptr) set_waiter(watermark->waiters, replica);
    for (Watermark<P>* other : also) set_waiter(other->waiters, replica);
    P::point(FaultPoint::wait_after_bit);
    if (control.wake_order == WakeOrder::by_sleeper) P::barrier_everywhere();  // doorbell.h
    found = attempt();
    const auto watched = [&](const Watermark<P>* blocking) {
      return blocking == watermark || std::find(also.begin(), also.end(), blocking) != also.end();
    };
    // Less may do now than what was said: an end was lowered, or a task is open again.
    if (found.look == Look::blocked && watched(found.blocked_on) && found.until >= until) {
      P::point(FaultPoint::wait_before_sleep);
      sleep(doorbell.rings, rings);
      found = attempt();
    }
    P::point(FaultPoint::wait_before_clear);
    if (watermark != nullptr) clear_waiter(watermark->waiters, replica);
    for (Watermark<P>* other : also) clear_waiter(other->waiters, replica);
    if (found.look != Look::blocked) return found;
  }
}

}  // namespace brigade
