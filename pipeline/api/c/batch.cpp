#include <cstddef>

#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"
#include "pipeline/api/c/show_tensor.h"

using namespace brigade;
using namespace brigade::c_api;

static_assert(BRIGADE_RANK_MAX == kRankMax);
static_assert(BRIGADE_BOOL == static_cast<int>(boolean) && BRIGADE_U8 == static_cast<int>(u8) &&
              BRIGADE_I8 == static_cast<int>(i8) && BRIGADE_I16 == static_cast<int>(i16) &&
              BRIGADE_I32 == static_cast<int>(i32) && BRIGADE_I64 == static_cast<int>(i64) &&
              BRIGADE_F16 == static_cast<int>(f16) && BRIGADE_BF16 == static_cast<int>(bf16) &&
              BRIGADE_F32 == static_cast<int>(f32) && BRIGADE_F64 == static_cast<int>(f64));

namespace {

std::uint32_t access(const Batch& batch, const TensorView& view) {
  return batch.writable(view) ? BRIGADE_WRITABLE : 0;
}

brigade_status show(const Batch& batch, const Field& field, brigade_tensor* tensor) {
  const std::uint32_t flags =
      (field.ragged ? BRIGADE_RAGGED : 0) | access(batch, {field.data, field.dtype, field.shape});
  return write_struct(show_batch_tensor(field, flags), "tensor", tensor);
}

brigade_status no_tensor(const Frame& frame, std::string_view name) {
  std::vector<std::string> names;
  for (const Field& field : frame.fields) names.push_back(field.name);
  return fail(BRIGADE_ERROR_ARGUMENT, concat("the batch has no tensor ", quote(name),
                                             ": its tensors are ", join(names, ", ", " and ")));
}

bool has_sample(const brigade_batch& batch, std::uint64_t i) {
  return i < static_cast<std::uint64_t>(batch.batch.size());
}

brigade_status no_sample(const brigade_batch& batch, std::uint64_t i) {
  return fail(BRIGADE_ERROR_ARGUMENT,
              concat("there is no sample ", i, ": expected an index below ", batch.batch.size()));
}

}  // namespace

void brigade_batch_retain(brigade_batch* batch) {
  if (batch != nullptr) batch->holders.fetch_add(1, std::memory_order_relaxed);
}

void brigade_batch_release(brigade_batch* batch) {
  // Pairs with itself: the last holder sees what all others have read.
  if (batch != nullptr && batch->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete batch;
}

brigade_status brigade_batch_describe(const brigade_batch* batch, brigade_batch_info* info) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(batch);
    const Frame& frame = batch->batch.record().frame();
    const SampleInfo& first = batch->batch.sample(0);
    return write_struct({.size = 0,
                         .samples = static_cast<std::uint64_t>(batch->batch.size()),
                         .tensors = frame.fields.size(),
                         .epoch = first.epoch,
                         .index = first.index,
                         .source = frame.port.c_str()},
                        "info", info);
  });
}

brigade_status brigade_batch_sample(const brigade_batch* batch, uint64_t i,
                                    brigade_sample* sample) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(batch);
    if (!has_sample(*batch, i)) return no_sample(*batch, i);
    const SampleInfo& of = batch->batch.sample(static_cast<std::int64_t>(i));
    return write_struct(
        {.size = 0, .number = of.number, .epoch = of.epoch, .index = of.index, .id = of.id},
        "sample", sample);
  });
}

brigade_status brigade_batch_tensor(const brigade_batch* batch, uint64_t i,
                                    brigade_tensor* tensor) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(batch);
    const Frame& frame = batch->batch.record().frame();
    if (i >= frame.fields.size())
      return fail(
          BRIGADE_ERROR_ARGUMENT,
          concat("there is no tensor ", i, ": expected an index below ", frame.fields.size()));
    return show(batch->batch, frame.fields[i], tensor);
  });
}

brigade_status brigade_batch_find(const brigade_batch* batch, const char* name,
                                  brigade_tensor* tensor) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(batch);
    BRIGADE_C_NEEDS(name);
    const Frame& frame = batch->batch.record().frame();
    const Field* field = frame.find(name);
    return field == nullptr ? no_tensor(frame, name) : show(batch->batch, *field, tensor);
  });
}

brigade_status brigade_batch_row(const brigade_batch* batch, uint64_t i, const char* name,
                                 brigade_tensor* tensor) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(batch);
    BRIGADE_C_NEEDS(name);
    if (!has_sample(*batch, i)) return no_sample(*batch, i);
    const Frame& frame = batch->batch.record().frame();
    const Field* field = frame.find(name);
    if (field == nullptr) return no_tensor(frame, name);
    const Row row = batch->batch.row(static_cast<std::int64_t>(i));
    const TensorView view = row[name];
    return write_struct(show_tensor(*field, view.data(), view.shape(), access(batch->batch, view)),
                        "tensor", tensor);
  });
}
