#pragma once

// The bridge between bytes and tensors. A RecordReader shows the slots of input rings as Inputs,
// a RecordWriter those of the stage's own ring as Outputs. Names, dtypes, shapes and strides are
// settled when they are made; after that a record is a few pointers moved, and nothing
// allocates. A batch is the slots themselves; only where empty ones lie between FULL ones are
// these copied. One thread: (begin (select | select_full)* )*; the views of a record are valid
// until the next call. Under `join: zip` a tensor is called "port.tensor". A per-batch reader
// also sees NAME.shape (i64 [B, rank]) of each ragged tensor, and a per-batch writer fills it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <brigade/stage.h>
#include "pipeline/plan/plan.h"
#include "pipeline/records/first_pass.h"
#include "pipeline/records/record_field.h"
#include "pipeline/records/ring_ports.h"
#include "transports/slot_ring.h"

namespace brigade {

/// The slots of one task by state.
struct SlotStates {
  std::vector<SlotState> states;  ///< one per slot
  std::uint64_t full = 0;
  std::uint64_t pads = 0;
  std::uint64_t empty_slots = 0;
  std::uint64_t first_full = 0;  ///< meaningless without FULL slots
  std::uint64_t last_full = 0;

  void count();  ///< what `states` says: by whoever has changed it
  bool contiguous() const { return full == 0 || last_full - first_full + 1 == full; }
  std::uint64_t slots() const { return states.size(); }
  bool is_full(std::uint64_t slot) const { return states[slot] == SlotState::full; }
};

/// Private memory for the FULL slots of one array, cache-line aligned.
class SlotScratch {
 public:
  void reserve(std::size_t bytes);  ///< keeps what is large enough
  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The fields of a Frame over arrays of one or several rings: what reader and writer share.
class RecordWindow {
 public:
  RecordWindow(std::uint64_t task, bool batched);

  /// A ring whose slots are looked at; the index to pass as `ring` to add(). `ring` must outlive
  /// this.
  std::size_t add_ring(const SlotRing& ring);
  /// A tensor of it. `array`: its index there; a ragged one is followed by its NAME.shape.
  void add(std::size_t ring, std::size_t array, const TensorType& type, const std::string& name);

  /// Turns to the task of samples first .. first + task - 1.
  void begin(std::uint64_t first) {
    for (Ring& ring : rings_) ring.first_slot = ring.ring->slot_index(first);
    for (Array& array : arrays_) {
      array.first = array.base + rings_[array.ring].first_slot * array.stride;
    }
  }
  /// Per sample: one slot.
  void select(std::uint64_t slot) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      frame_.fields[i].data = arrays_[i].first + slot * arrays_[i].stride;
    }
    if (ragged_) load_shapes(slot);
  }
  /// Per batch: `count` slots from `slot` on, in place.
  void select_slots(std::uint64_t slot, std::uint64_t count);
  void select_scratch(std::uint64_t count);
  void reserve_scratch();

  /// FULL slots of the task to the start of scratch, and back: `fan_out` of them for each state.
  void gather(const SlotStates& states);
  void scatter(const SlotStates& states, std::uint64_t fan_out = 1);

  /// Per sample, `count` slots written in one call: a frame for each. Once, after the last add().
  void make_each(std::uint64_t count);
  /// The frames show the slots from `slot` on; after they have been written: store_each().
  void select_each(std::uint64_t slot);
  void store_each(std::uint64_t slot);
  bool has_each() const { return !each_.empty(); }
  Frame& first_of_each() { return each_.front(); }

  /// Per sample, ragged tensors: notes down the shapes that were set; before it, allows any. A slot
  /// that is much smaller than the one it replaces gives pages back, if the ring is sparse.
  void store_shapes(std::uint64_t slot) { store_shapes(slot, frame_); }
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
    const SlotRing* ring;
    std::uint64_t first_slot = 0;  // of the task's first slot
  };
  struct Array {
    std::size_t ring = 0;
    std::byte* base = nullptr;
    std::byte* first = nullptr;  // the task's first slot
    std::uint64_t stride = 0;
    std::uint64_t expected_bytes = 0;  // of a slot
    bool has_shapes = false;           // per sample and ragged: slots of NAME.shape
    VaryingSizes varying = 0;
    std::byte* shapes = nullptr;
    std::uint64_t shapes_stride = 0;
    SlotScratch scratch;
  };

  void add_field(std::size_t ring, std::size_t array, const TensorType& type,
                 const std::string& name);
  void set_count(std::uint64_t count);
  std::int64_t* shape_of(const Array& array, std::uint64_t slot) const;
  void load_shapes(std::uint64_t slot);
  void store_shapes(std::uint64_t slot, const Frame& frame);
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

/// The inputs of one task queue.
class RecordReader {
 public:
  /// `rings`: by stage, as in ReplicaSetup; must outlive this. `empty_slots_possible`: in a batch,
  /// between FULL ones.
  RecordReader(const Plan& plan, const PlanStage& stage, const PlanQueue& queue,
               const ByStage<SlotRing>& rings, bool empty_slots_possible);

  /// Turns to a task and looks at its slots: an EMPTY or PAD in any input is one here.
  void begin(std::uint64_t first);
  SlotStates& states() { return states_; }
  const SlotHeader* headers() const { return headers_.front(); }  ///< of its first input

  /// Per sample: one slot.
  void select(std::uint64_t slot) {
    window_.select(slot);
    window_.frame().infos = samples_of(headers_.front() + slot, 1);
  }
  /// Per batch: the FULL slots, dense.
  void select_full();

  Inputs inputs() const { return Inputs(window_.frame()); }
  void set_keeper(TaskKeeper& keeper) { window_.frame().keeper = &keeper; }  ///< outlives this
  void set_device_stream(void* stream) { window_.frame().device_stream = stream; }
  std::span<const SampleInfo> samples() const { return window_.frame().infos; }  ///< its slots'

 private:
  std::vector<const SlotRing*> rings_;
  std::vector<const SlotHeader*> headers_;  // by input
  std::vector<SampleInfo> gathered_;        // of FULL slots that are not contiguous
  RecordWindow window_;
  SlotStates states_;
};

/// The output of a stage: its own tensors, and those that pass through it. Slots and states count
/// the samples of its inputs; each is `fan_out` slots of the ring.
class RecordWriter {
 public:
  RecordWriter(const Plan& plan, const PlanStage& stage, const ByStage<SlotRing>& rings,
               StageNumber stage_index);

  void begin(std::uint64_t first);
  SlotHeader* headers() const { return headers_; }  ///< of the ring's slots

  /// Takes over the task's headers and passed tensors from the inputs, with the states given.
  /// Output i of a sample has its number, index and id times the fan-out, plus i.
  void pass_on(const SlotHeader* headers, const SlotStates& states);
  /// The sample has no output after all.
  void make_empty(std::uint64_t slot);
  void set_device_stream(void* stream) { window_.frame().device_stream = stream; }
  void end(std::uint64_t full);  ///< last, before the task is finished: of so many samples

  /// Per sample: its slot, or with a fan-out slots.
  void select(std::uint64_t slot) {
    if (fan_out_ > 1) return window_.select_each(slot * fan_out_);
    if (window_.ragged()) window_.open_shapes();
    window_.select(slot);
  }
  /// Before commit() and commit_full(): a shape that is not the contract's is the answer's error.
  void check_shapes(Result<Next>& answer) const {
    if (!window_.varies() || !answer.ok() || *answer != Next::emit) return;
    if (const Result<void> fits = window_.check_shapes(); !fits.ok()) answer = fits.error();
  }
  /// After the stage has written it.
  void commit(std::uint64_t slot) {
    if (!window_.ragged()) return;
    return fan_out_ > 1 ? window_.store_each(slot * fan_out_) : window_.store_shapes(slot);
  }
  /// Per batch: as many slots as there are FULL ones; after the stage has written them,
  /// commit_full.
  void select_full(const SlotStates& states);
  void commit_full(const SlotStates& states);

  Outputs outputs() {
    return Outputs(window_.has_each() ? window_.first_of_each() : window_.frame());
  }

 private:
  struct Pass {
    const SlotRing* from = nullptr;
    std::size_t from_array = 0;
    std::size_t to_array = 0;
    std::uint64_t slot_bytes = 0;
    bool ragged = false;  // its NAME.shape is the next array on both sides
    int rank = 0;
    std::size_t element_bytes = 1;
    std::uint64_t expected_bytes = 0;  // of a slot
  };

  void add_pass(const Plan& plan, const PlanStage& stage, const PlanPass& pass,
                const ByStage<SlotRing>& rings);
  void make_headers(std::uint64_t slot, const SlotHeader& from, SlotState state);
  void copy_to_each(const Pass& pass, const SlotStates& states);
  void copy_ragged(const Pass& pass, const SlotStates& states);

  const SlotRing* ring_;
  SlotHeader* headers_ = nullptr;
  std::uint64_t first_ = 0;  // of the inputs
  std::uint64_t task_;       // samples of the inputs
  std::uint64_t fan_out_;
  bool in_order_;  // the ring's one replica
  RecordWindow window_;
  std::vector<Pass> passes_;
  FirstPass first_pass_;
};

}  // namespace brigade
