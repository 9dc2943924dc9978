// Batches on their way to a device while it computes: all copies alone, all computing alone, and
// both at once, as torch_classifier and Python's Loader have it. Of the device of threads on any
// machine, and of a GPU where there is one. bench/device.py makes ratios of them.

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <brigade/cuda.h>
#include "base/clock.h"
#include "device/host_device.h"
#include "device/open_device.h"
#include "device/uploader.h"

namespace brigade {
namespace {

constexpr std::int64_t kPictures = 128;
constexpr std::size_t kUploadBytes = kPictures * 224 * 224 * 3;
constexpr int kSteps = 30;

/// Without memory, as most of what a GPU computes.
void compute_for(std::int64_t turns) {
  std::uint64_t x = 1;
  for (std::int64_t i = 0; i < turns; ++i)
    benchmark::DoNotOptimize(x = x * 6364136223846793005u + 1);
}

class Line {
 public:
  static Result<std::unique_ptr<Line>> open(const std::string& name) {
    auto self = std::make_unique<Line>();
    if (name == "host") {
      HostDeviceOptions options;
      options.checks = false;  // they read all memory once more
      self->device_ = HostDevice::create(options);
    } else {
      BRIGADE_ASSIGN(self->device_, open_device(name));
    }
    BRIGADE_TRY(self->prepare());
    return self;
  }

  /// Returns nanoseconds.
  Result<std::int64_t> run(bool copies, bool computes) {
    const std::int64_t began = monotonic_ns();
    if (copies) BRIGADE_TRY(send(0));
    for (int step = 0; step < kSteps; ++step) {
      if (copies && step + 1 < kSteps) BRIGADE_TRY(send(step + 1));
      if (copies) BRIGADE_TRY(device_->make_wait(user_.get(), sent(step)));
      if (computes) BRIGADE_TRY(compute(there_[static_cast<std::size_t>(step) % 2].get(), turns_));
    }
    BRIGADE_TRY(wait_for_all());
    return monotonic_ns() - began;
  }

 private:
  struct Unmapped {
    void operator()(void* at) const { munmap(at, kUploadBytes); }
  };

  Result<void> prepare() {
    void* const at = mmap(nullptr, kUploadBytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) return Error{"no memory"};
    ring_.reset(at);
    const InputMemory ring{static_cast<const std::byte*>(at), kUploadBytes};
    BRIGADE_ASSIGN(uploader_, Uploader::create(device_, Pin::automatic, {&ring, 1}));
    BRIGADE_ASSIGN(user_, own<OwnedStream>(device_, device_->create_stream()));
    BRIGADE_ASSIGN(end_, own<OwnedEvent>(device_, device_->create_event()));
    BRIGADE_ASSIGN(values_, own<DeviceMemory>(device_, device_->allocate(4 * kUploadBytes)));
    for (std::size_t i = 0; i < 2; ++i) {
      BRIGADE_ASSIGN(there_[i], own<DeviceMemory>(device_, device_->allocate(kUploadBytes)));
      BRIGADE_ASSIGN(sent_[i], own<OwnedEvent>(device_, device_->create_event()));
    }
    return calibrate();
  }

  /// Computing takes as long as copying: where they hold up one another it shows most.
  Result<void> calibrate() {
    BRIGADE_TRY(run(true, false));
    BRIGADE_ASSIGN(const std::int64_t copies, run(true, false));
    BRIGADE_TRY(run(false, true));
    BRIGADE_ASSIGN(const std::int64_t computing, run(false, true));
    turns_ = std::max<std::int64_t>(1, turns_ * copies / std::max<std::int64_t>(computing, 1));
    return {};
  }

  DeviceEvent sent(int step) const { return sent_[static_cast<std::size_t>(step) % 2].get(); }

  Result<void> send(int step) {
    BRIGADE_TRY(uploader_->begin(user_.get()));
    BRIGADE_TRY(uploader_->copy(there_[static_cast<std::size_t>(step) % 2].get(),
                                static_cast<const std::byte*>(ring_.get()), kUploadBytes));
    return uploader_->finish_later(sent(step), nullptr);
  }

  Result<void> compute(DeviceAddress pictures, std::int64_t turns) {
    cuda::Normalization to;
    to.height = to.width = 224;
    to.channels = 3;
    const std::vector<cuda::Cut> cuts(static_cast<std::size_t>(kPictures));
    DeviceWork work;
    work.twin = [turns] { compute_for(turns * 1000); };
    work.launch = [&](DeviceStream stream) -> Result<void> {
      for (std::int64_t i = 0; i < turns; ++i)
        BRIGADE_TRY(cuda::normalize_on_gpu(to, cuts,
                                           reinterpret_cast<const std::uint8_t*>(pictures),
                                           reinterpret_cast<void*>(values_.get()), stream));
      return {};
    };
    return device_->compute(work, user_.get());
  }

  Result<void> wait_for_all() {
    BRIGADE_TRY(device_->record(end_.get(), user_.get()));
    return device_->wait(end_.get());
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<void, Unmapped> ring_;
  OwnedStream user_;
  OwnedEvent end_;
  DeviceMemory values_;
  std::array<DeviceMemory, 2> there_;
  std::array<OwnedEvent, 2> sent_;
  std::int64_t turns_ = 100;
  std::unique_ptr<Uploader> uploader_;  // goes first
};

/// Null: why not is told.
Line* line(benchmark::State& state, const std::string& device) {
  static std::map<std::string, Result<std::unique_ptr<Line>>> lines;
  auto known = lines.find(device);
  if (known == lines.end()) known = lines.emplace(device, Line::open(device)).first;
  if (known->second) return known->second->get();
  state.SkipWithError(known->second.error().message.c_str());
  return nullptr;
}

void steps(benchmark::State& state, const std::string& device, bool copies, bool computes) {
  Line* const on = line(state, device);
  if (on == nullptr) return;
  for (auto _ : state) {
    const auto took = on->run(copies, computes);
    if (!took) return state.SkipWithError(took.error().message.c_str());
    state.SetIterationTime(static_cast<double>(*took) / 1e9);
  }
  if (copies)
    state.SetBytesProcessed(static_cast<std::int64_t>(kUploadBytes) * kSteps * state.iterations());
}

#define BRIGADE_STEPS(device, where)                                                               \
  BENCHMARK_CAPTURE(steps, device##_copies, where, true, false)->UseManualTime()->Iterations(1);   \
  BENCHMARK_CAPTURE(steps, device##_computes, where, false, true)->UseManualTime()->Iterations(1); \
  BENCHMARK_CAPTURE(steps, device##_both, where, true, true)->UseManualTime()->Iterations(1)
BRIGADE_STEPS(host, "host");
BRIGADE_STEPS(gpu, "cuda:0");

}  // namespace
}  // namespace brigade
