#pragma once

// The calls of NVIDIA's driver that kernels need, looked up in libcuda.so.1
// when the first one is launched: nothing is linked, and no CUDA header is
// needed. Tests replace them by their own functions. Any thread.

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace brigade::cuda {

/// As cuda.h declares them: a CUresult is an int, handles are pointers.
struct KernelDriver {
  int (*init)(unsigned flags) = nullptr;
  int (*library_load_data)(void** library, const void* image, void* jit_options, void** jit_values,
                           unsigned jit_count, void* options, void** values,
                           unsigned count) = nullptr;
  int (*library_get_kernel)(void** kernel, void* library, const char* name) = nullptr;
  int (*launch_kernel)(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       void* stream, void** arguments, void** extra) = nullptr;
  int (*get_error_string)(int status, const char** text) = nullptr;

  /// Fails where there is no driver, or an older one than CUDA 12.0's.
  static Result<KernelDriver> load();
};

/// The kernels of an image, which stays where it is. They are loaded once for all GPUs.
class Kernels {
 public:
  Kernels(const KernelDriver& driver, std::span<const std::byte> image)
      : driver_(driver), image_(image) {}

  struct Grid {
    unsigned x = 1;
    unsigned y = 1;
    unsigned threads = 1;  ///< of a block
  };
  /// Once; the first launch does it otherwise.
  Result<void> load();
  /// `arguments`: the address of each. In the calling thread's current context.
  Result<void> launch(const char* name, const Grid& grid, void** arguments, void* stream);

 private:
  Error failed(std::string_view what, int status) const;

  const KernelDriver driver_;
  const std::span<const std::byte> image_;
  std::mutex mutex_;
  void* library_ = nullptr;
};

}  // namespace brigade::cuda
