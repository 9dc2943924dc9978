// A line whose victim gives a stream: its loops are those of pipeline/worker/replica, without the
// stage that they ask and its waits.

#include <brigade/text.h>
#include "tests/stress/swept_line.h"
#include "transports/stop.h"
#include "transports/stream_ends.h"
#include "transports/wait.h"

namespace brigade::stress {
namespace {

constexpr StageNumber kStream = 0;

/// Of an epoch, or of a replica.
std::uint64_t streamed_value(std::uint64_t part, std::uint64_t sample) {
  return 1000 * (part + 1) + sample;
}

}  // namespace

template <class P>
int SweptLine::live_as_stream(Control<P>& control, void (*watermark)()) {
  if (shape_of(kStream).replicas == 1) {
    live_as_whole_stream(control, watermark);
  } else {
    live_as_shared_stream(control, watermark);
  }
  return worker_pool_.problem.empty() ? 0 : 1;
}

template int SweptLine::live_as_stream(Control<SystemPolicy>&, void (*)());
template int SweptLine::live_as_stream(Control<HandsPolicy>&, void (*)());

template <class P>
Attempt<P> SweptLine::claim_of_stream(Control<P>& control, JoinedQueues<P>& queues) {
  enter(Section::claim);
  const Attempt<P> claim = queues.try_claim();
  if (claim.look != Look::blocked) return claim;
  enter(Section::wait);
  return claim_or_wait<P>(control, victim(), 0, [&] { return queues.try_claim(); });
}

// --- one replica -------------------------------------------------------------------------------

/// Goes on from the slot before the watermark.
template <class P>
void SweptLine::live_as_whole_stream(Control<P>& control, void (*watermark)()) {
  const std::uint64_t size = shape_of(kStream).queues[0].task;
  const std::uint64_t multiple = support::line_multiple(shape_);
  const std::uint64_t level = queue_level(control, kStream, 0);
  std::uint64_t epoch = 0, index = 0;
  bool padding = false;
  if (level > 0) {
    const SlotHeader& last = *rings_[kStream].headers(level - 1);
    padding = last.state == SlotState::pad;
    epoch = last.epoch;
    index = last.index + (padding ? 0 : 1);
  }
  JoinedQueues<P> queues(control, kStream, 0);
  StreamEnds<P> ends(control, kStream, multiple, padding);
  watermark();
  for (;;) {
    const Attempt<P> claim = claim_of_stream(control, queues);
    if (claim.look == Look::ended) break;
    const std::uint64_t first = claim.task * size;
    enter(Section::end);
    if (!ends.enter(first)) continue;
    if (epoch != ends.epoch()) index = 0;
    epoch = ends.epoch();
    SlotCounts counts;
    std::uint64_t owed = kNever;  // under the mistake: the number to end the epoch at
    std::uint64_t slot = 0;
    while (slot < size) {
      const std::uint64_t number = first + slot;
      const bool pads = ends.is_padding(number);
      if (!pads && index == spec_.streamed[epoch]) {
        enter(Section::end);
        if (spec_.mistake == StreamMistake::padding_before_end && number % multiple != 0) {
          ends.close(owed = number);
        } else {
          ends.end(number);
        }
        if (slot == 0 && number % multiple == 0) break;
        continue;
      }
      enter(Section::work);
      write_slot(kStream, {{number, index, pads ? 0 : streamed_value(epoch, index),
                            static_cast<std::uint32_t>(epoch)},
                           pads ? SlotState::pad : SlotState::full});
      ++(pads ? counts.pads : index);
      ++slot;
    }
    if (slot < size) continue;
    enter(Section::finish);
    queues.finish(claim.task, counts);
    if (owed != kNever) ends.end(owed);
  }
  watermark();
}

/// Its end is recorded before the padding up to it is published.
void SweptLine::check_padding(const SlotHeader& header) {
  if (spec_.streamed.empty() || shape_of(kStream).replicas > 1) return;
  if (header.state != SlotState::pad) return;
  const std::uint64_t end = control_.epoch_ends[0].at(header.epoch);
  if (end == kNever || end <= header.number)
    say(concat("slot ", header.number, " is padding of an epoch without an end"));
}

// --- several -----------------------------------------------------------------------------------

template <class P>
void SweptLine::live_as_shared_stream(Control<P>& control, void (*watermark)()) {
  JoinedQueues<P> queues(control, kStream, 0);
  SharedStreamEnds<P> ends(control, kStream, 0, support::line_multiple(shape_));
  watermark();
  for (;;) {
    enter(Section::end);
    bool ready = ends.stop() != Stop::none || (!ends.is_over() && has_more(0));
    if (!ready) {
      ends.end();
      ready = ends.acknowledge();
    }
    if (!ready) {
      ends.wait_for_others();
      continue;
    }
    const Attempt<P> claim = claim_of_stream(control, queues);
    if (claim.look == Look::ended) break;
    const bool over = ends.is_over() || ends.stop() != Stop::none;
    const bool last = given(0) + 1 >= spec_.streamed[0];
    if (spec_.mistake == StreamMistake::acknowledged_in_work && !over && last) {
      ends.end();
      ends.acknowledge();
    }
    enter(Section::work);
    const SlotCounts counts = share(0, claim.task, over);
    enter(Section::finish);
    queues.finish(claim.task, counts);
  }
  watermark();
}

std::uint64_t SweptLine::given(int replica) const {
  const auto& tally = control_.stages[kStream].queues[0].tallies[replica];
  return tally.entries[tally.newest()].counts().samples_done;
}

bool SweptLine::has_more(int replica) const { return given(replica) < spec_.streamed[replica]; }

/// Writes the slots of one of its tasks; `over`: padding alone.
SlotCounts SweptLine::share(int replica, std::uint64_t task, bool over) {
  const std::uint64_t size = shape_of(kStream).queues[0].task;
  std::uint64_t next = given(replica);
  SlotCounts counts;
  for (std::uint64_t number = task * size; number < (task + 1) * size; ++number) {
    const bool full = !over && next < spec_.streamed[replica];
    const auto part = static_cast<std::uint64_t>(replica);
    write_slot(kStream, {{number, number, full ? streamed_value(part, next) : 0, 0},
                         full ? SlotState::full : SlotState::pad});
    next += full ? 1 : 0;
    ++(full ? counts.samples_done : counts.pads);
  }
  return counts;
}

SlotCounts SweptLine::share_in_hands(int replica, std::uint64_t task) {
  const SharedStreamEnds<H> ends(control_, kStream, replica, support::line_multiple(shape_));
  return share(replica, task, ends.is_over() || ends.stop() != Stop::none);
}

/// A hand that has nothing more to give acknowledges, and sleeps until all have.
bool SweptLine::rests(Hand& hand) {
  if (!is_stream(hand.stage)) return false;
  SharedStreamEnds<H> ends(control_, kStream, hand.replica, support::line_multiple(shape_));
  if (ends.stop() != Stop::none || (!ends.is_over() && has_more(hand.replica))) return false;
  ends.end();
  if (ends.acknowledge()) return false;
  hand.waits_on.clear();
  hand.state = Hand::State::asleep;
  hand.rung = false;
  return true;
}

/// What the supervisor does for a replica that does not come back.
void SweptLine::give_up_stream() {
  worker_pool_.gave_up = true;
  control_.replicas[victim()].ack.value.store(1);
  ring_everybody(control_);
  end_if_all_acknowledged(control_, kStream, support::line_multiple(shape_));
  hand_out_wakes();
}

/// Each sample of each epoch, or of each replica, once and in order; the rest is padding.
void SweptLine::check_stream() {
  std::vector<std::uint64_t> next(spec_.streamed.size());
  std::uint64_t full = 0;
  for (const std::uint64_t value : worker_pool_.seen) {
    if (value == 0) continue;
    const std::uint64_t part = value / 1000 - 1;
    if (value != streamed_value(part, next[part]++))
      say(concat("samples of part ", part, " of the stream were lost, repeated or mixed up"));
    ++full;
  }
  for (std::size_t part = 0; part < next.size(); ++part) {
    if (next[part] != spec_.streamed[part] && !(worker_pool_.gave_up && part == 0))
      say(concat(next[part], " samples of part ", part, " of the stream came"));
  }
  check_audit(kStream, StageNumber(1), 0, full);
}

}  // namespace brigade::stress
