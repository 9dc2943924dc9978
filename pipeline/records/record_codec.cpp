#include "pipeline/records/record_codec.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <brigade/check.h>
#include <brigade/text.h>
#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/record_field.h"

namespace brigade {
namespace {

constexpr std::size_t kScratchAlignment = 64;

/// The first slots of every input. Builds for debugging hold what is said against each header.
bool are_full(const std::vector<const SlotHeader*>& inputs, std::uint64_t slots) {
  for (const SlotHeader* headers : inputs) {
    if (!are_full(headers, slots)) return false;
#ifndef NDEBUG
    BRIGADE_CHECK(say_full(headers, slots, 1), headers->number, slots);
#endif
  }
  return true;
}

/// Calls use(first, count) for each run of FULL slots.
template <class Use>
void for_each_run(const SlotStates& states, Use use) {
  for (std::uint64_t slot = 0; slot < states.slots();) {
    if (!states.is_full(slot)) {
      ++slot;
      continue;
    }
    const std::uint64_t first = slot;
    while (slot < states.slots() && states.is_full(slot)) ++slot;
    use(first, slot - first);
  }
}

}  // namespace

void SlotStates::count() {
  full = pads = first_full = last_full = 0;
  for (std::uint64_t slot = 0; slot < states.size(); ++slot) {
    if (states[slot] == SlotState::full) {
      if (full++ == 0) first_full = slot;
      last_full = slot;
    } else if (states[slot] == SlotState::pad) {
      ++pads;
    }
  }
  empty_slots = states.size() - full - pads;
}

void SlotScratch::reserve(std::size_t bytes) {
  if (data_ != nullptr && bytes <= bytes_) return;
  memory_.resize(bytes + kScratchAlignment);
  void* start = memory_.data();
  std::size_t space = memory_.size();
  data_ = static_cast<std::byte*>(std::align(kScratchAlignment, bytes, start, space));
  bytes_ = bytes;
}

RecordWindow::RecordWindow(std::uint64_t task, bool batched) : task_(task) {
  frame_.batched = batched;
  frame_.samples = batched ? static_cast<std::int64_t>(task) : 1;
}

std::size_t RecordWindow::add_ring(const SlotRing& ring) {
  rings_.push_back({&ring});
  return rings_.size() - 1;
}

void RecordWindow::add(std::size_t ring, std::size_t array, const TensorType& type,
                       const std::string& name) {
  add_field(ring, array, type, name);
  if (!type.ragged()) return;
  arrays_.back().varying = varying_sizes(type);
  varies_ = true;
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  if (frame_.batched) return add_field(ring, array + 1, {"", i64, {Dim(rank)}}, name + ".shape");
  ragged_ = true;
  arrays_.back().has_shapes = true;
  arrays_.back().shapes = rings_[ring].ring->slot(array + 1, 0);
  arrays_.back().shapes_stride = rings_[ring].ring->stride(array + 1);
}

void RecordWindow::add_field(std::size_t ring, std::size_t array, const TensorType& type,
                             const std::string& name) {
  Array& bound = arrays_.emplace_back();
  bound.ring = ring;
  bound.base = rings_[ring].ring->slot(array, 0);
  bound.stride = rings_[ring].ring->stride(array);
  bound.expected_bytes = expected_tensor_bytes(type);

  frame_.fields.push_back(make_field(type, name, frame_.batched, task_));
  frame_.fields.back().sample_stride = bound.stride;
}

void RecordWindow::set_count(std::uint64_t count) {
  const auto slots = static_cast<std::int64_t>(count);
  frame_.samples = slots;
  for (Field& field : frame_.fields) field.shape[0] = field.bounds[0] = slots;
}

void RecordWindow::select_slots(std::uint64_t slot, std::uint64_t count) {
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    frame_.fields[i].data = arrays_[i].first + slot * arrays_[i].stride;
  set_count(count);
}

void RecordWindow::reserve_scratch() {
  for (Array& array : arrays_) array.scratch.reserve(task_ * array.stride);
}

void RecordWindow::select_scratch(std::uint64_t count) {
  reserve_scratch();  // does nothing where the plan said that empty slots are possible
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    frame_.fields[i].data = arrays_[i].scratch.data();
  set_count(count);
}

void RecordWindow::gather(const SlotStates& states) {
  for (Array& array : arrays_) {
    std::byte* to = array.scratch.data();
    for_each_run(states, [&](std::uint64_t first, std::uint64_t count) {
      std::memcpy(to, array.first + first * array.stride, count * array.stride);
      to += count * array.stride;
    });
  }
}

void RecordWindow::scatter(const SlotStates& states, std::uint64_t fan_out) {
  for (Array& array : arrays_) {
    const std::byte* from = array.scratch.data();
    const std::uint64_t bytes = fan_out * array.stride;
    for_each_run(states, [&](std::uint64_t first, std::uint64_t count) {
      std::memcpy(array.first + first * bytes, from, count * bytes);
      from += count * bytes;
    });
  }
}

void RecordWindow::make_each(std::uint64_t count) {
  each_.assign(count, frame_);
  each_.front().samples = static_cast<std::int64_t>(count);
}

void RecordWindow::select_each(std::uint64_t slot) {
  for (Frame& frame : each_) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      frame.fields[i].data = arrays_[i].first + slot * arrays_[i].stride;
      if (arrays_[i].has_shapes) frame.fields[i].shape = frame.fields[i].bounds;
    }
    ++slot;
  }
}

void RecordWindow::store_each(std::uint64_t slot) {
  for (const Frame& frame : each_) store_shapes(slot++, frame);
}

std::int64_t* RecordWindow::shape_of(const Array& array, std::uint64_t slot) const {
  return reinterpret_cast<std::int64_t*>(array.shapes + (rings_[array.ring].first_slot + slot) *
                                                            array.shapes_stride);
}

void RecordWindow::load_shapes(std::uint64_t slot) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (!arrays_[i].has_shapes) continue;
    const std::int64_t* sizes = shape_of(arrays_[i], slot);
    Shape& shape = frame_.fields[i].shape;
    for (int d = 0; d < shape.rank(); ++d) shape[d] = sizes[d];
  }
}

void RecordWindow::store_shapes(std::uint64_t slot, const Frame& frame) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (!arrays_[i].has_shapes) continue;
    std::int64_t* sizes = shape_of(arrays_[i], slot);
    const Field& field = frame.fields[i];
    const Shape& shape = field.shape;
    if (sparse_) {
      shrink_slot(arrays_[i].first + slot * arrays_[i].stride, arrays_[i].expected_bytes,
                  dtype_bytes(field.dtype), sizes, shape.begin(), shape.rank());
    }
    for (int d = 0; d < shape.rank(); ++d) sizes[d] = shape[d];
  }
}

Result<void> RecordWindow::check_shapes() const {
  if (each_.empty()) return check_shapes(frame_);
  for (const Frame& frame : each_) BRIGADE_TRY(check_shapes(frame));
  return {};
}

Result<void> RecordWindow::check_shapes(const Frame& frame) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const VaryingSizes varying = arrays_[i].varying;
    if (varying == 0) continue;
    const Field& field = frame.fields[i];
    if (!frame.batched) BRIGADE_TRY(check_shape(field, field.shape.begin(), varying));
    for (std::int64_t slot = 0; frame.batched && slot < frame.samples; ++slot) {
      const Field& shapes = frame.fields[i + 1];
      const std::byte* const sizes =
          shapes.data + static_cast<std::size_t>(slot) * shapes.sample_stride;
      BRIGADE_TRY(check_shape(field, reinterpret_cast<const std::int64_t*>(sizes), varying));
    }
  }
  return {};
}

void RecordWindow::open_shapes() {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].has_shapes) frame_.fields[i].shape = frame_.fields[i].bounds;
  }
}

RecordReader::RecordReader(const Plan& plan, const PlanStage& stage, const PlanQueue& queue,
                           const ByStage<SlotRing>& rings, bool empty_slots_possible)
    : window_(queue.task, stage.batched) {
  for (const PlanInput& input : queue.inputs) {
    const PlanRing& plan_ring = plan.stages[input.stage].ring;
    rings_.push_back(&rings[input.stage]);
    const std::size_t ring = window_.add_ring(rings[input.stage]);
    const std::string prefix = stage.join == Join::zip ? input.port + "." : "";
    for (const std::string& name : input.tensors) {
      const std::size_t array = array_index(plan_ring, name);
      if (is_shape_array(plan_ring, array)) continue;
      window_.add(ring, array, plan_ring.tensors[array].type, prefix + name);
    }
  }
  headers_.resize(rings_.size());
  states_.states.resize(queue.task);
  Frame& frame = window_.frame();
  frame.port = queue.inputs.front().port;
  frame.seed = stage.seed;
  frame.stream = stream_id(stage.random);
  if (!stage.batched || !empty_slots_possible) return;
  window_.reserve_scratch();
  gathered_.reserve(queue.task);
}

void RecordReader::begin(std::uint64_t first) {
  window_.begin(first);
  for (std::size_t i = 0; i < rings_.size(); ++i) headers_[i] = rings_[i]->headers(first);
  const SlotHeader* headers = headers_.front();
  BRIGADE_CHECK(headers[0].number == first, headers[0].number, first);
  if (are_full(headers_, states_.slots())) {
    if (states_.full == states_.slots()) return;
    std::fill(states_.states.begin(), states_.states.end(), SlotState::full);
    return states_.count();
  }
  for (std::uint64_t slot = 0; slot < states_.slots(); ++slot)
    states_.states[slot] = headers[slot].state;
  for (std::size_t i = 1; i < headers_.size(); ++i) {
    for (std::uint64_t slot = 0; slot < states_.slots(); ++slot)
      states_.states[slot] = std::max(states_.states[slot], headers_[i][slot].state);
  }
  states_.count();
}

void RecordReader::select_full() {
  const SlotHeader* const headers = headers_.front();
  if (states_.contiguous()) {
    window_.select_slots(states_.first_full, states_.full);
    window_.frame().infos = samples_of(headers + states_.first_full, states_.full);
    return;
  }
  window_.select_scratch(states_.full);
  window_.gather(states_);
  gathered_.clear();
  for_each_run(states_, [&](std::uint64_t first, std::uint64_t count) {
    gathered_.insert(gathered_.end(), headers + first, headers + first + count);
  });
  window_.frame().infos = gathered_;
}

RecordWriter::RecordWriter(const Plan& plan, const PlanStage& stage, const ByStage<SlotRing>& rings,
                           StageNumber stage_index)
    : ring_(&rings[stage_index]),
      task_(stage.queues.front().task),
      fan_out_(stage.fan_out),
      in_order_(stage.replicas == 1),
      window_(task_ * fan_out_, stage.batched),
      first_pass_(stage.ring, *ring_, task_ * fan_out_) {
  const std::size_t ring = window_.add_ring(*ring_);
  for (std::size_t i = 0; i < stage.ring.tensors.size(); ++i) {
    const TensorType& type = stage.ring.tensors[i].type;
    if (is_passed(stage, type.name) || is_shape_array(stage.ring, i)) continue;
    window_.add(ring, i, type, type.name);
  }
  for (const PlanPass& pass : stage.passes) add_pass(plan, stage, pass, rings);
  window_.set_sparse(stage.ring.sparse);
  window_.frame().seed = stage.seed;
  window_.frame().stream = stream_id(stage.random);
  if (stage.batched && stage.empty_slots_possible) window_.reserve_scratch();
  if (!stage.batched && fan_out_ > 1) window_.make_each(fan_out_);
}

void RecordWriter::add_pass(const Plan& plan, const PlanStage& stage, const PlanPass& pass,
                            const ByStage<SlotRing>& rings) {
  const PlanInput& input = stage.queues.front().inputs[static_cast<std::size_t>(pass.input)];
  const std::size_t to = array_index(stage.ring, pass.name);
  const PlanTensor& tensor = stage.ring.tensors[to];
  if (is_shape_array(stage.ring, to)) return;  // goes with its tensor
  const std::string name(strip_prefix(pass.name, input.port + ".").value_or(pass.name));
  passes_.push_back({&rings[input.stage], array_index(plan.stages[input.stage].ring, name), to,
                     tensor.slot_bytes, tensor.type.ragged(),
                     static_cast<int>(tensor.type.shape.size()), dtype_bytes(tensor.type.dtype),
                     expected_tensor_bytes(tensor.type)});
}

void RecordWriter::begin(std::uint64_t first) {
  first_ = first;
  first_pass_.come_to(first * fan_out_);
  window_.begin(first * fan_out_);
  headers_ = ring_->headers(first * fan_out_);
}

void RecordWriter::pass_on(const SlotHeader* headers, const SlotStates& states) {
  if (fan_out_ == 1) std::memcpy(headers_, headers, task_ * sizeof(SlotHeader));
  for (std::uint64_t slot = 0; slot < task_ && fan_out_ == 1; ++slot) {
    headers_[slot].state = states.states[slot];
    headers_[slot].full_before = 0;
  }
  for (std::uint64_t slot = 0; slot < task_ && fan_out_ > 1; ++slot)
    make_headers(slot, headers[slot], states.states[slot]);
  if (states.full == 0) return;
  for (const Pass& pass : passes_) {
    if (pass.ragged) {
      copy_ragged(pass, states);
    } else if (fan_out_ == 1) {
      std::memcpy(ring_->slot(pass.to_array, first_), pass.from->slot(pass.from_array, first_),
                  task_ * pass.slot_bytes);
    } else {
      copy_to_each(pass, states);
    }
  }
}

void RecordWriter::make_headers(std::uint64_t slot, const SlotHeader& from, SlotState state) {
  for (std::uint64_t i = 0; i < fan_out_; ++i) {
    headers_[slot * fan_out_ + i] = {
        {from.number * fan_out_ + i, from.index * fan_out_ + i, from.id * fan_out_ + i, from.epoch},
        state};
  }
}

void RecordWriter::end(std::uint64_t full) {
  if (full == task_) note_full(*ring_, first_ * fan_out_, task_ * fan_out_, in_order_);
}

void RecordWriter::make_empty(std::uint64_t slot) {
  for (std::uint64_t i = 0; i < fan_out_; ++i)
    headers_[slot * fan_out_ + i].state = SlotState::empty;
}

void RecordWriter::copy_to_each(const Pass& pass, const SlotStates& states) {
  for (std::uint64_t slot = 0; slot < task_; ++slot) {
    if (!states.is_full(slot)) continue;
    const std::byte* from = pass.from->slot(pass.from_array, first_ + slot);
    std::byte* to = ring_->slot(pass.to_array, (first_ + slot) * fan_out_);
    for (std::uint64_t i = 0; i < fan_out_; ++i)
      std::memcpy(to + i * pass.slot_bytes, from, pass.slot_bytes);
  }
}

void RecordWriter::copy_ragged(const Pass& pass, const SlotStates& states) {
  for (std::uint64_t slot = 0; slot < task_ * fan_out_; ++slot) {
    if (!states.is_full(slot / fan_out_)) continue;
    const std::uint64_t from = first_ + slot / fan_out_;
    const std::uint64_t number = first_ * fan_out_ + slot;
    const auto* sizes =
        reinterpret_cast<const std::int64_t*>(pass.from->slot(pass.from_array + 1, from));
    auto* to_sizes = reinterpret_cast<std::int64_t*>(ring_->slot(pass.to_array + 1, number));
    std::byte* to = ring_->slot(pass.to_array, number);
    if (window_.sparse())
      shrink_slot(to, pass.expected_bytes, pass.element_bytes, to_sizes, sizes, pass.rank);
    std::copy_n(sizes, pass.rank, to_sizes);
    std::memcpy(to, pass.from->slot(pass.from_array, from),
                pass.element_bytes * element_count(sizes, pass.rank));
  }
}

void RecordWriter::select_full(const SlotStates& states) {
  if (states.contiguous())
    return window_.select_slots(states.first_full * fan_out_, states.full * fan_out_);
  window_.select_scratch(states.full * fan_out_);
}

void RecordWriter::commit_full(const SlotStates& states) {
  if (!states.contiguous()) window_.scatter(states, fan_out_);
}

}  // namespace brigade
