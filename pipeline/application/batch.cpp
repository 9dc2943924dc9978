#include <brigade/check.h>
#include <brigade/output.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "pipeline/application/held_batch.h"

namespace brigade {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t field_of(const Frame& frame, std::string_view name) {
  const Field* const field = frame.find(name);
  BRIGADE_CHECK(field != nullptr, name);
  return static_cast<std::size_t>(field - frame.fields.data());
}

class CopiedBatch final : public HeldBatch {
 public:
  explicit CopiedBatch(const Frame& from)
      : HeldBatch(copy_), copy_(from), infos_(from.infos.begin(), from.infos.end()) {
    copy_.infos = infos_;
    for (std::size_t f = 0; f < copy_.fields.size(); ++f) copy_field(from, f);
  }
  bool writable(const std::byte*) const override { return true; }

 private:
  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };

  void copy_field(const Frame& from, std::size_t f) {
    // Cleared by the kernel: of a ragged tensor most pages may never be touched.
    std::size_t space = static_cast<std::size_t>(from.samples) * from.fields[f].sample_stride;
    const std::size_t bytes = space;
    void* at = std::calloc(space += kAlignment, 1);
    BRIGADE_CHECK(at != nullptr, bytes);
    memory_.emplace_back(at);
    auto* const to = static_cast<std::byte*>(std::align(kAlignment, bytes, at, space));
    for_each_part(from, f, [&](std::size_t offset, std::size_t length) {
      std::memcpy(to + offset, from.fields[f].data + offset, length);
    });
    copy_.fields[f].data = to;
  }

  Frame copy_;
  std::vector<SampleInfo> infos_;
  std::vector<std::unique_ptr<void, Freed>> memory_;
};

}  // namespace

TensorView HeldBatch::row(std::size_t field, std::int64_t i) const {
  BRIGADE_CHECK(i >= 0 && i < frame_.samples, i);
  const Field& of = frame_.fields[field];
  const std::byte* const data = of.data + static_cast<std::size_t>(i) * of.sample_stride;
  if (!of.ragged) return {data, of.dtype, of.sample_shape};
  std::call_once(shapes_read_, [this] { read_shapes(); });
  return {data, of.dtype, shapes_[field][static_cast<std::size_t>(i)]};
}

void HeldBatch::read_shapes() const {
  shapes_.resize(frame_.fields.size());
  for (std::size_t f = 0; f < frame_.fields.size(); ++f) {
    if (!frame_.fields[f].ragged) continue;
    for (std::int64_t i = 0; i < frame_.samples; ++i) {
      Shape& shape = shapes_[f].emplace_back();
      for (const std::int64_t size : row_sizes(frame_, f, i)) shape.push_back(size);
    }
  }
}

TensorView Row::operator[](std::string_view name) const {
  return batch_->row(field_of(batch_->frame(), name), sample_);
}

const SampleInfo& Row::info() const {
  return batch_->frame().infos[static_cast<std::size_t>(sample_)];
}

Batch::Batch(std::shared_ptr<const HeldBatch> held)
    : held_(std::move(held)), record_(held_->frame()) {}

Row Batch::row(std::int64_t i) const {
  BRIGADE_CHECK(i >= 0 && i < size(), i, size());
  return {*held_, i};
}

bool Batch::writable(const TensorView& tensor) const {
  const auto* const at = static_cast<const std::byte*>(tensor.data());
  return held_->writable(at);
}

bool Batch::dense(const TensorView& tensor) const {
  for (const Field& field : held_->frame().fields)
    if (field.ragged && field.data == tensor.data() && field.shape.rank() == tensor.shape().rank())
      return false;
  return true;
}

Batch Batch::clone() const { return Batch(std::make_shared<const CopiedBatch>(held_->frame())); }

}  // namespace brigade
