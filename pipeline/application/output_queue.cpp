#include "pipeline/application/output_queue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <brigade/text.h>
#include "base/thread.h"
#include "base/units.h"
#include "pipeline/plan/order_fingerprint.h"
#include "pipeline/worker/replica/task_loop.h"
#include "pipeline/worker/tasks/resume_filter.h"
#include "transports/audit.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::int64_t kAbortSeenWithinNs = 100'000'000;
constexpr std::size_t kHoldersNamed = 4;
constexpr std::string_view kRelease =
    "; release batches before requesting the next one, or raise `hold:`";
constexpr int kPoison = 0xff;  // of floating point no number, of others -1 or the largest

#ifdef NDEBUG
constexpr bool kPoisonsUnasked = false;
#else
constexpr bool kPoisonsUnasked = true;
#endif

}  // namespace

bool is_to_poison() {
  const char* const asked = std::getenv(kPoisonVariable);
  return asked == nullptr ? kPoisonsUnasked : std::string_view(asked) != "0";
}

OutputQueue::OutputQueue(std::shared_ptr<RunMemory> memory, StageNumber stage,
                         std::shared_ptr<ProgramEnds> ends)
    : poisons_(is_to_poison()),
      memory_(std::move(memory)),
      ends_(std::move(ends)),
      rings_(memory_->views->rings()),
      context_(program_context(*memory_, stage, rings_)),
      queues_(*context_.control, stage, 0),
      handed_out_(context_.stage->queues.size()),
      counters_(context_),
      standstill_(context_) {
  for (const QueueNumber queue : context_.stage->queues.numbers())
    handed_out_[static_cast<std::size_t>(queue.value())] =
        queue_level(*context_.control, stage, queue);
  if (takes_any_order(*context_.stage)) queues_.take_any_order();
  for (std::uint64_t i = 0; i < context_.stage->hold; ++i) places_.emplace_back(context_);
}

OutputQueue::~OutputQueue() {
  if (drain_.joinable()) drain_.join();
}

Result<std::optional<Batch>> OutputQueue::next(std::uint64_t last_epoch, const Output::Here& at,
                                               bool waits) {
  if (mark_.in_child()) return Error{concat("output ", quote(stage().name), ": ", kForkedText)};
  if (in_next_.exchange(true))
    return Error{concat("output ", quote(stage().name),
                        ": two threads request its next batch; use one thread at a time")};
  reader_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  auto taken = take(last_epoch, at, waits);
  in_next_.store(false);
  return taken;
}

Result<std::optional<Batch>> OutputQueue::take(std::uint64_t last_epoch, const Output::Here& at,
                                               bool waits) {
  end_task();
  InterruptibleSleep sleep(ends_->interrupted(), !waits);
  while (!over_) {
    Place& place = places_[next_number_ % places_.size()];
    BRIGADE_TRY(wait_for(place, sleep));
    if (place.held.load(std::memory_order_acquire)) break;  // the run has failed
    const Attempt<SystemPolicy> found = claim(last_epoch, sleep);
    if (sleep.interrupted()) return interrupted();
    if (stuck_) return *std::exchange(stuck_, std::nullopt);
    if (found.look == Look::ended) {
      if (queues_.all_ended()) end();
      break;
    }
    place.number = next_number_;
    place.at = at;
    place.taken_ns = monotonic_ns();
    const bool given = fill(place, found.task);
    handed_out_[static_cast<std::size_t>(place.queue.value())].store(
        (found.task + 1) * queues_.at(place.queue).task_size(), std::memory_order_release);
    if (!given) {
      give_back(place);
      continue;
    }
    place.shown = true;
    ++next_number_;  // the window counts what a program sees, no padding
    const Inputs record = place.slots.readers[place.queue].inputs();
    context_.counters().epochs.store(record.info(0).epoch, std::memory_order_relaxed);
    return std::optional(
        Batch(std::make_shared<const Hold>(shared_from_this(), place, record.frame())));
  }
  return std::optional<Batch>();
}

ByQueue<std::uint64_t> OutputQueue::handed_out() const {
  ByQueue<std::uint64_t> levels;
  for (const auto& level : handed_out_) levels.push_back(level.load(std::memory_order_acquire));
  return levels;
}

void OutputQueue::end_task() {
  if (in_work_ > 0) counters_.end_task(std::exchange(in_work_, 0));
}

/// Ended, too, where the program has interrupted `sleep`.
Attempt<SystemPolicy> OutputQueue::claim(std::uint64_t last_epoch, InterruptibleSleep& sleep) {
  auto& rings = context_.control->doorbells[context_.number()].rings;
  while (!begun_) {
    const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
    begun_ = has_started(context_);
    if (!begun_) sleep(rings, seen);
    if (sleep.interrupted()) return {Look::ended};
  }
  queues_.set_last_epoch(last_epoch);
  standstill_.begin(counters_.now_ns());
  const auto attempt = [&]() -> Attempt<SystemPolicy> {
    if (sleep.interrupted()) return {Look::ended};
    const Attempt<SystemPolicy> found = queues_.try_claim();
    if (found.look != Look::blocked || !standstill_.found()) return found;
    stuck_ = why_nothing_moves();
    return {Look::ended};
  };
  return claim_counted(context_, queues_, counters_, 0, attempt, sleep);
}

Error OutputQueue::interrupted() const {
  return {concat("output ", quote(stage().name), ": the wait for its next batch was interrupted"),
          Refusal::interrupted};
}

Error OutputQueue::why_nothing_moves() const {
  std::string held = holders();
  if (!held.empty())
    held = concat(
        "the next batch needs the memory of batches that the program holds, including padding and "
        "dropped samples: ",
        held, kRelease);
  const bool by_held = !held.empty() && standstill_.unread().empty();
  return {
      concat("output ", quote(stage().name), " receives no batch, and no stage makes progress: ",
             standstill_.text("alternate between the outputs, or drop that one", held)),
      by_held ? Refusal::held : Refusal::unread};
}

/// What a stage would be shown. False: no sample of it is left.
bool OutputQueue::fill(Place& place, std::uint64_t task) {
  counters_.begin_task();
  place.queue = queues_.queue();
  place.task = task;
  place.finished = false;
  place.held.store(true, std::memory_order_relaxed);
  const std::uint64_t first = task * queues_.at(place.queue).task_size();
  RecordReader& reader = place.slots.begin(place.queue, first);
  SlotStates& states = reader.states();
  const std::uint64_t before =
      filter_resumed(context_.resumed(place.queue), first, reader.headers(), states);
  place.not_full = {states.pads, states.empty_slots - before, 0, 0, 0, before};
  if (stage().drop_last && states.pads > 0) place.not_full.dropped = std::exchange(states.full, 0);
  if (states.full == 0) return false;
  reader.select_full();
  in_work_ = states.full;
  return true;
}

/// The place is free then, or the run is aborting.
Result<void> OutputQueue::wait_for(const Place& place, InterruptibleSleep& sleep) {
  if (!place.held.load(std::memory_order_acquire)) return {};
  // Either who returns it sees this, or the look below sees that it has been returned.
  waiting_.store(true, std::memory_order_seq_cst);
  const std::int64_t since = monotonic_ns(), until = since + stage().hold_timeout_ns;
  std::int64_t now = since;
  bool held = true;
  for (bool is_last = false;; is_last = now >= until) {
    const std::uint32_t seen = freed_.load(std::memory_order_seq_cst);
    held = place.held.load(std::memory_order_seq_cst);
    if (!held || is_last || sleep.interrupted() || is_aborting(*context_.control)) break;
    sleep.until(freed_, seen, std::min(until, now + kAbortSeenWithinNs));
    now = monotonic_ns();
    if (now >= since + kHeldToldAfterNs && until > since + kHeldToldAfterNs) tell_wait();
  }
  waiting_.store(false, std::memory_order_relaxed);
  counters_.end_wait(Cause::barrier);
  if (sleep.interrupted()) return interrupted();
  if (!held || is_aborting(*context_.control)) return {};
  return Error{concat("output ", quote(stage().name), ": `hold: ", places_.size(),
                      "` is reached, counted from the oldest held batch, which was not released "
                      "within ",
                      hold_timeout_text(stage().hold_timeout_ns), ": ", holders(), kRelease),
               Refusal::held};
}

/// Once for each output: a program that does it again knows.
void OutputQueue::tell_wait() {
  if (std::exchange(wait_told_, true)) return;
  const auto held = std::count_if(places_.begin(), places_.end(),
                                  [](const Place& place) { return place.held.load(); });
  ends_->tell(
      {.kind = EventKind::stalled,
       .level = EventLevel::warning,
       .stage = stage().name,
       .message = concat("output ", quote(stage().name), " waits for the program to release ",
                         "a batch, for at most ", hold_timeout_text(stage().hold_timeout_ns),
                         ": the program holds ", held, " of `hold: ", places_.size(),
                         "`, counted from the oldest: ", holders(), kRelease)});
}

/// Where each batch that is held was taken.
std::string OutputQueue::holders() const {
  std::string held;
  std::size_t named = 0;
  for (std::uint64_t i = 0; i < places_.size(); ++i) {  // from the oldest on
    const Place& place = places_[(next_number_ + i) % places_.size()];
    if (!place.held.load(std::memory_order_acquire)) continue;
    if (++named > kHoldersNamed) {
      held += ", and more";
      break;
    }
    held +=
        concat(named == 1 ? "" : ", ", "batch ", place.number, " (taken at ", place.at.file, ":",
               place.at.line, ", ", format_nanoseconds(monotonic_ns() - place.taken_ns), " ago)");
  }
  return held;
}

OutputQueue::Hold::~Hold() {
  if (queue_->mark_.in_child()) {
    keep_for_ever(std::move(queue_));
  } else {
    queue_->give_back(place_);
  }
}

/// The sizes of ragged samples are the graph's: who writes a slot reads those of the one before.
bool OutputQueue::Hold::writable(const std::byte* at) const {
  for (std::size_t f = 0; f < frame().fields.size(); ++f) {
    const Field& field = frame().fields[f];
    const std::byte* const end =
        field.data + static_cast<std::size_t>(frame().samples) * field.sample_stride;
    if (is_shape_field(frame(), f) && at >= field.data && at < end) return false;
  }
  return queue_->memory_->views->writable(at);
}

void OutputQueue::give_back(Place& place) {
  returned_.add(place);
  returned_.finish_all([this](HeldTask& task) { finish_returned(static_cast<Place&>(task)); });
}

void OutputQueue::finish_returned(Place& place) {
  if (std::exchange(place.shown, false) && poisons_) poison(place);
  place.finish(queues_);
  place.held.store(false, std::memory_order_seq_cst);
  if (!waiting_.load(std::memory_order_seq_cst)) return;
  freed_.fetch_add(1, std::memory_order_seq_cst);
  SystemPolicy::wake(freed_);
}

/// Not what others read, and not the sizes of ragged samples: they are the graph's.
void OutputQueue::poison(Place& place) {
  const Inputs record = place.slots.readers[place.queue].inputs();
  const Frame& frame = record.frame();
  for (std::size_t f = 0; f < frame.fields.size(); ++f) {
    std::byte* const data = frame.fields[f].data;
    if (is_shape_field(frame, f) || !memory_->views->writable(data)) continue;
    for_each_part(frame, f, [data](std::size_t offset, std::size_t bytes) {
      std::memset(data + offset, kPoison, bytes);
    });
  }
}

template <class Work>
void OutputQueue::in_turn(Work&& work) {
  returned_.in_turn(work, [this](HeldTask& task) { finish_returned(static_cast<Place&>(task)); });
}

/// Somebody's last look has found that all has been claimed.
void OutputQueue::end() {
  over_ = true;
  if (!closed_) ends_->closed(ProgramEnds::Closing::at_its_end);
  in_turn([this] {
    for (Place& place : places_) place.finish(queues_);
  });
  context_.counters().epochs.store(context_.plan->epochs, std::memory_order_relaxed);
  ends_->done(context_.number());
}

void OutputQueue::let_go() {
  if (mark_.in_child() || over_ || is_aborting(*context_.control)) return;
  closed_ = true;
  const bool holds = std::any_of(places_.begin(), places_.end(),
                                 [](const Place& place) { return place.held.load(); });
  ends_->closed(holds ? ProgramEnds::Closing::before_held : ProgramEnds::Closing::before);
  auto started = start_thread([this] { drain(); });
  if (!started) return fail(started.error().message);
  drain_ = std::move(*started);
}

/// Nobody reads them: memory that somebody holds is not touched by that.
void OutputQueue::drain() {
  end_task();
  Place unread(context_);
  const Interrupted nobody;
  InterruptibleSleep sleep(nobody);
  for (;;) {
    const Attempt<SystemPolicy> found = claim(kNever, sleep);
    if (std::exchange(stuck_, std::nullopt)) continue;  // for the program's other outputs to say
    if (found.look == Look::ended) return end();
    fill(unread, found.task);
    unread.not_full.quarantined += std::exchange(in_work_, 0);
    in_turn([&] { unread.finish(queues_); });
  }
}

}  // namespace brigade
