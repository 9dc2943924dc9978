#pragma once

// The differences between the LibTorch versions that this package builds with (Debian's 1.13
// to 2.11), and the bridges between its types and ours. All other code in the package uses
// only calls that are the same in all of them. guarded() turns its exceptions into an Error.

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <brigade/stage.h>
#include <brigade/text.h>
#include <brigade/torch/view.h>
#include "device/open_device.h"

namespace brigade {

/// The line of an exception that says what is wrong: the first, or, of a script, the last behind
/// the traceback.
inline std::string line_of_exception(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  const bool script = lines[0].find("in the TorchScript interpreter") != std::string_view::npos;
  for (auto line = lines.rbegin(); script && line != lines.rend(); ++line)
    if (!line->empty()) return std::string(*line);
  return std::string(lines[0]);
}

/// Calls fn() -> Result<T>; an exception becomes its error, on one line and without LibTorch's
/// stack trace.
template <class Fn>
auto torch_guarded(Fn fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const c10::Error& error) {
    return Error{concat("LibTorch: ", line_of_exception(error.what_without_backtrace()))};
  } catch (const std::exception& error) {
    return Error{concat("LibTorch: ", line_of_exception(error.what()))};
  }
}

/// Whether as many threads can be started as LibTorch's own pool has when it is made, one per core:
/// that pool (libpthreadpool) does not look, and waits for ever for the one that did not start.
inline Result<void> check_threads() {
  struct Opened {
    ~Opened() { latch.count_down(); }
    std::latch& latch;
  };
  std::latch latch(1);
  std::vector<std::jthread> threads;
  const Opened opened{latch};  // before they are joined
  try {
    while (threads.size() < std::thread::hardware_concurrency())
      threads.emplace_back([&latch] { latch.wait(); });
  } catch (const std::exception& error) {
    return Error{concat("LibTorch needs ", std::thread::hardware_concurrency(),
                        " threads, but only ", threads.size(), " started: ", error.what(),
                        "; raise the limit on address space (`ulimit -v`) or on processes ",
                        "(`ulimit -u`)")};
  }
  return {};
}

/// Threads, seeds and algorithms of this process, so that equal inputs give equal bits; and its
/// malloc. Before anything else of LibTorch runs.
inline Result<void> prepare_torch(int threads, std::uint64_t seed) {
  BRIGADE_TRY(check_threads());
  // Each step frees its large tensors: kept here, they need not be mapped and cleared, page by
  // page, for the next one. That was an eighth of the time of small_cnn on a CPU.
  constexpr int kMappedBytesMin = 32 << 20;  // glibc takes no more
  constexpr int kKeptBytesMax = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kMappedBytesMin);
  mallopt(M_TRIM_THRESHOLD, kKeptBytesMax);
  // cuBLAS reads it when CUDA starts, and is deterministic only with it.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  at::set_num_threads(threads);
  torch::manual_seed(seed);
  // Warn only: max_pool2d's backward on CUDA has no deterministic algorithm.
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::globalContext().setBenchmarkCuDNN(false);
  return {};
}

/// Heavy operations of this thread run in `dtype` on such a device, until end_autocast().
inline void set_autocast(at::DeviceType device, at::ScalarType dtype) {
#if TORCH_VERSION_MAJOR >= 2
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::set_autocast_enabled(device, true);
#else
  if (device == at::kCUDA) {
    at::autocast::set_autocast_gpu_dtype(dtype);
    at::autocast::set_enabled(true);
  } else {
    at::autocast::set_autocast_cpu_dtype(dtype);
    at::autocast::set_cpu_enabled(true);
  }
#endif
}

/// Weights that were kept in 16 bits are forgotten: the next step has others.
inline void end_autocast(at::DeviceType device) {
#if TORCH_VERSION_MAJOR >= 2
  at::autocast::set_autocast_enabled(device, false);
#else
  if (device == at::kCUDA)
    at::autocast::set_enabled(false);
  else
    at::autocast::set_cpu_enabled(false);
#endif
  at::autocast::clear_cache();
}

/// `auto`: a GPU when there is one; `host`: the CPU. Several replicas and processes of one machine
/// take turns.
inline Result<at::Device> choose_device(const std::string& wanted, int replica, int replicas) {
  const auto gpus = static_cast<int>(torch::cuda::is_available() ? torch::cuda::device_count() : 0);
  if (wanted == "cpu" || wanted == "host" || (wanted == "auto" && gpus == 0))
    return at::Device(at::kCPU);
  const bool any = wanted == "auto" || wanted == "cuda";
  if (!any && !wanted.starts_with("cuda:"))
    return Error{concat("device ", wanted, ": expected auto, cpu, cuda or cuda:N")};
  if (gpus == 0) {
    const auto& cuda = at::detail::getCUDAHooks();
    constexpr int kMajor = 1000;             // a driver runs all CUDA of its major version
    const bool has_cuda = cuda.hasCUDART();  // hasCUDA(): and has a GPU
    return Error{concat("device ", wanted, ": ",
                        has_cuda
                            ? why_no_gpu(static_cast<int>(cuda.versionCUDART()) / kMajor * kMajor)
                            : "this LibTorch was built without CUDA",
                        "; write device: auto to use the CPU without a GPU")};
  }
  if (any) {
    const std::string_view rank = std::getenv("LOCAL_RANK") ? std::getenv("LOCAL_RANK") : "";
    int local_rank = 0;  // what is no number counts as rank 0
    std::from_chars(rank.data(), rank.data() + rank.size(), local_rank);
    local_rank = std::max(0, local_rank);
    return at::Device(at::kCUDA,
                      static_cast<c10::DeviceIndex>((local_rank * replicas + replica) % gpus));
  }
  const at::Device device(wanted);
  if (device.index() < gpus) return device;
  return Error{concat(
      "device ", wanted, ": there ",
      gpus == 1 ? "is 1 GPU, cuda:0" : concat("are ", gpus, " GPUs, cuda:0 to cuda:", gpus - 1))};
}

}  // namespace brigade
