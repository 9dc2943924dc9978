// What crosses to a GPU, and what it does with it there, in GB/s. Part of `gpu_check`; without a
// GPU each benchmark says so.

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <brigade/cuda.h>
#include "device/open_device.h"

namespace brigade {
namespace {

constexpr std::size_t kBatchBytes = 256 * 224 * 224 * 3;

struct Gpu {
  std::shared_ptr<Device> device;
  OwnedStream stream;
  OwnedEvent event;
};

/// Null: there is none, and the benchmark is told.
Gpu* gpu(benchmark::State& state) {
  static Result<Gpu> it = []() -> Result<Gpu> {
    Gpu made;
    BRIGADE_ASSIGN(made.device, open_device("cuda:0"));
    BRIGADE_ASSIGN(made.stream, own<OwnedStream>(made.device, made.device->create_stream()));
    BRIGADE_ASSIGN(made.event, own<OwnedEvent>(made.device, made.device->create_event()));
    return made;
  }();
  if (it) return &*it;
  state.SkipWithError(("no GPU: " + it.error().message).c_str());
  return nullptr;
}

void finish(Gpu& gpu) {
  static_cast<void>(gpu.device->record(gpu.event.get(), gpu.stream.get()));
  static_cast<void>(gpu.device->wait(gpu.event.get()));
}

/// Shared pages, as a ring's are; `huge`: of 2 MiB.
class Pages {
 public:
  explicit Pages(std::size_t bytes, bool huge = false)
      : bytes_(bytes),
        at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE | (huge ? MAP_HUGETLB : 0), -1, 0)) {}
  ~Pages() {
    if (there()) munmap(at_, bytes_);
  }
  bool there() const { return at_ != MAP_FAILED; }
  std::byte* get() const { return static_cast<std::byte*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

void copy_batches(benchmark::State& state, Gpu& gpu, const std::byte* from) {
  const auto there = own<DeviceMemory>(gpu.device, gpu.device->allocate(kBatchBytes));
  if (!there) return state.SkipWithError(there.error().message.c_str());
  for (auto _ : state) {
    static_cast<void>(
        gpu.device->copy_to_device(there->get(), from, kBatchBytes, gpu.stream.get()));
    finish(gpu);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kBatchBytes) * state.iterations());
}

void copy_from_registered(benchmark::State& state) {
  Gpu* const on = gpu(state);
  if (on == nullptr) return;
  const Pages pages(kBatchBytes);
  const auto registered = own<RegisteredMemory>(
      on->device, on->device->register_host(pages.get(), kBatchBytes, HostAccess::read_write));
  if (!registered) return state.SkipWithError(registered.error().message.c_str());
  copy_batches(state, *on, pages.get());
}
BENCHMARK(copy_from_registered)->UseRealTime();

void copy_from_pinned(benchmark::State& state) {
  Gpu* const on = gpu(state);
  if (on == nullptr) return;
  const auto pinned = own<PinnedMemory>(on->device, on->device->allocate_pinned(kBatchBytes));
  if (!pinned) return state.SkipWithError(pinned.error().message.c_str());
  copy_batches(state, *on, pinned->get());
}
BENCHMARK(copy_from_pinned)->UseRealTime();

void copy_from_pageable(benchmark::State& state) {
  Gpu* const on = gpu(state);
  if (on == nullptr) return;
  const Pages pages(kBatchBytes);
  copy_batches(state, *on, pages.get());
}
BENCHMARK(copy_from_pageable)->UseRealTime();

void register_a_gib(benchmark::State& state, bool huge) {
  Gpu* const on = gpu(state);
  if (on == nullptr) return;
  const std::size_t bytes = std::size_t{1} << 30;
  const Pages pages(bytes, huge);
  if (!pages.there())
    return state.SkipWithError(huge ? "no 512 huge pages (sysctl vm.nr_hugepages=512)"
                                    : "no memory");
  for (auto _ : state) {
    const auto registered = own<RegisteredMemory>(
        on->device, on->device->register_host(pages.get(), bytes, HostAccess::read_write));
    if (!registered) return state.SkipWithError(registered.error().message.c_str());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}
BENCHMARK_CAPTURE(register_a_gib, pages_of_4_kib, false)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(register_a_gib, pages_of_2_mib, true)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

cuda::Normalization pictures(DType dtype, bool channels_last) {
  cuda::Normalization to;
  to.height = to.width = 224;
  to.channels = 3;
  to.pad = 8;
  to.dtype = dtype;
  to.channels_last = channels_last;
  return to;
}

/// Bytes that are read and written.
void normalize_a_batch(benchmark::State& state, DType dtype, bool channels_last) {
  Gpu* const on = gpu(state);
  if (on == nullptr) return;
  const cuda::Normalization to = pictures(dtype, channels_last);
  const std::vector<cuda::Cut> cuts(256, cuda::Cut{3, 5, 1});
  const std::size_t value_bytes = kBatchBytes * dtype_bytes(dtype);
  const auto in = own<DeviceMemory>(on->device, on->device->allocate(kBatchBytes));
  const auto out = own<DeviceMemory>(on->device, on->device->allocate(value_bytes));
  if (!in || !out) return state.SkipWithError("the GPU's memory is full");
  DeviceWork work;
  work.launch = [&](DeviceStream stream) {
    return cuda::normalize_on_gpu(to, cuts, reinterpret_cast<const std::uint8_t*>(in->get()),
                                  reinterpret_cast<void*>(out->get()), stream);
  };
  for (auto _ : state) {
    const auto done = on->device->compute(work, on->stream.get());
    if (!done) return state.SkipWithError(done.error().message.c_str());
    finish(*on);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kBatchBytes + value_bytes) *
                          state.iterations());
}
BENCHMARK_CAPTURE(normalize_a_batch, f32_nchw, f32, false)->UseRealTime();
BENCHMARK_CAPTURE(normalize_a_batch, f16_nchw, f16, false)->UseRealTime();
BENCHMARK_CAPTURE(normalize_a_batch, bf16_channels_last, bf16, true)->UseRealTime();

}  // namespace
}  // namespace brigade
