#include <utility>

#include <brigade/check.h>
#include "pipeline/application/input_queue.h"

namespace brigade {

Slot::Slot(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Slot::Slot(Slot&& other) noexcept = default;

Slot& Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  Slot dropped(std::move(*this));
  held_ = std::move(other.held_);
  return *this;
}

Slot::~Slot() {
  if (!held_) return;
  if (held_->queue->mark_.in_child()) {
    keep_for_ever(std::move(held_->queue));
  } else {
    static_cast<void>(held_->queue->settle(*held_->place, SlotState::empty));
  }
}

TensorSlot Slot::operator[](std::string_view name) { return record()[name]; }

Outputs Slot::record() {
  BRIGADE_CHECK(held_ != nullptr, "the slot was already submitted");
  return held_->place->writer.outputs();
}

const SampleInfo& Slot::sample() const {
  BRIGADE_CHECK(held_ != nullptr, "the slot was already submitted");
  return held_->place->sample;
}

Result<void> Slot::submit() {
  if (!held_) return Error{"the slot was already submitted: each slot is one sample"};
  BRIGADE_TRY(held_->queue->commit(*held_->place));
  const std::unique_ptr<Held> given = std::move(held_);
  return given->queue->settle(*given->place, SlotState::full);
}

}  // namespace brigade
