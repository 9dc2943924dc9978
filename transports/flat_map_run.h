#pragma once

// The loop of a flat_map stage over its task queues (flat_map_queues.h): take one sample of an
// input, alternating between inputs, write its outputs one by one into the ring, consume the input.
//
// Epoch e of the output is made of epoch e of every input: an input at the end of its epoch
// waits for the others. Then the end is recorded, the rest up to a multiple of L is padding, and
// the stage is notified. If an input was closed early (a stream's `max_wait`), so is the output.
// After a stop the inputs drain, whatever their epochs, and the output ends. In a resumed run,
// inputs may repeat epochs that were already output, possibly all of them: they are dropped.
//
// The position of a successor follows from the watermarks, the journal and the recorded ends.
//
// `Body` is the stage itself:
//
//   Result<FlatMapInput> look(int port, std::uint64_t number)   its outputs, in private memory
//   void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch)
//                                                            output i of it is slot `number`
//   void pad(std::uint64_t number, std::uint64_t epoch)      slot `number` is padding
//   void done(const FlatMapInput& input)                     the input is consumed
//   Result<void> tell(std::uint64_t epoch)                   the epoch is over; again, where a
//                                                            death came in between
//   void interrupt()                                         its work waits for memory
//   void begin_wait(Cause cause), end_wait(Cause cause)      around a sleep
//
// One replica's; one thread.

#include <cstdint>
#include <utility>
#include <vector>

#include <brigade/result.h>
#include "transports/flat_map_queues.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade {

/// What an input came to.
struct FlatMapInput {
  std::uint64_t outputs = 0;
  SlotCounts not_full;
};

template <class P, class Body>
class FlatMapRun {
 public:
  /// `multiples`: L of the index space of each task queue, the output's first. `spins`: attempts
  /// before sleeping.
  FlatMapRun(Control<P>& control, StageNumber stage, ByQueue<std::uint64_t> multiples, int spins,
             Body& body)
      : control_(&control),
        body_(&body),
        queues_(control, stage),
        replica_(control.shape->stages[stage].first_replica),
        index_space_(control.shape->stages[stage].queues[0].index_space),
        ends_(&control.epoch_ends[index_space_]),
        multiples_(std::move(multiples)),
        spins_(spins),
        epoch_(queues_.output().epochs().passed(queues_.output().level())) {
    const std::uint64_t ended = ends_->size();
    // A predecessor may have recorded the last end and died before it could say that this is all.
    if (ended > 0) end_epoch(control, index_space_, ended - 1, ends_->at(ended - 1));
  }

  /// Until there is nothing more to give. An error of the body ends the run.
  Result<void> run();

 private:
  Result<void> take(std::uint64_t number);
  bool closes(const FlatMapInput& input, std::uint64_t number);
  bool pad_up_to(std::uint64_t end);
  std::uint64_t room();
  Result<void> pass_epoch();
  Result<void> tell();
  void end_inputs();
  std::uint64_t closed(std::uint64_t number) const {
    return (number + multiples_[0] - 1) / multiples_[0] * multiples_[0];
  }
  template <class TryClaim>
  Attempt<P> wait(TryClaim&& attempt, std::span<Watermark<P>* const> also = {});

  Control<P>* control_;
  Body* body_;
  FlatMapQueues<P> queues_;
  int replica_;  // of the graph
  IndexSpaceNumber index_space_;
  const NumberList<P>* ends_;
  ByQueue<std::uint64_t> multiples_;
  int spins_;
  std::uint64_t epoch_;
  bool over_ = false;
};

template <class P, class Body>
Result<void> FlatMapRun<P, Body>::run() {
  BRIGADE_TRY(tell());
  while (!over_) {
    const bool has_epochs = epoch_ < ends_->capacity();
    if (has_epochs && ends_->at(epoch_) != kNever) {
      BRIGADE_TRY(pass_epoch());
      continue;
    }
    queues_.set_epoch(epoch_);
    const Attempt<P> found = wait([this] { return queues_.try_input(); }, queues_.watched());
    if (found.look == Look::claimed) {
      BRIGADE_TRY(take(found.task));
    } else if (is_aborting(*control_) || !has_epochs) {
      break;
    } else {
      end_inputs();
    }
  }
  return {};
}

template <class P, class Body>
template <class TryClaim>
Attempt<P> FlatMapRun<P, Body>::wait(TryClaim&& attempt, std::span<Watermark<P>* const> also) {
  Attempt<P> found = attempt();
  if (found.look == Look::claimed) return found;
  Cause cause = found.cause;
  const auto look = [&] {
    const Attempt<P> again = attempt();
    if (again.look == Look::blocked) cause = again.cause;
    return again;
  };
  const auto before_sleep = [&] { body_->begin_wait(cause); };
  found = claim_or_wait<P>(*control_, replica_, spins_, look, before_sleep, also);
  body_->end_wait(cause);
  return found;
}

template <class P, class Body>
Result<void> FlatMapRun<P, Body>::take(std::uint64_t number) {
  P::point(FaultPoint::work_start);
  const int port = queues_.port();
  BRIGADE_ASSIGN(const FlatMapInput input, body_->look(port, number));
  if (input.outputs > 0) {
    // Those below the watermark are a predecessor's.
    for (std::uint64_t i = queues_.output().level() - queues_.begin(); i < input.outputs; ++i) {
      const std::uint64_t slot = room();
      if (over_) return {};
      body_->write(port, i, slot, epoch_);
      queues_.publish(slot, {});
    }
  } else if (closes(input, number) && !pad_up_to(closed(queues_.begin()))) {
    return {};
  }
  queues_.consume(number, input.not_full);
  body_->done(input);
  return {};
}

/// Whether a slot of padding is the last of an input that was closed in the middle of an epoch, and
/// there is something to close here.
template <class P, class Body>
bool FlatMapRun<P, Body>::closes(const FlatMapInput& input, std::uint64_t number) {
  if (input.not_full.pads == 0 || (number + 1) % multiples_[input_queue(queues_.port())] != 0)
    return false;
  return queues_.output().level() % multiples_[0] != 0 &&
         number + 1 != queues_.input(queues_.port()).epochs().end(epoch_);
}

/// False: the run is over.
template <class P, class Body>
bool FlatMapRun<P, Body>::pad_up_to(std::uint64_t end) {
  while (queues_.output().level() < end) {
    const std::uint64_t slot = room();
    if (over_) return false;
    body_->pad(slot, epoch_);
    queues_.publish(slot, {1, 0, 0});
  }
  return true;
}

/// The number of the next output, unless the run is over.
template <class P, class Body>
std::uint64_t FlatMapRun<P, Body>::room() {
  Attempt<P> found = queues_.try_output();
  if (found.look == Look::blocked) {
    body_->interrupt();
    found = wait([this] { return queues_.try_output(); });
  }
  over_ = found.look != Look::claimed;
  return found.task;
}

/// The end of the epoch is recorded: what is left of it is padding.
template <class P, class Body>
Result<void> FlatMapRun<P, Body>::pass_epoch() {
  if (!pad_up_to(ends_->at(epoch_))) return {};
  ++epoch_;
  return tell();
}

/// The stage learns of the epochs that are over; a call that was cut short is made again.
template <class P, class Body>
Result<void> FlatMapRun<P, Body>::tell() {
  auto& told = control_->replicas[replica_].ended.value;
  for (std::uint64_t epoch = told.load(std::memory_order_relaxed); epoch < epoch_; ++epoch) {
    BRIGADE_TRY(body_->tell(epoch));
    told.store(epoch + 1, std::memory_order_relaxed);
  }
  return {};
}

/// No input has anything more in this epoch: each has come to its end, or, after a stop, to an end
/// of its own in the middle of it. In that case the others may have more in the epochs that follow.
template <class P, class Body>
void FlatMapRun<P, Body>::end_inputs() {
  bool epoch_is_over = true;
  bool all_over = true;
  for (int port = 0; port < queues_.ports(); ++port) {
    const std::uint64_t level = queues_.input(port).level();
    epoch_is_over = epoch_is_over && level == queues_.input(port).epochs().end(epoch_);
    all_over = all_over && level == queues_.input(port).end();
  }
  const std::uint64_t end = closed(queues_.output().level());
  if (epoch_is_over || !all_over) return end_epoch(*control_, index_space_, epoch_, end);
  if (pad_up_to(end)) end_index_space(*control_, index_space_, end);
  over_ = true;
}

}  // namespace brigade
