#pragma once

// The arguments of process(): Inputs to read and Outputs, the slots to write. A record is one
// sample for a per-sample stage and one batch for a per-batch stage. Both are thin windows on
// a Frame, which the runtime fills before each call; they are valid until process() returns.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/random.h>
#include <brigade/sample_info.h>
#include <brigade/tensor.h>

namespace brigade {

/// One tensor of a frame: `data` belongs to the current record, `shape` includes the batch
/// dimension for a per-batch stage.
struct Field {
  std::string name;  ///< "image"; under `join: zip` "port.image"
  DType dtype = DType::u8;
  bool ragged = false;
  Shape shape;
  Shape bounds;        ///< upper bounds of shape; equal to it unless ragged
  Shape sample_shape;  ///< shape of one sample, without the batch dimension
  Shape sample_bounds;
  std::byte* data = nullptr;
  std::size_t sample_stride = 0;  ///< bytes from one sample to the next
  bool on_device = false;         ///< `data` is a device address
};

/// Keeps the slots of a task after the call that showed them: their contents stay, and their writer
/// waits, until the last copy is released, on any thread.
using Lease = std::shared_ptr<const void>;

/// Creates leases of the current task. For the runtime.
class TaskKeeper {
 public:
  virtual ~TaskKeeper() = default;
  virtual Lease keep() = 0;
};

/// The memory behind Inputs and Outputs, prepared by the runtime. Stages do not touch it.
struct Frame {
  std::vector<Field> fields;
  std::span<const SampleInfo> infos;  ///< one per sample of the record; inputs only
  std::int64_t samples = 1;           ///< samples in this record
  bool batched = false;               ///< fields carry a batch dimension
  std::int64_t written = -1;          ///< outputs: set by Outputs::emit_samples(); -1: not set
  std::string port;                   ///< the source served (`join: epochs`, `merge`)
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;       ///< stream_id of the name that keys this stage's randoms
  TaskKeeper* keeper = nullptr;   ///< for the inputs of a stage that holds()
  void* device_stream = nullptr;  ///< for a stage with fields on a device

  const Field* find(std::string_view name) const {
    for (const Field& field : fields)
      if (field.name == name) return &field;
    return nullptr;
  }
  Field* find(std::string_view name) {
    for (Field& field : fields)
      if (field.name == name) return &field;
    return nullptr;
  }
};

class Inputs {
 public:
  explicit Inputs(const Frame& frame) : frame_(&frame) {}

  const Frame& frame() const { return *frame_; }  ///< for the runtime

  /// The tensor `name`; the contract guarantees that it exists (otherwise aborts).
  TensorView operator[](std::string_view name) const {
    const Field* field = frame_->find(name);
    BRIGADE_CHECK(field != nullptr && !field->on_device, name);
    return view(*field);
  }
  /// True if that tensor is in device memory, where only device_tensor() shows it.
  bool on_device(std::string_view name) const {
    const Field* field = frame_->find(name);
    return field != nullptr && field->on_device;
  }
  /// For the whole record; aborts if it is in host memory.
  DeviceTensor device_tensor(std::string_view name) const {
    const Field* field = frame_->find(name);
    BRIGADE_CHECK(field != nullptr && field->on_device, name);
    return {field->data, field->dtype, &field->shape, frame_->device_stream};
  }
  bool has(std::string_view name) const { return frame_->find(name) != nullptr; }

  /// All tensors of the record, in the order of the source's outputs.
  std::size_t size() const { return frame_->fields.size(); }
  std::string_view name(std::size_t i) const { return frame_->fields[i].name; }
  TensorView at(std::size_t i) const { return view(frame_->fields[i]); }

  /// True if this batch may be kept after the call.
  bool may_keep() const { return frame_->keeper != nullptr; }
  /// For a stage that holds(), in process(): tensors of this record, and copies of these Inputs,
  /// stay readable while the lease lives. It must be released without another call of the stage:
  /// the end of an epoch, save(), and after `hold:` tasks the next call wait for it. By close() all
  /// leases must be released.
  Lease keep() const {
    BRIGADE_CHECK(frame_->keeper != nullptr, "keep() needs a contract with holds()");
    return frame_->keeper->keep();
  }

  std::int64_t samples() const {
    return sample_ < 0 ? frame_->samples : 1;
  }  ///< 1, or this batch's samples
  std::string_view port() const { return frame_->port; }
  const SampleInfo& info(std::int64_t sample = 0) const {
    return frame_->infos[static_cast<std::size_t>(sample_ < 0 ? sample : sample_)];
  }

  /// One sample of a batch: tensors without the batch dimension. A ragged tensor shows its upper
  /// bounds there; its actual shape is entry i of `NAME.shape`. Without a batch, sample(0) is the
  /// record.
  Inputs sample(std::int64_t i) const {
    BRIGADE_CHECK(i >= 0 && i < samples(), i);
    return sample_ < 0 && frame_->batched ? Inputs(*frame_, i) : *this;
  }

  /// Random numbers of one sample: the same for any number of replicas and after any restart,
  /// because they are keyed by (seed, epoch, sample id, the stage's stream name).
  Philox random(std::int64_t sample = 0) const {
    const SampleInfo& of = info(sample);
    return Philox(frame_->seed, frame_->stream, of.epoch, of.id);
  }

 private:
  Inputs(const Frame& frame, std::int64_t sample) : frame_(&frame), sample_(sample) {}

  TensorView view(const Field& field) const {
    if (sample_ < 0) return {field.data, field.dtype, field.shape};
    const std::byte* data = field.data + static_cast<std::size_t>(sample_) * field.sample_stride;
    return {data, field.dtype, field.sample_shape};
  }

  const Frame* frame_;
  std::int64_t sample_ = -1;  // -1: the whole record
};

class Outputs {
 public:
  explicit Outputs(Frame& frame) : frame_(&frame) {}

  Frame& frame() { return *frame_; }  ///< for the runtime

  /// The slot `name`; aborts if the contract does not name it.
  TensorSlot operator[](std::string_view name) {
    Field* field = frame_->find(name);
    BRIGADE_CHECK(field != nullptr && !field->on_device, name);
    return slot(*field);
  }
  /// Same as in Inputs.
  bool on_device(std::string_view name) const { return Inputs(*frame_).on_device(name); }
  DeviceTensor device_tensor(std::string_view name) const {
    return Inputs(*frame_).device_tensor(name);
  }
  std::size_t size() const { return frame_->fields.size(); }
  std::string_view name(std::size_t i) const { return frame_->fields[i].name; }
  TensorSlot at(std::size_t i) { return slot(frame_->fields[i]); }

  std::int64_t samples() const { return sample_ < 0 ? frame_->samples : 1; }

  /// One sample of the output: in a per-batch stage, slots without the batch dimension; in a
  /// per-sample stage sample(0) is the record itself. If a contract makes k outputs of each input
  /// (expand), output j of input i is sample(i * k + j), in a per-sample stage sample(j).
  Outputs sample(std::int64_t i) {
    BRIGADE_CHECK(i >= 0 && i < samples(), i);
    if (sample_ >= 0) return *this;
    return frame_->batched ? Outputs(*frame_, i) : Outputs(frame_[i], 0);
  }

  /// For a stage with flat_map(): samples 0 .. count - 1 are its outputs for this sample, at most
  /// samples(). Without this call Next::emit means one.
  void emit_samples(std::int64_t count) {
    BRIGADE_CHECK(count >= 0 && count <= samples(), count);
    frame_->written = count;
  }

 private:
  Outputs(Frame& frame, std::int64_t sample) : frame_(&frame), sample_(sample) {}

  TensorSlot slot(Field& field) const {
    if (sample_ < 0 || !frame_->batched)
      return {field.data, field.dtype, field.shape, field.bounds, field.ragged};
    std::byte* data = field.data + static_cast<std::size_t>(sample_) * field.sample_stride;
    return {data, field.dtype, field.sample_shape, field.sample_bounds, field.ragged};
  }

  Frame* frame_;              // without batches, one of `samples` frames that follow each other
  std::int64_t sample_ = -1;  // -1: the whole record
};

}  // namespace brigade
