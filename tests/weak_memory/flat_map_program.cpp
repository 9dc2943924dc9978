#include "tests/weak_memory/flat_map_program.h"

#include <iterator>
#include <set>
#include <utility>

#include <brigade/text.h>

namespace brigade::weak_memory {
namespace {

constexpr StageNumber kFree = 1;            // the stage
constexpr int kLevelIn = 0, kLevelOut = 1;  // words

// The words of a journal are its own; a test that numbers them may look.
template <class Tag, auto kMember>
struct Expose {
  friend auto member(Tag) { return kMember; }
};
struct Sequence {
  friend auto member(Sequence);
};
struct Entries {
  friend auto member(Entries);
};
template struct Expose<Sequence, &Journal<RecordedPolicy>::sequence_>;
template struct Expose<Entries, &Journal<RecordedPolicy>::entries_>;

// What output `slot` of an input is written as.
int content(std::uint64_t input, std::uint64_t slot) {
  return static_cast<int>(10 + 4 * input + slot);
}

/// Source -> the stage, whose output task queue is task queue 0 and whose input task queue 1.
SharedShape flat_map_shape() {
  SharedShape shape = support::line_shape({{1, 1, 4, {}, true}, {1, 1, 4, {}, true}});
  support::make_flat_map(shape, 1);
  return shape;
}

}  // namespace

FlatMapProgram::FlatMapProgram(std::vector<int> outputs, const RepairRules& rules, Mistake mistake)
    : outputs_(std::move(outputs)),
      rules_(rules),
      mistake_(mistake),
      shape_(flat_map_shape()),
      memory_(control_bytes<P>(shape_)),
      control_(create_control<P>(memory_.data(), shape_)) {
  constexpr auto relaxed = std::memory_order_relaxed;
  control_.index_spaces[0]->end.value.store(outputs_.size(), relaxed);
  control_.stages[0].queues[0].watermark->level.value.store(outputs_.size(), relaxed);
  StageWords<P>& stage = control_.stages[kFree];
  number(stage.queues[1].watermark->level.value, "level_in");   // kLevelIn
  number(stage.queues[0].watermark->level.value, "level_out");  // kLevelOut
  sequence_ = number((stage.journal.*member(Sequence{}))->value, "journal.sequence");
  auto& entries = stage.journal.*member(Entries{});
  if (mistake_ == Mistake::in_place) entries[1] = entries[0];
  for (auto* entry : std::set(std::begin(entries), std::end(entries)))
    for (int w = 0; w < Journal<P>::entry_words(1); ++w) number(entry[w], concat("journal.", w));
  stage.repairs->value.ignore();
  for (QueueWords<P>& queue : stage.queues) queue.watermark->waiters.bits[0].ignore();
  control_.stages[0].queues[0].watermark->waiters.bits[0].ignore();
  for (int r = 0; r < shape_.replicas; ++r) {
    control_.replicas[r].in_flight.value.ignore();
    control_.doorbells[r].rings.ignore();
    control_.doorbells[r].until.ignore();
  }
}

bool FlatMapProgram::turn(int thread, uint16_t&) {
  if (thread == 1) {
    if (!Machine::active->reap(0)) return false;
    repair(control_, kFree, 0, {}, rules_);
  }
  queues_.emplace(control_, kFree);
  pass_inputs(*queues_, thread == 1);
  return false;
}

void FlatMapProgram::pass_inputs(Queues& queues, bool successor) const {
  for (;;) {
    const Attempt<P> input = queues.try_input();
    if (input.look != Look::claimed) return;
    if (outputs_[input.task] > 0) give(queues, input.task, successor);
    if (mistake_ == Mistake::consumed_first && !successor) {
      consume(queues, input.task);
    } else {
      queues.consume(input.task, {});
    }
  }
}

void FlatMapProgram::give(Queues& queues, std::uint64_t input, bool successor) const {
  const bool late = mistake_ == Mistake::noted_late && !successor;
  const std::uint64_t from = late ? queues.output().level() : queues.begin();
  std::uint64_t slot = queues.output().level() - from;
  if (mistake_ == Mistake::given_again) slot = 0;
  for (; slot < static_cast<std::uint64_t>(outputs_[input]); ++slot) {
    const std::uint64_t number = queues.try_output().task;
    Machine::active->use_slot(true, static_cast<int>(number % kSlots), content(input, slot));
    queues.publish(number, {});
    if (late && slot == 0) queues.begin();
  }
}

// In the wrong order.
void FlatMapProgram::consume(Queues& queues, std::uint64_t input) const {
  queues.input(0).finish(input);
  Journal<P> journal = control_.stages[kFree].journal;
  journal.consume(0, input + 1);
}

const char* FlatMapProgram::at_end(const State& state) const {
  if (state.memory.newest_value(kLevelIn) != outputs_.size()) return "an input was not consumed";
  std::size_t number = 0;
  for (std::size_t input = 0; input < outputs_.size(); ++input) {
    for (int slot = 0; slot < outputs_[input]; ++slot, ++number)
      if (state.memory.slots[number].number != content(input, static_cast<std::uint64_t>(slot)))
        return "an output is missing, or there twice";
  }
  if (state.memory.newest_value(kLevelOut) != number)
    return "the watermark of the outputs is wrong";
  return nullptr;
}

Access FlatMapProgram::name(int, const Operation& operation, FaultPoint) const {
  const bool commits = operation.kind == Kind::kStore && operation.word == sequence_;
  return commits ? Access::kJournalCommit : Access::kNone;
}

bool FlatMapProgram::is_private(int word) const { return word >= sequence_; }

std::string FlatMapProgram::thread_name(int thread) const {
  return thread == 0 ? "replica" : "supervisor, successor";
}

}  // namespace brigade::weak_memory
