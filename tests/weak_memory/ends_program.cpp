#include "tests/weak_memory/ends_program.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade::weak_memory {
namespace {

// The words of a list are its own; a test that numbers them may look.
template <class Tag, auto kMember>
struct Expose {
  friend auto member(Tag) { return kMember; }
};
struct Entries {
  friend auto member(Entries);
};
template struct Expose<Entries, &NumberList<RecordedPolicy>::entries_>;

constexpr StageNumber kStream = 0, kOther = 1, kConsumer = 2;
constexpr std::uint64_t kEpochs = 2;  // of one sample each

SharedShape ends_shape() {
  SharedShape shape =
      support::line_shape({{1, 1, 2, {}, true}, {1, 1, 2, {}, true}, {1, 1, 0, {0}, true}});
  support::join_two(shape, Interleave::epochs);
  shape.epoch_ends = {kEpochs, kEpochs};
  return shape;
}

}  // namespace

EndsProgram::EndsProgram(bool late, WakeOrder order)
    : late_(late),
      shape_(ends_shape()),
      memory_(control_bytes<P>(shape_)),
      control_(create_control<P>(memory_.data(), shape_, order)) {
  constexpr auto relaxed = std::memory_order_relaxed;
  control_.phase->value.store(static_cast<std::uint64_t>(Phase::running), relaxed);
  control_.index_spaces[1]->end.value.store(kEpochs, relaxed);
  control_.stages[kOther].queues[0].watermark->level.value.store(kEpochs, relaxed);
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch)
    control_.epoch_ends[1].record(epoch, epoch + 1);
  Watermark<P>& stream = *control_.stages[kStream].queues[0].watermark;
  stream_level_ = number(stream.level.value, "the watermark of the stream");
  number(stream.waiters.bits[0], "waiters of the stream");
  auto& queues = control_.stages[kConsumer].queues;
  for (QueueWords<P>& queue : queues)
    number(queue.watermark->level.value, "the watermark of the consumer");
  number(queues[0].watermark->waiters.bits[0], "waiters of the consumer");
  queues[1].watermark->waiters.bits[0].ignore();  // of one whom nobody waits for
  control_.stages[kOther].queues[0].watermark->waiters.bits[0].ignore();
  number(control_.doorbells[kStream.value()].rings, "doorbell of the stream");
  number(control_.doorbells[kStream.value()].until, "until of the stream");
  control_.doorbells[kOther.value()].rings.ignore();
  number(control_.doorbells[kConsumer.value()].rings, "doorbell of the consumer");
  number(control_.doorbells[kConsumer.value()].until, "until of the consumer");
  number(control_.index_spaces[0]->end.value, "end");
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch)
    recorded_.push_back(
        number((control_.epoch_ends[0].*member(Entries{}))[epoch], concat("end of epoch ", epoch)));
}

bool EndsProgram::turn(int thread, uint16_t&) { return thread == 0 ? stream() : consume(); }

/// One sample, and the end of the epoch before it.
bool EndsProgram::stream() {
  channel_.emplace(control_, kStream, QueueNumber(0), 0);
  const Attempt<P> found =
      claim_or_wait<P>(control_, kStream.value(), 0, [&] { return channel_->try_claim(); });
  if (found.look == Look::ended) return false;
  const std::uint64_t number = found.task;
  const auto end_before = [&] {
    if (number > 0) end_epoch(control_, 0, number - 1, number);
  };
  if (!late_) end_before();
  if (number == kEpochs) return true;  // it has said now that this is all
  Machine::active->use_slot(true, static_cast<int>(number), static_cast<int>(number));
  channel_->finish(number);
  if (late_) end_before();
  return true;
}

bool EndsProgram::consume() {
  queues_.emplace(control_, kConsumer, 0);
  const Attempt<P> found =
      claim_or_wait<P>(control_, kConsumer.value(), 0, [&] { return queues_->try_claim(); });
  if (found.look == Look::ended) return false;
  const int task = static_cast<int>(found.task);
  const QueueNumber queue = queues_->queue();
  Machine::active->claim(queue.value(), task);
  const bool in_turn = queue == 1 ? Machine::active->has_claimed(0, task)
                                  : task == 0 || Machine::active->has_claimed(1, task - 1);
  if (!in_turn) Machine::active->fail("a sample comes before the turn of its epoch");
  if (queue == 0) Machine::active->use_slot(false, task, task);
  queues_->finish(found.task, {});
  return true;
}

const char* EndsProgram::at_end(const State& state) const {
  for (const int queue : {0, 1})
    if (state.claimed[queue] != (1u << kEpochs) - 1) return "a sample was never taken";
  return nullptr;
}

Access EndsProgram::name(int thread, const Operation& operation, FaultPoint) const {
  if (std::find(recorded_.begin(), recorded_.end(), operation.word) != recorded_.end())
    return operation.kind == Kind::kStore ? Access::kRecordEnd : Access::kRecordedLook;
  if (operation.word != stream_level_) return Access::kNone;
  if (operation.kind == Kind::kStore) return Access::kFinishLevel;
  return thread == 1 ? Access::kReached : Access::kNone;
}

std::string EndsProgram::thread_name(int thread) const {
  return thread == 0 ? "stream" : "consumer";
}

}  // namespace brigade::weak_memory
