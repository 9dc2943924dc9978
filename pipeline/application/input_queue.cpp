#include "pipeline/application/input_queue.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/units.h"
#include "pipeline/worker/tasks/poll_backoff.h"
#include "pipeline/worker/tasks/streamed_stores.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade {
namespace {

constexpr std::size_t kHoldersNamed = 4;
constexpr const char* kSubmit =
    "submit or drop these before requesting the next, or raise `chunk:`";

}  // namespace

InputQueue::InputQueue(std::shared_ptr<RunMemory> memory, StageNumber stage,
                       std::shared_ptr<ProgramEnds> ends,
                       std::vector<std::shared_ptr<const OutputQueue>> outputs)
    : memory_(std::move(memory)),
      ends_(std::move(ends)),
      outputs_(std::move(outputs)),
      rings_(memory_->segments->slot_rings()),
      context_(program_context(*memory_, stage, rings_)),
      index_space_(context_.stage->queues.front().index_space),
      task_(context_.stage->queues.front().task),
      multiple_(context_.plan->index_spaces[index_space_].multiple),
      queues_(*context_.control, stage, 0),
      epoch_ends_(context_, queues_, nullptr),
      stream_ends_(*context_.control, stage, multiple_, false),
      pads_(*context_.plan, *context_.stage, *context_.rings, stage),
      counters_(context_),
      standstill_(context_) {}

Result<void> InputQueue::check_process() const {
  if (!mark_.in_child()) return {};
  return Error{concat("input ", quote(stage().name), ": ", kForkedText)};
}

Result<void> InputQueue::check() const {
  BRIGADE_TRY(check_process());
  const std::lock_guard lock(mutex_);
  if (closed_) return closed_before();
  return {};
}

bool InputQueue::ended() const {
  if (mark_.in_child()) return true;
  const std::lock_guard lock(mutex_);
  return over_ || stream_ends_.stop() != Stop::none;
}

bool InputQueue::full() const {
  if (mark_.in_child()) return false;
  const std::lock_guard lock(mutex_);
  return handed_ == task_ && held_ > 0;
}

Error InputQueue::closed_before() const {
  return Error{
      concat("input ", quote(stage().name), " is closed: close it once, after the last sample")};
}

Result<std::optional<Slot>> InputQueue::acquire(std::int64_t until_ns, const Input::Here& at) {
  BRIGADE_TRY(check_process());
  if (in_acquire_.exchange(true))
    return Error{concat("input ", quote(stage().name),
                        ": two threads request its next slot; use one thread at a time")};
  auto taken = take(until_ns, at);
  in_acquire_.store(false);
  return taken;
}

Result<std::optional<Slot>> InputQueue::take(std::int64_t until_ns, const Input::Here& at) {
  Place* place = nullptr;
  std::optional<Error> stuck;
  Cause cause = Cause::memory;
  bool closed = false;
  bool waits = false;
  InterruptibleSleep sleep(ends_->interrupted());
  const auto attempt = [&]() -> Attempt<SystemPolicy> {
    if (sleep.interrupted()) return {Look::ended};
    const std::lock_guard lock(mutex_);
    closed = closed_;
    if (closed) return {Look::ended};
    const Attempt<SystemPolicy> found = go_on();
    wake_in_time();
    if (found.look == Look::ended || stream_ends_.stop() != Stop::none) return {Look::ended};
    if (found.look == Look::claimed) place = &hand_out(at);
    if (place != nullptr) return found;
    cause = found.cause;
    if (until_ns == 0 || monotonic_ns() >= until_ns) return {Look::ended};
    if (waits) stuck = why_it_never_comes(found);
    return stuck ? Attempt<SystemPolicy>{Look::ended} : found;
  };
  const auto begin_wait = [&] {
    const std::lock_guard lock(mutex_);
    counters_.begin_wait(cause);
    waits = true;
    standstill_.begin(monotonic_ns());
    acquire_until_ns_ = until_ns;
    if (until_ns != kForEver) ends_->wake_at(until_ns);
  };
  if (attempt().look == Look::blocked) {
    claim_or_wait<SystemPolicy>(*context_.control, context_.number(), 0, attempt, begin_wait, {},
                                sleep);
    const std::lock_guard lock(mutex_);
    counters_.end_wait(cause);
    acquire_until_ns_ = kForEver;
    held_look_ns_ = kForEver;
    waits_since_ns_ = 0;
  }
  if (sleep.interrupted())
    return Error{
        concat("input ", quote(stage().name), ": the wait for a free slot was interrupted"),
        Refusal::interrupted};
  if (closed) return closed_before();
  if (stuck) return *std::move(stuck);
  if (place == nullptr) return std::optional<Slot>();
  return std::optional<Slot>(
      Slot(std::make_unique<Slot::Held>(Slot::Held{shared_from_this(), place})));
}

/// Does whatever can be done without the program. `claimed`: a slot can be handed out; `blocked` by
/// no watermark: all slots of the task are held.
Attempt<SystemPolicy> InputQueue::go_on() {
  while (!over_) {
    if (handed_ == 0) {
      static_cast<void>(epoch_ends_.call_passed());  // there is nobody to call
      const Attempt<SystemPolicy> found = queues_.try_claim();
      if (found.look == Look::blocked) return found;
      if (found.look == Look::ended) {
        over_ = true;
        ends_->done(context_.number());
        break;
      }
      if (!enter(found.task * task_)) continue;
    }
    if (stream_ends_.stop() != Stop::none && !stream_ends_.is_padding(next_number()))
      stream_ends_.close(next_number());
    pad();
    if (handed_ < task_) return {Look::claimed};
    if (held_ > 0) return {Look::blocked, 0, nullptr, Cause::barrier};
    finish_task();
  }
  return {Look::ended};
}

/// False: the index space has ended.
bool InputQueue::enter(std::uint64_t first) {
  if (!stream_ends_.enter(first)) return false;
  first_ = first;
  const auto epoch = static_cast<std::uint32_t>(stream_ends_.epoch());
  if (position_.epoch != epoch) position_ = {epoch, 0, false};
  pads_.begin(first);
  return true;
}

void InputQueue::pad() {
  for (; handed_ < task_ && stream_ends_.is_padding(first_ + handed_); ++handed_) {
    pads_.headers()[handed_] = {{first_ + handed_, position_.index, 0, position_.epoch},
                                SlotState::pad};
    ++not_full_.pads;
  }
}

void InputQueue::finish_task() {
  counters_.begin_task();
  pads_.end(full_);
  queues_.finish(first_ / task_, std::exchange(not_full_, {}));
  counters_.end_task(std::exchange(full_, 0));
  handed_ = 0;
}

InputQueue::Place& InputQueue::hand_out(const Input::Here& at) {
  auto found =
      std::find_if(places_.begin(), places_.end(), [](const Place& place) { return !place.held; });
  if (found == places_.end()) found = places_.emplace(places_.end(), context_, guards_);
  Place& place = *found;
  place.writer.begin(first_);
  place.writer.select(handed_);
  if (place.guard) place.guard->begin(place.writer.outputs().frame());
  place.slot = handed_;
  place.sample = {first_ + handed_, position_.index, position_.index, position_.epoch};
  place.held = true;
  place.at = at;
  place.taken_ns = monotonic_ns();
  ++position_.index;
  ++handed_;
  ++held_;
  return place;
}

Result<void> InputQueue::copy_guarded(Place& place) const {
  const Frame& frame = place.writer.outputs().frame();
  const std::string beside = place.guard->beside(frame);
  if (!beside.empty())
    return Error{concat("input ", quote(stage().name), ": sample ", place.sample.index,
                        " (taken at ", place.at.file, ":", place.at.line, ") was written ", beside,
                        ": keep the writes of the program within its shape")};
  place.guard->end(frame);
  return {};
}

Result<void> InputQueue::commit(Place& place) const {
  BRIGADE_TRY(check_process());
  Result<Next> answer = Next::emit;
  place.writer.check_shapes(answer);
  if (!answer) return answer.error().within(concat("input ", quote(stage().name)));
  if (place.guard) BRIGADE_TRY(copy_guarded(place));
  place.writer.commit(place.slot);
  publish_streamed_stores();
  return {};
}

/// The slot is the program's no more.
Result<void> InputQueue::settle(Place& place, SlotState state) {
  BRIGADE_TRY(check_process());
  const std::lock_guard lock(mutex_);
  place.held = false;
  --held_;
  if (is_aborting(*context_.control))
    return Error{
        concat("input ", quote(stage().name), ": the run has ended and takes no more samples")};
  place.writer.headers()[place.slot] = {place.sample, state};
  ++(state == SlotState::full ? full_ : not_full_.empty_slots);
  settled_ns_ = monotonic_ns();
  go_on();
  wake_in_time();
  if (in_acquire_.load()) ring(context_.control->doorbells[context_.number()]);
  return {};
}

/// Asks the supervisor's thread for a look when something is due that nobody rings for.
void InputQueue::wake_in_time() {
  if (over_ || held_ > 0) return;
  const std::uint64_t number = next_number();
  const bool drains =
      closed_ || stream_ends_.stop() != Stop::none || stream_ends_.is_padding(number);
  if (drains) {
    ends_->wake_at(monotonic_ns() + kStreamPauseLongestNs);
  } else if (number % multiple_ != 0) {
    ends_->wake_at(settled_ns_ + stage().max_wait_ns);
  }
}

void InputQueue::tend() {
  const std::lock_guard lock(mutex_);
  if (over_ || is_aborting(*context_.control)) return;
  const std::int64_t now = monotonic_ns();
  const std::uint64_t number = next_number();
  const bool open = number % multiple_ != 0;  // readers wait for the rest of a batch
  if (open && held_ == 0 && now - settled_ns_ >= stage().max_wait_ns && !closed_ &&
      !stream_ends_.is_padding(number))
    stream_ends_.close(number);
  go_on();
  wake_in_time();
  const std::int64_t look = std::min(acquire_until_ns_, held_look_ns_);
  if (look == kForEver) return;
  if (now < look) return ends_->wake_at(look);
  ring(context_.control->doorbells[context_.number()]);
}

/// Of the lowest epoch whose end is not known. It may be empty, with nothing of it begun.
void InputQueue::end_one_epoch() {
  const NumberList<SystemPolicy>& known = context_.control->epoch_ends[index_space_];
  if (handed_ == 0 && !stream_ends_.enter(next_number())) return;
  std::uint64_t epoch = stream_ends_.epoch();
  if (known.at(epoch) == kNever) return stream_ends_.end(next_number());
  while (known.at(epoch) != kNever) ++epoch;
  if (epoch < epochs())
    brigade::end_epoch(*context_.control, index_space_, epoch, known.at(epoch - 1));
}

void InputQueue::end_the_rest() {
  closed_ = true;
  if (over_ || is_aborting(*context_.control)) return;
  const NumberList<SystemPolicy>& known = context_.control->epoch_ends[index_space_];
  while (known.at(epochs() - 1) == kNever) end_one_epoch();
  go_on();
  wake_in_time();
  ring(context_.control->doorbells[context_.number()]);
}

Result<void> InputQueue::end_epoch() {
  BRIGADE_TRY(check_process());
  const std::lock_guard lock(mutex_);
  if (closed_) return closed_before();
  if (over_ || is_aborting(*context_.control)) return {};
  end_one_epoch();
  const NumberList<SystemPolicy>& known = context_.control->epoch_ends[index_space_];
  closed_ = known.at(epochs() - 1) != kNever;
  go_on();
  wake_in_time();
  return {};
}

Result<void> InputQueue::close() {
  BRIGADE_TRY(check_process());
  const std::lock_guard lock(mutex_);
  if (closed_) return closed_before();
  end_the_rest();
  return {};
}

void InputQueue::let_go() {
  const std::lock_guard lock(mutex_);
  if (!closed_) end_the_rest();
}

/// Nothing: it may still come.
std::optional<Error> InputQueue::why_it_never_comes(const Attempt<SystemPolicy>& found) {
  if (found.cause == Cause::barrier) return held_too_long();
  waits_since_ns_ = 0;
  held_look_ns_ = kForEver;
  if (!standstill_.found() || !only_this_thread_reads()) return std::nullopt;
  return Error{
      concat("input ", quote(stage().name), " has no free slot, and no stage makes progress: ",
             standstill_.text("read that output between writes, or in its own thread")),
      Refusal::unread};
}

std::optional<Error> InputQueue::held_too_long() {
  const std::int64_t now = monotonic_ns();
  if (waits_since_ns_ == 0) waits_since_ns_ = now;
  const std::int64_t until = waits_since_ns_ + stage().hold_timeout_ns;
  if (now >= until)
    return Error{concat("input ", quote(stage().name), ": the program holds ", held_,
                        held_ == 1 ? " slot" : " slots", " that it has not submitted within ",
                        hold_timeout_text(stage().hold_timeout_ns), ": ", holders()),
                 Refusal::held};
  const std::int64_t told = waits_since_ns_ + kHeldToldAfterNs;
  if (now >= told) tell_wait();
  held_look_ns_ = now < told ? std::min(told, until) : until;
  ends_->wake_at(held_look_ns_);
  return std::nullopt;
}

/// Once for each input: a program that does it again knows.
void InputQueue::tell_wait() {
  if (std::exchange(wait_told_, true)) return;
  ends_->tell(
      {.kind = EventKind::stalled,
       .level = EventLevel::warning,
       .stage = stage().name,
       .message = concat("input ", quote(stage().name), " waits for the program to submit ",
                         "or drop slots, for at most ", hold_timeout_text(stage().hold_timeout_ns),
                         ": it holds ", holders())});
}

/// Another thread that has read an output may be at work on its batch.
bool InputQueue::only_this_thread_reads() const {
  const std::vector<std::string> unread = standstill_.unread();
  return std::all_of(outputs_.begin(), outputs_.end(), [&](const auto& output) {
    const std::thread::id reader = output->reader();
    return std::find(unread.begin(), unread.end(), output->stage().name) == unread.end() ||
           reader == std::thread::id() || reader == std::this_thread::get_id();
  });
}

std::string InputQueue::holders() const {
  std::vector<const Place*> held;
  for (const Place& place : places_)
    if (place.held) held.push_back(&place);
  std::sort(held.begin(), held.end(),
            [](const Place* a, const Place* b) { return a->sample.number < b->sample.number; });
  std::string text;
  for (std::size_t i = 0; i < std::min(held.size(), kHoldersNamed); ++i)
    text += concat(i == 0 ? "" : ", ", "sample ", held[i]->sample.index, " (taken at ",
                   held[i]->at.file, ":", held[i]->at.line, ", ",
                   format_nanoseconds(monotonic_ns() - held[i]->taken_ns), " ago)");
  if (held.size() > kHoldersNamed) text += ", and more";
  return concat(text, "; the other slots of their task of ", task_, " are done: ", kSubmit);
}

}  // namespace brigade
