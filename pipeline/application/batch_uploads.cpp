#include "pipeline/application/batch_uploads.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/forked.h"
#include "pipeline/application/run_memory.h"
#include "pipeline/records/ring_ports.h"

namespace brigade {
namespace {

constexpr std::chrono::microseconds kLookAtUploadEvery{50};

/// What the program's outputs read, of rings that several read once.
std::vector<InputMemory> memory_of_outputs(const RunMemory& run) {
  std::vector<InputMemory> all;
  if (!run.views) return all;
  const Plan& plan = run.run.plan;
  for (const PlanStage& stage : plan.stages) {
    if (!stage.is_output()) continue;
    for (const InputMemory& memory : dense_inputs(plan, stage, run.views->rings())) {
      const auto same = [&](const InputMemory& other) { return other.data == memory.data; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(memory);
    }
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<BatchUploads>> BatchUploads::open(std::shared_ptr<const RunMemory> run,
                                                         std::shared_ptr<Device> device, Pin pin) {
  if (!run) return Error{std::string(kForkedText)};
  const std::vector<InputMemory> pinned = memory_of_outputs(*run);
  const std::shared_ptr<BatchUploads> self(new BatchUploads(std::move(run), std::move(device)));
  BRIGADE_ASSIGN(self->uploader_, Uploader::create(self->device_, pin, pinned));
  return self;
}

BatchUploads::~BatchUploads() {
  if (device_->in_child()) keep_for_ever(std::shared_ptr<Uploader>(std::move(uploader_)));
}

Result<std::unique_ptr<BatchUpload>> BatchUploads::copy(std::span<const Part> parts,
                                                        DeviceStream user, Lease kept) {
  if (device_->in_child()) return Error{std::string(kForkedText)};
  auto upload = std::make_unique<BatchUpload>(device_);
  BRIGADE_ASSIGN(upload->done_, own<OwnedEvent>(device_, device_->create_event()));
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(uploader_->begin(user));
  Result<void> told;
  for (auto part = parts.begin(); told && part != parts.end(); ++part)
    told = uploader_->copy(part->to, part->from, part->bytes);
  // Also after an error: copies that were told before it are under way.
  BRIGADE_TRY(uploader_->finish_later(upload->done_.get(), std::move(kept)));
  BRIGADE_TRY(told);
  return upload;
}

BatchUpload::~BatchUpload() {
  if (awaited_ || done_.get() == nullptr || device_->in_child()) return;
  SilenceWarning warning;
  for (auto passed = device_->passed(done_.get()); passed && !*passed;
       passed = device_->passed(done_.get())) {
    warning.look(*device_);
    std::this_thread::sleep_for(kLookAtUploadEvery);
  }
}

Result<void> BatchUpload::await(DeviceStream stream) {
  if (device_->in_child()) return Error{std::string(kForkedText)};
  BRIGADE_TRY(device_->make_wait(stream, done_.get()));
  awaited_ = true;
  return {};
}

Result<void> BatchUpload::wait() {
  if (device_->in_child()) return Error{std::string(kForkedText)};
  BRIGADE_TRY(device_->wait(done_.get()));
  awaited_ = true;
  return {};
}

}  // namespace brigade
