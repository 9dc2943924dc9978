#pragma once

// Sleeping until there is work. Spin a little where cores are free, then the sleeper's four steps:
// set my bit on the mark I wait for, read my bell, look again, sleep on the bell. A sleeper is also
// rung after every repair, stop and end. An idle graph uses no CPU.

#include <algorithm>
#include <cstdint>
#include <span>

#include "transports/channel.h"

namespace brigade {

/// Calls `attempt()` until it claims or ends, sleeping in between. `pay()` is called before
/// sleeping or leaving: it must pay every wake this replica owes. `spins`: looks before that, with
/// growing pauses; 0 when runnable threads are as many as cores. `also`: the other marks that can
/// unblock an attempt which looks at several lanes (it can name only one); the sleeper's bit is set
/// on all.
template <class P, class TryClaim, class Pay>
Attempt<P> claim_or_wait(Bell<P>& bell, int replica, int spins, TryClaim&& attempt, Pay&& pay,
                         std::span<Mark<P>* const> also = {}) {
  Attempt<P> found = attempt();
  if (found.look == Look::claimed) return found;
  for (int i = 0; i < spins && found.look == Look::blocked; ++i) {
    for (int pause = 0; pause <= std::min(i, kSpinPausesMax); ++pause) P::relax();
    found = attempt();
    if (found.look == Look::claimed) return found;
  }
  pay();
  if (found.look == Look::ended) return found;
  for (;;) {
    Mark<P>* mark = found.blocked_on;
    P::point(FaultPoint::wait_before_bit);
    if (mark != nullptr) set_waiter(mark->waiters, replica);
    for (Mark<P>* other : also) set_waiter(other->waiters, replica);
    P::point(FaultPoint::wait_after_bit);
    const std::uint32_t rings = bell.rings.load(std::memory_order_seq_cst);
    found = attempt();
    const auto watched = [&](const Mark<P>* blocking) {
      return blocking == mark || std::find(also.begin(), also.end(), blocking) != also.end();
    };
    if (found.look == Look::blocked && watched(found.blocked_on)) {
      P::point(FaultPoint::wait_before_sleep);
      P::sleep(bell.rings, rings);
      found = attempt();
    }
    P::point(FaultPoint::wait_before_clear);
    if (mark != nullptr) clear_waiter(mark->waiters, replica);
    for (Mark<P>* other : also) clear_waiter(other->waiters, replica);
    if (found.look != Look::blocked) return found;
  }
}

}  // namespace brigade
