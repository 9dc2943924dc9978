#pragma once

// The state shared by the handles on a batch: the memory of its tensors, and whether the
// program may write to it. It is released with the last handle, on any thread. Two kinds:
// the graph's own memory, which returns then (output_queue.h), and a copy (Batch::clone()).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <brigade/record.h>

namespace brigade {

class HeldBatch {
 public:
  /// `frame`: of the batch; stays as it is for as long as this.
  explicit HeldBatch(const Frame& frame) : frame_(frame) {}
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;
  virtual ~HeldBatch() = default;

  const Frame& frame() const { return frame_; }
  /// Of sample i, in its real shape.
  TensorView row(std::size_t field, std::int64_t i) const;
  /// Of memory that one of the tensors has.
  virtual bool writable(const std::byte* at) const = 0;

 private:
  void read_shapes() const;

  const Frame& frame_;
  // Of ragged tensors, by field and sample: what rows show must have a place.
  mutable std::once_flag shapes_read_;
  mutable std::vector<std::vector<Shape>> shapes_;
};

/// Whether a field says how large the samples of the ragged one before it are.
inline bool is_shape_field(const Frame& frame, std::size_t field) {
  return frame.batched && field > 0 && frame.fields[field - 1].ragged;
}

/// Of a ragged field in a batch.
inline std::span<const std::int64_t> row_sizes(const Frame& frame, std::size_t field,
                                               std::int64_t i) {
  const Field& shapes = frame.fields[field + 1];
  const std::byte* const at = shapes.data + static_cast<std::size_t>(i) * shapes.sample_stride;
  return {reinterpret_cast<const std::int64_t*>(at),
          static_cast<std::size_t>(shapes.sample_shape[0])};
}

/// Calls use(offset, bytes) for what a batch has of a tensor: all of it, of a ragged one as much as
/// each sample has.
template <class Use>
void for_each_part(const Frame& frame, std::size_t field, Use use) {
  const Field& of = frame.fields[field];
  if (!of.ragged) return use(0, static_cast<std::size_t>(frame.samples) * of.sample_stride);
  for (std::int64_t i = 0; i < frame.samples; ++i) {
    std::size_t bytes = dtype_bytes(of.dtype);
    for (const std::int64_t size : row_sizes(frame, field, i))
      bytes *= static_cast<std::size_t>(std::max<std::int64_t>(size, 0));
    use(static_cast<std::size_t>(i) * of.sample_stride, std::min(bytes, of.sample_stride));
  }
}

}  // namespace brigade
