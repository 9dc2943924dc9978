#include <algorithm>
#include <vector>

#include "device/open_device.h"
#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"
#include "pipeline/api/memory_of_run.h"

using namespace brigade;
using namespace brigade::c_api;

static_assert(BRIGADE_PIN_AUTO == static_cast<int>(Pin::automatic) &&
              BRIGADE_PIN_YES == static_cast<int>(Pin::yes) &&
              BRIGADE_PIN_NO == static_cast<int>(Pin::no));

namespace {

/// Where the batch has that memory: all that a tensor, or one sample of it, shows.
bool has_memory(const Batch& batch, const std::byte* data, std::uint64_t bytes) {
  const Frame& frame = batch.record().frame();
  return std::any_of(frame.fields.begin(), frame.fields.end(), [&](const Field& field) {
    const std::uint64_t space = static_cast<std::uint64_t>(frame.samples) * field.sample_stride;
    return data >= field.data && data <= field.data + space &&
           bytes <= static_cast<std::uint64_t>(field.data + space - data);
  });
}

brigade_status read_part(const Batch& batch, const brigade_tensor* given, std::uint64_t to,
                         BatchUploads::Part& part) {
  BRIGADE_C_NEEDS(given);
  brigade_tensor tensor{};
  if (const brigade_status wrong = read_struct(given, "tensor", tensor); wrong != BRIGADE_OK)
    return wrong;
  const std::string name = tensor.name == nullptr ? "?" : tensor.name;
  const auto* const data = static_cast<const std::byte*>(tensor.data);
  if (!has_memory(batch, data, tensor.bytes))
    return fail(BRIGADE_ERROR_ARGUMENT,
                concat("tensor ", quote(name), " does not belong to this batch"));
  if ((tensor.flags & BRIGADE_RAGGED) != 0)
    return fail(BRIGADE_ERROR_ARGUMENT,
                concat("tensor ", quote(name), " is ragged: pass its rows (brigade_batch_row)"));
  part = {data, tensor.bytes, DeviceAddress{to}};
  return BRIGADE_OK;
}

}  // namespace

brigade_status brigade_run_uploads(brigade_run* run, const char* device, int32_t pin,
                                   brigade_uploads** uploads) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(device);
    BRIGADE_C_NEEDS(uploads);
    if (pin < BRIGADE_PIN_AUTO || pin > BRIGADE_PIN_NO)
      return fail(BRIGADE_ERROR_ARGUMENT, concat("pin is ", pin, ", expected BRIGADE_PIN_..."));
    auto opened = open_device(device);
    if (!opened) return fail(BRIGADE_ERROR_DEVICE, opened.error().message);
    if (*opened == nullptr)
      return fail(BRIGADE_ERROR_ARGUMENT,
                  concat("device ", device, ": expected a device to copy to: cuda:N or host"));
    const std::lock_guard lock(run->mutex);
    std::weak_ptr<BatchUploads>& known = run->uploads[(*opened)->name()];
    std::shared_ptr<BatchUploads> shared = known.lock();
    if (shared == nullptr) {
      auto made =
          BatchUploads::open(MemoryOfRun::of(*run->run), std::move(*opened), static_cast<Pin>(pin));
      if (!made) return fail(BRIGADE_ERROR_DEVICE, made.error().message);
      known = shared = std::move(*made);
    }
    *uploads = new brigade_uploads{std::move(shared)};
    return BRIGADE_OK;
  });
}

const char* brigade_uploads_report(const brigade_uploads* uploads) {
  return uploads == nullptr ? "" : uploads->uploads->report().c_str();
}

brigade_status brigade_uploads_copy(brigade_uploads* uploads, brigade_batch* batch,
                                    const brigade_tensor* const* tensors, const uint64_t* to,
                                    size_t count, void* stream, brigade_upload** upload) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(uploads);
    BRIGADE_C_NEEDS(batch);
    BRIGADE_C_NEEDS(upload);
    if (count > 0) BRIGADE_C_NEEDS(tensors);
    if (count > 0) BRIGADE_C_NEEDS(to);
    std::vector<BatchUploads::Part> parts(count);
    for (std::size_t i = 0; i < count; ++i) {
      const brigade_status wrong = read_part(batch->batch, tensors[i], to[i], parts[i]);
      if (wrong != BRIGADE_OK) return wrong;
    }
    brigade_batch_retain(batch);
    Lease held(batch, [batch](const void*) { brigade_batch_release(batch); });
    auto copied = uploads->uploads->copy(parts, stream, std::move(held));
    if (!copied) return fail(BRIGADE_ERROR_DEVICE, copied.error().message);
    *upload = new brigade_upload{std::move(*copied)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_upload_await(brigade_upload* upload, void* stream) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(upload);
    const auto told = upload->upload->await(stream);
    return told ? BRIGADE_OK : fail(BRIGADE_ERROR_DEVICE, told.error().message);
  });
}

brigade_status brigade_upload_wait(brigade_upload* upload) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(upload);
    const auto done = upload->upload->wait();
    return done ? BRIGADE_OK : fail(BRIGADE_ERROR_DEVICE, done.error().message);
  });
}

void brigade_upload_close(brigade_upload* upload) { delete upload; }

void brigade_uploads_close(brigade_uploads* uploads) { delete uploads; }
