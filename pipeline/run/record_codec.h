#pragma once

// The bridge between bytes and tensors. A RecordReader shows the rows of a lane's input pools as
// the tensors of Inputs, a RecordWriter the rows of the stage's own pool as the slots of Outputs.
// Names, dtypes, shapes and strides are settled when they are made; after that a record is a few
// pointers moved, and nothing allocates. A batch is the rows themselves; only where holes lie
// between its FULL rows are these copied to private scratch, and a transform's results copied back.
//
// One thread: (begin (select | select_full)* )*; the views of a record die with the next call.
//
// Under `join: zip` a tensor is called "port.tensor". A per-batch reader also sees NAME.shape
// (i64 [B, rank]) of each ragged tensor, and a per-batch writer fills it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/run/first_pass.h"
#include "pipeline/run/plan_ports.h"
#include "pipeline/run/shape_check.h"
#include "stages/api/stage.h"
#include "transports/row_pool.h"

namespace brigade {

/// The rows of one task by state.
struct RowStates {
  std::vector<RowState> states;  ///< one per row
  std::uint64_t full = 0;
  std::uint64_t pads = 0;
  std::uint64_t holes = 0;
  std::uint64_t first_full = 0;  ///< meaningless without FULL rows
  std::uint64_t last_full = 0;

  /// Counts what `states` says.
  void count();
  bool contiguous() const { return full == 0 || last_full - first_full + 1 == full; }
  std::uint64_t rows() const { return states.size(); }
  bool is_full(std::uint64_t row) const { return states[row] == RowState::full; }
};

/// Private memory for the FULL rows of one array, cache-line aligned.
class RowScratch {
 public:
  void reserve(std::size_t bytes);  ///< keeps what is large enough
  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The fields of a Frame over arrays of one or several pools: what reader and writer share.
class RecordWindow {
 public:
  RecordWindow(std::uint64_t task, bool batched);

  /// A pool whose rows are looked at; the index to pass as `pool` to add(). `pool` must outlive
  /// this.
  std::size_t add_pool(const RowPool& pool);
  /// A tensor of it. `array`: its index there; a ragged one is followed by its NAME.shape.
  void add(std::size_t pool, std::size_t array, const TensorType& type, const std::string& name);

  /// Turns to the task of samples first .. first + task - 1.
  void begin(std::uint64_t first) {
    for (Ring& ring : rings_) ring.slot = ring.pool->slot(first);
    for (Array& array : arrays_) {
      array.first = array.base + rings_[array.ring].slot * array.stride;
    }
  }
  /// Per sample: one row.
  void select(std::uint64_t row) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      frame_.fields[i].data = arrays_[i].first + row * arrays_[i].stride;
    }
    if (ragged_) load_shapes(row);
  }
  /// Per batch: `count` rows from `row` on, in place.
  void select_rows(std::uint64_t row, std::uint64_t count);
  void select_scratch(std::uint64_t count);
  void reserve_scratch();

  /// FULL rows of the task to the start of scratch, and back: `fan_out` of them for each state.
  void gather(const RowStates& states);
  void scatter(const RowStates& states, std::uint64_t fan_out = 1);

  /// Per sample, `count` rows written in one call: a frame for each. Once, after the last add().
  void make_each(std::uint64_t count);
  /// The frames show the rows from `row` on; after they have been written: store_each().
  void select_each(std::uint64_t row);
  void store_each(std::uint64_t row);
  bool has_each() const { return !each_.empty(); }
  Frame& first_of_each() { return each_.front(); }

  /// Per sample, ragged tensors: notes down the shapes that were set; before it, allows any. A row
  /// that is much smaller than the one it replaces gives pages back, if the pool is sparse.
  void store_shapes(std::uint64_t row) { store_shapes(row, frame_); }
  void open_shapes();
  bool varies() const { return varies_; }
  Result<void> check_shapes() const;  ///< after the stage has written; per batch of NAME.shape
  void set_sparse(bool sparse) { sparse_ = sparse; }
  bool ragged() const { return ragged_; }
  bool sparse() const { return sparse_; }

  Frame& frame() { return frame_; }
  const Frame& frame() const { return frame_; }

 private:
  struct Ring {
    const RowPool* pool;
    std::uint64_t slot = 0;  // of the task's first row
  };
  struct Array {
    std::size_t ring = 0;
    std::byte* base = nullptr;
    std::byte* first = nullptr;  // the task's first row
    std::uint64_t stride = 0;
    std::uint64_t expected_bytes = 0;  // of a row
    bool has_shapes = false;           // per sample and ragged: rows of NAME.shape
    VaryingSizes varying = 0;
    std::byte* shapes = nullptr;
    std::uint64_t shapes_stride = 0;
    RowScratch scratch;
  };

  void add_field(std::size_t pool, std::size_t array, const TensorType& type,
                 const std::string& name);
  void set_count(std::uint64_t count);
  std::int64_t* shape_of(const Array& array, std::uint64_t row) const;
  void load_shapes(std::uint64_t row);
  void store_shapes(std::uint64_t row, const Frame& frame);
  Result<void> check_shapes(const Frame& frame) const;

  std::vector<Ring> rings_;
  std::vector<Array> arrays_;  // of frame_.fields
  Frame frame_;
  std::vector<Frame> each_;
  std::uint64_t task_;
  bool ragged_ = false;  // per sample
  bool varies_ = false;
  bool sparse_ = false;
};

/// The inputs of one lane.
class RecordReader {
 public:
  /// `pools`: by stage, as in ReplicaSetup; must outlive this.
  RecordReader(const Plan& plan, const PlanStage& stage, const PlanLane& lane,
               std::span<const RowPool> pools);

  /// Turns to a task and looks at its rows: a HOLE or PAD in any input is one here.
  void begin(std::uint64_t first);
  RowStates& states() { return states_; }
  /// The task's row headers, of the first input.
  const RowHeader* headers() const { return headers_.front(); }

  /// Per sample: one row.
  void select(std::uint64_t row) {
    window_.select(row);
    const RowHeader& header = headers_.front()[row];
    window_.frame().samples.front() = {header.number, header.index, header.id, header.epoch};
  }
  /// Per batch: the FULL rows, dense.
  void select_full();

  Inputs inputs() const { return Inputs(window_.frame()); }
  /// Of the record in hand, one per row.
  std::span<const SampleInfo> samples() const { return window_.frame().samples; }

 private:
  std::vector<const RowPool*> pools_;
  std::vector<const RowHeader*> headers_;  // by input
  RecordWindow window_;
  RowStates states_;
};

/// The output of a stage: its own tensors, and those that pass through it. Rows and states count
/// the samples of its inputs; each is `fan_out` rows of the pool.
class RecordWriter {
 public:
  RecordWriter(const Plan& plan, const PlanStage& stage, std::span<const RowPool> pools,
               std::size_t stage_index);

  void begin(std::uint64_t first);
  /// Of the pool's rows.
  RowHeader* headers() const { return headers_; }

  /// Takes over the task's headers and passed tensors from the inputs, with the states given.
  /// Output i of a sample has its number, index and id times the fan-out, plus i.
  void pass_on(const RowHeader* headers, const RowStates& states);
  /// The sample has no output after all.
  void make_hole(std::uint64_t row);

  /// Per sample: its row, or with a fan-out rows.
  void select(std::uint64_t row) {
    if (fan_out_ > 1) return window_.select_each(row * fan_out_);
    if (window_.ragged()) window_.open_shapes();
    window_.select(row);
  }
  /// Before commit() and commit_full(): a shape that is not the contract's is the answer's error.
  void check_shapes(Result<Next>& answer) const {
    if (!window_.varies() || !answer.ok() || *answer != Next::emit) return;
    if (const Result<void> fits = window_.check_shapes(); !fits.ok()) answer = fits.error();
  }
  /// After the stage has written it.
  void commit(std::uint64_t row) {
    if (!window_.ragged()) return;
    return fan_out_ > 1 ? window_.store_each(row * fan_out_) : window_.store_shapes(row);
  }
  /// Per batch: as many rows as there are FULL ones; after the stage has written them, commit_full.
  void select_full(const RowStates& states);
  void commit_full(const RowStates& states);

  Outputs outputs() {
    return Outputs(window_.has_each() ? window_.first_of_each() : window_.frame());
  }

 private:
  struct Pass {
    const RowPool* from = nullptr;
    std::size_t from_array = 0;
    std::size_t to_array = 0;
    std::uint64_t row_bytes = 0;
    bool ragged = false;  // its NAME.shape is the next array on both sides
    int rank = 0;
    std::size_t element_bytes = 1;
    std::uint64_t expected_bytes = 0;  // of a row
  };

  void add_pass(const Plan& plan, const PlanStage& stage, const PlanPass& pass,
                std::span<const RowPool> pools);
  void make_headers(std::uint64_t row, const RowHeader& from, RowState state);
  void copy_to_each(const Pass& pass, const RowStates& states);
  void copy_ragged(const Pass& pass, const RowStates& states);

  const RowPool* pool_;
  RowHeader* headers_ = nullptr;
  std::uint64_t first_ = 0;  // of the inputs
  std::uint64_t task_;       // samples of the inputs
  std::uint64_t fan_out_;
  RecordWindow window_;
  std::vector<Pass> passes_;
  FirstPass first_pass_;
};

}  // namespace brigade
