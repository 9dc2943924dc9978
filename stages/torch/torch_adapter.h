#pragma once

// What differs between the LibTorch versions this package builds with (Debian's 1.13 to 2.11), and
// the few bridges between its types and ours. Everything else in the package uses only calls that
// are the same in all of them. Its exceptions end here: guarded() makes an Error of them.

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/utils.h>

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
#include <brigade/torch.h>

namespace brigade {

/// Calls fn() -> Result<T>; an exception becomes its error, on one line and without LibTorch's
/// stack trace.
template <class Fn>
auto torch_guarded(Fn fn) -> decltype(fn()) {
  const auto first_line = [](std::string_view text) { return std::string(split(text, '\n')[0]); };
  try {
    return fn();
  } catch (const c10::Error& error) {
    return Error{concat("LibTorch: ", first_line(error.what_without_backtrace()))};
  } catch (const std::exception& error) {
    return Error{concat("LibTorch: ", first_line(error.what()))};
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
    return Error{concat("LibTorch needs ", std::thread::hardware_concurrency(), " threads, but ",
                        threads.size(), " could be started: ", error.what(),
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

/// `auto`: a GPU when there is one. Several replicas and processes of one machine take turns.
inline Result<at::Device> choose_device(const std::string& wanted, int replica, int replicas) {
  const auto gpus = static_cast<int>(torch::cuda::is_available() ? torch::cuda::device_count() : 0);
  if (wanted == "cpu" || (wanted == "auto" && gpus == 0)) return at::Device(at::kCPU);
  const bool any = wanted == "auto" || wanted == "cuda";
  if (!any && !wanted.starts_with("cuda:"))
    return Error{concat("device ", wanted, ": LibTorch here knows auto, cpu, cuda and cuda:N")};
  if (gpus == 0)
    return Error{concat("device ", wanted, ": ",
                        at::detail::getCUDAHooks().hasCUDART()  // hasCUDA(): and has a GPU
                            ? "no GPU is visible (see nvidia-smi and CUDA_VISIBLE_DEVICES)"
                            : "this LibTorch was built without CUDA",
                        "; device: auto takes the CPU instead")};
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
  return Error{concat("device ", wanted, ": there are ", gpus, " GPUs, cuda:0 to cuda:", gpus - 1)};
}

}  // namespace brigade
