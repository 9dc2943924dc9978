#include "pipeline/run/record_codec.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "pipeline/plan/pool_layout.h"
#include "pipeline/run/plan_ports.h"
#include "pipeline/run/ragged_rows.h"
#include "pipeline/run/record_field.h"
#include "pipeline/run/shape_check.h"

namespace brigade {
namespace {

constexpr std::size_t kScratchAlignment = 64;

/// Calls use(first, count) for each run of FULL rows.
template <class Use>
void for_each_run(const RowStates& states, Use use) {
  for (std::uint64_t row = 0; row < states.rows();) {
    if (!states.is_full(row)) {
      ++row;
      continue;
    }
    const std::uint64_t first = row;
    while (row < states.rows() && states.is_full(row)) ++row;
    use(first, row - first);
  }
}

}  // namespace

void RowStates::count() {
  full = pads = first_full = last_full = 0;
  for (std::uint64_t row = 0; row < states.size(); ++row) {
    if (states[row] == RowState::full) {
      if (full++ == 0) first_full = row;
      last_full = row;
    } else if (states[row] == RowState::pad) {
      ++pads;
    }
  }
  holes = states.size() - full - pads;
}

void RowScratch::reserve(std::size_t bytes) {
  if (data_ != nullptr && bytes <= bytes_) return;
  memory_.resize(bytes + kScratchAlignment);
  void* start = memory_.data();
  std::size_t space = memory_.size();
  data_ = static_cast<std::byte*>(std::align(kScratchAlignment, bytes, start, space));
  bytes_ = bytes;
}

RecordWindow::RecordWindow(std::uint64_t task, bool batched) : task_(task) {
  frame_.batched = batched;
  frame_.rows = batched ? static_cast<std::int64_t>(task) : 1;
}

std::size_t RecordWindow::add_pool(const RowPool& pool) {
  rings_.push_back({&pool});
  return rings_.size() - 1;
}

void RecordWindow::add(std::size_t pool, std::size_t array, const TensorType& type,
                       const std::string& name) {
  add_field(pool, array, type, name);
  if (!type.ragged()) return;
  arrays_.back().varying = varying_sizes(type);
  varies_ = true;
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  if (frame_.batched) return add_field(pool, array + 1, {"", i64, {Dim(rank)}}, name + ".shape");
  ragged_ = true;
  arrays_.back().has_shapes = true;
  arrays_.back().shapes = rings_[pool].pool->row(array + 1, 0);
  arrays_.back().shapes_stride = rings_[pool].pool->stride(array + 1);
}

void RecordWindow::add_field(std::size_t pool, std::size_t array, const TensorType& type,
                             const std::string& name) {
  Array& bound = arrays_.emplace_back();
  bound.ring = pool;
  bound.base = rings_[pool].pool->row(array, 0);
  bound.stride = rings_[pool].pool->stride(array);
  bound.expected_bytes = expected_tensor_bytes(type);

  frame_.fields.push_back(make_field(type, name, frame_.batched, task_));
  frame_.fields.back().row_stride = bound.stride;
}

void RecordWindow::set_count(std::uint64_t count) {
  const auto rows = static_cast<std::int64_t>(count);
  frame_.rows = rows;
  for (Field& field : frame_.fields) field.shape[0] = field.bounds[0] = rows;
}

void RecordWindow::select_rows(std::uint64_t row, std::uint64_t count) {
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    frame_.fields[i].data = arrays_[i].first + row * arrays_[i].stride;
  set_count(count);
}

void RecordWindow::reserve_scratch() {
  for (Array& array : arrays_) array.scratch.reserve(task_ * array.stride);
}

void RecordWindow::select_scratch(std::uint64_t count) {
  reserve_scratch();  // does nothing where the plan said that holes are possible
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    frame_.fields[i].data = arrays_[i].scratch.data();
  set_count(count);
}

void RecordWindow::gather(const RowStates& states) {
  for (Array& array : arrays_) {
    std::byte* to = array.scratch.data();
    for_each_run(states, [&](std::uint64_t first, std::uint64_t count) {
      std::memcpy(to, array.first + first * array.stride, count * array.stride);
      to += count * array.stride;
    });
  }
}

void RecordWindow::scatter(const RowStates& states, std::uint64_t fan_out) {
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
  each_.front().rows = static_cast<std::int64_t>(count);
}

void RecordWindow::select_each(std::uint64_t row) {
  for (Frame& frame : each_) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      frame.fields[i].data = arrays_[i].first + row * arrays_[i].stride;
      if (arrays_[i].has_shapes) frame.fields[i].shape = frame.fields[i].bounds;
    }
    ++row;
  }
}

void RecordWindow::store_each(std::uint64_t row) {
  for (const Frame& frame : each_) store_shapes(row++, frame);
}

std::int64_t* RecordWindow::shape_of(const Array& array, std::uint64_t row) const {
  return reinterpret_cast<std::int64_t*>(array.shapes +
                                         (rings_[array.ring].slot + row) * array.shapes_stride);
}

void RecordWindow::load_shapes(std::uint64_t row) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (!arrays_[i].has_shapes) continue;
    const std::int64_t* sizes = shape_of(arrays_[i], row);
    Shape& shape = frame_.fields[i].shape;
    for (int d = 0; d < shape.rank(); ++d) shape[d] = sizes[d];
  }
}

void RecordWindow::store_shapes(std::uint64_t row, const Frame& frame) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (!arrays_[i].has_shapes) continue;
    std::int64_t* sizes = shape_of(arrays_[i], row);
    const Field& field = frame.fields[i];
    const Shape& shape = field.shape;
    if (sparse_) {
      shrink_row(arrays_[i].first + row * arrays_[i].stride, arrays_[i].expected_bytes,
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
    for (std::int64_t row = 0; frame.batched && row < frame.rows; ++row) {
      const Field& shapes = frame.fields[i + 1];
      const std::byte* const sizes =
          shapes.data + static_cast<std::size_t>(row) * shapes.row_stride;
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

RecordReader::RecordReader(const Plan& plan, const PlanStage& stage, const PlanLane& lane,
                           std::span<const RowPool> pools)
    : window_(lane.task, stage.batched) {
  for (const PlanInput& input : lane.inputs) {
    const auto source = static_cast<std::size_t>(input.stage);
    const PlanPool& plan_pool = plan.stages[source].pool;
    pools_.push_back(&pools[source]);
    const std::size_t pool = window_.add_pool(pools[source]);
    const std::string prefix = stage.join == Join::zip ? input.port + "." : "";
    for (const std::string& name : input.tensors) {
      const std::size_t array = array_index(plan_pool, name);
      if (is_shape_array(plan_pool, array)) continue;
      window_.add(pool, array, plan_pool.tensors[array].type, prefix + name);
    }
  }
  headers_.resize(pools_.size());
  states_.states.resize(lane.task);
  Frame& frame = window_.frame();
  frame.port = lane.inputs.front().port;
  frame.seed = stage.seed;
  frame.stream = stream_id(stage.random);
  frame.samples.resize(stage.batched ? lane.task : 1);
  if (stage.batched && stage.holes_possible) window_.reserve_scratch();
}

void RecordReader::begin(std::uint64_t first) {
  window_.begin(first);
  for (std::size_t i = 0; i < pools_.size(); ++i) headers_[i] = pools_[i]->headers(first);
  const RowHeader* headers = headers_.front();
  BRIGADE_CHECK(headers[0].number == first, headers[0].number, first);
  for (std::uint64_t row = 0; row < states_.rows(); ++row) states_.states[row] = headers[row].state;
  for (std::size_t i = 1; i < headers_.size(); ++i) {
    for (std::uint64_t row = 0; row < states_.rows(); ++row)
      states_.states[row] = std::max(states_.states[row], headers_[i][row].state);
  }
  states_.count();
}

void RecordReader::select_full() {
  if (states_.contiguous()) {
    window_.select_rows(states_.first_full, states_.full);
  } else {
    window_.select_scratch(states_.full);
    window_.gather(states_);
  }
  Frame& frame = window_.frame();
  frame.samples.resize(states_.full);  // never above its capacity
  auto sample = frame.samples.begin();
  for (std::uint64_t row = states_.first_full; row <= states_.last_full; ++row) {
    if (!states_.is_full(row)) continue;
    const RowHeader& header = headers_.front()[row];
    *sample++ = {header.number, header.index, header.id, header.epoch};
  }
}

RecordWriter::RecordWriter(const Plan& plan, const PlanStage& stage, std::span<const RowPool> pools,
                           std::size_t stage_index)
    : pool_(&pools[stage_index]),
      task_(stage.lanes.front().task),
      fan_out_(stage.fan_out),
      window_(task_ * fan_out_, stage.batched),
      first_pass_(stage.pool, *pool_, task_ * fan_out_) {
  const std::size_t pool = window_.add_pool(*pool_);
  for (std::size_t i = 0; i < stage.pool.tensors.size(); ++i) {
    const TensorType& type = stage.pool.tensors[i].type;
    if (is_passed(stage, type.name) || is_shape_array(stage.pool, i)) continue;
    window_.add(pool, i, type, type.name);
  }
  for (const PlanPass& pass : stage.passes) add_pass(plan, stage, pass, pools);
  window_.set_sparse(stage.pool.sparse);
  window_.frame().seed = stage.seed;
  window_.frame().stream = stream_id(stage.random);
  if (stage.batched && stage.holes_possible) window_.reserve_scratch();
  if (!stage.batched && fan_out_ > 1) window_.make_each(fan_out_);
}

void RecordWriter::add_pass(const Plan& plan, const PlanStage& stage, const PlanPass& pass,
                            std::span<const RowPool> pools) {
  const PlanInput& input = stage.lanes.front().inputs[static_cast<std::size_t>(pass.input)];
  const auto source = static_cast<std::size_t>(input.stage);
  const std::size_t to = array_index(stage.pool, pass.name);
  const PlanTensor& tensor = stage.pool.tensors[to];
  if (is_shape_array(stage.pool, to)) return;  // goes with its tensor
  const std::string name(strip_prefix(pass.name, input.port + ".").value_or(pass.name));
  passes_.push_back({&pools[source], array_index(plan.stages[source].pool, name), to,
                     tensor.row_bytes, tensor.type.ragged(),
                     static_cast<int>(tensor.type.shape.size()), dtype_bytes(tensor.type.dtype),
                     expected_tensor_bytes(tensor.type)});
}

void RecordWriter::begin(std::uint64_t first) {
  first_ = first;
  first_pass_.come_to(first * fan_out_);
  window_.begin(first * fan_out_);
  headers_ = pool_->headers(first * fan_out_);
}

void RecordWriter::pass_on(const RowHeader* headers, const RowStates& states) {
  if (fan_out_ == 1) {
    std::memcpy(headers_, headers, task_ * sizeof(RowHeader));
    if (states.full != task_) {
      for (std::uint64_t row = 0; row < task_; ++row) headers_[row].state = states.states[row];
    }
  } else {
    for (std::uint64_t row = 0; row < task_; ++row)
      make_headers(row, headers[row], states.states[row]);
  }
  if (states.full == 0) return;
  for (const Pass& pass : passes_) {
    if (pass.ragged) {
      copy_ragged(pass, states);
    } else if (fan_out_ == 1) {
      std::memcpy(pool_->row(pass.to_array, first_), pass.from->row(pass.from_array, first_),
                  task_ * pass.row_bytes);
    } else {
      copy_to_each(pass, states);
    }
  }
}

void RecordWriter::make_headers(std::uint64_t row, const RowHeader& from, RowState state) {
  for (std::uint64_t i = 0; i < fan_out_; ++i) {
    headers_[row * fan_out_ + i] = {from.number * fan_out_ + i,
                                    from.index * fan_out_ + i,
                                    from.id * fan_out_ + i,
                                    from.epoch,
                                    state,
                                    {}};
  }
}

void RecordWriter::make_hole(std::uint64_t row) {
  for (std::uint64_t i = 0; i < fan_out_; ++i) headers_[row * fan_out_ + i].state = RowState::hole;
}

void RecordWriter::copy_to_each(const Pass& pass, const RowStates& states) {
  for (std::uint64_t row = 0; row < task_; ++row) {
    if (!states.is_full(row)) continue;
    const std::byte* from = pass.from->row(pass.from_array, first_ + row);
    std::byte* to = pool_->row(pass.to_array, (first_ + row) * fan_out_);
    for (std::uint64_t i = 0; i < fan_out_; ++i)
      std::memcpy(to + i * pass.row_bytes, from, pass.row_bytes);
  }
}

void RecordWriter::copy_ragged(const Pass& pass, const RowStates& states) {
  for (std::uint64_t row = 0; row < task_ * fan_out_; ++row) {
    if (!states.is_full(row / fan_out_)) continue;
    const std::uint64_t from = first_ + row / fan_out_;
    const std::uint64_t number = first_ * fan_out_ + row;
    const auto* sizes =
        reinterpret_cast<const std::int64_t*>(pass.from->row(pass.from_array + 1, from));
    auto* to_sizes = reinterpret_cast<std::int64_t*>(pool_->row(pass.to_array + 1, number));
    std::byte* to = pool_->row(pass.to_array, number);
    if (window_.sparse())
      shrink_row(to, pass.expected_bytes, pass.element_bytes, to_sizes, sizes, pass.rank);
    std::copy_n(sizes, pass.rank, to_sizes);
    std::memcpy(to, pass.from->row(pass.from_array, from),
                pass.element_bytes * element_count(sizes, pass.rank));
  }
}

void RecordWriter::select_full(const RowStates& states) {
  if (states.contiguous())
    return window_.select_rows(states.first_full * fan_out_, states.full * fan_out_);
  window_.select_scratch(states.full * fan_out_);
}

void RecordWriter::commit_full(const RowStates& states) {
  if (!states.contiguous()) window_.scatter(states, fan_out_);
}

}  // namespace brigade
