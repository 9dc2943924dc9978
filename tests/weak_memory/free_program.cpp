#include "tests/weak_memory/free_program.h"

#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"

namespace brigade::weak_memory {
namespace {

constexpr int kFree = 1;                // the stage
constexpr int kLowIn = 0, kLowOut = 1;  // words

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

// What output `row` of an input is written as.
int content(std::uint64_t input, std::uint64_t row) {
  return static_cast<int>(10 + 4 * input + row);
}

/// Source -> the stage, whose output lane is lane 0 and whose input lane 1.
GraphShape free_shape() {
  GraphShape shape = support::line_shape({{1, 1, 4, {}, true}, {1, 1, 4, {}, true}});
  shape.domains = 2;
  StageShape& free = shape.stages[kFree];
  free.source = false;
  free.journal_ports = 1;
  LaneShape input = free.lanes[0];
  free.lanes[0].domain = 1;
  input.inputs = {0};
  free.lanes.push_back(input);
  shape.epoch_ends = {0, 1};
  return shape;
}

}  // namespace

FreeProgram::FreeProgram(std::vector<int> outputs, const RepairRules& rules, Mistake mistake)
    : outputs_(std::move(outputs)),
      rules_(rules),
      mistake_(mistake),
      shape_(free_shape()),
      memory_(control_bytes<P>(shape_)),
      control_(create_control<P>(memory_.data(), shape_)) {
  constexpr auto relaxed = std::memory_order_relaxed;
  control_.domains[0]->end.value.store(outputs_.size(), relaxed);
  control_.stages[0].lanes[0].mark->low.value.store(outputs_.size(), relaxed);
  StageWords<P>& stage = control_.stages[kFree];
  number(stage.lanes[1].mark->low.value, "low_in");   // kLowIn
  number(stage.lanes[0].mark->low.value, "low_out");  // kLowOut
  number((stage.journal.*member(Sequence{}))->value, "journal.sequence");
  sequence_ = static_cast<int>(words_.size()) - 1;
  auto& entries = stage.journal.*member(Entries{});
  if (mistake_ == Mistake::in_place) entries[1] = entries[0];
  for (auto* entry : std::set(std::begin(entries), std::end(entries)))
    for (int w = 0; w < Journal<P>::entry_words(1); ++w) number(entry[w], concat("journal.", w));
  stage.repairs->value.ignore();
  for (LaneWords<P>& lane : stage.lanes) lane.mark->waiters.bits[0].ignore();
  control_.stages[0].lanes[0].mark->waiters.bits[0].ignore();
  for (int r = 0; r < shape_.replicas; ++r) {
    control_.replicas[r].at.value.ignore();
    control_.bells[r].rings.ignore();
    control_.bells[r].until.ignore();
  }
}

void FreeProgram::number(P::Atomic<std::uint64_t>& word, const std::string& name) {
  word.number(static_cast<int>(words_.size()));
  words_.push_back({name, static_cast<uint32_t>(word.raw())});
}

void FreeProgram::prepare(State& state) const {
  for (std::size_t w = 0; w < words_.size(); ++w)
    state.memory.words[w].entries[0].value = words_[w].first;
  state.deaths_left = 1;
}

bool FreeProgram::turn(int thread, uint16_t&) {
  if (thread == 1) {
    if (!Machine::active->reap(0)) return false;
    repair(control_, kFree, 0, {}, rules_);
  }
  lanes_.emplace(control_, kFree);
  pass_inputs(*lanes_, thread == 1);
  return false;
}

void FreeProgram::pass_inputs(Lanes& lanes, bool successor) const {
  for (;;) {
    const Attempt<P> input = lanes.try_input();
    if (input.look != Look::claimed) return;
    if (outputs_[input.task] > 0) give(lanes, input.task, successor);
    if (mistake_ == Mistake::consumed_first && !successor) {
      consume(lanes, input.task);
    } else {
      lanes.consume(input.task, {});
    }
  }
}

void FreeProgram::give(Lanes& lanes, std::uint64_t input, bool successor) const {
  const bool late = mistake_ == Mistake::noted_late && !successor;
  const std::uint64_t from = late ? lanes.output().low() : lanes.begin();
  std::uint64_t row = lanes.output().low() - from;
  if (mistake_ == Mistake::given_again) row = 0;
  for (; row < static_cast<std::uint64_t>(outputs_[input]); ++row) {
    const std::uint64_t number = lanes.try_output().task;
    Machine::active->use_row(true, static_cast<int>(number % kRows), content(input, row));
    lanes.publish(number, {});
    if (late && row == 0) lanes.begin();
  }
}

// In the wrong order.
void FreeProgram::consume(Lanes& lanes, std::uint64_t input) const {
  lanes.input(0).finish(input);
  Journal<P> journal = control_.stages[kFree].journal;
  journal.consume(0, input + 1);
}

const char* FreeProgram::at_end(const State& state) const {
  if (state.memory.newest_value(kLowIn) != outputs_.size()) return "an input was not consumed";
  std::size_t number = 0;
  for (std::size_t input = 0; input < outputs_.size(); ++input) {
    for (int row = 0; row < outputs_[input]; ++row, ++number)
      if (state.memory.rows[number].number != content(input, static_cast<std::uint64_t>(row)))
        return "an output is missing, or there twice";
  }
  if (state.memory.newest_value(kLowOut) != number) return "the mark of the outputs is wrong";
  return nullptr;
}

Access FreeProgram::name(int, const Operation& operation, FaultPoint) const {
  const bool commits = operation.kind == Kind::kStore && operation.word == sequence_;
  return commits ? Access::kJournalCommit : Access::kNone;
}

bool FreeProgram::is_private(int word) const { return word >= sequence_; }

std::string FreeProgram::word_name(int word) const {
  return words_[static_cast<std::size_t>(word)].name;
}

std::string FreeProgram::thread_name(int thread) const {
  return thread == 0 ? "replica" : "supervisor, successor";
}

}  // namespace brigade::weak_memory
