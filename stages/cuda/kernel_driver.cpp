#include "stages/cuda/kernel_driver.h"

#include <dlfcn.h>

#include <brigade/text.h>

namespace brigade::cuda {
namespace {

template <class Call>
bool look_up(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, name));
  return call != nullptr;
}

}  // namespace

Result<KernelDriver> KernelDriver::load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error{
        "the kernels need the NVIDIA driver, but libcuda.so.1 was not found; install the driver"};
  KernelDriver driver;
  if (!look_up(library, "cuInit", driver.init) ||
      !look_up(library, "cuLibraryLoadData", driver.library_load_data) ||
      !look_up(library, "cuLibraryGetKernel", driver.library_get_kernel) ||
      !look_up(library, "cuLaunchKernel", driver.launch_kernel) ||
      !look_up(library, "cuGetErrorString", driver.get_error_string))
    return Error{
        "the kernels need the NVIDIA driver for CUDA 12.0 or later; update the driver "
        "(`nvidia-smi` shows its version)"};
  if (const int status = driver.init(0); status != 0) {
    const char* text = nullptr;
    driver.get_error_string(status, &text);
    return Error{concat("the NVIDIA driver does not start: ", text ? text : "unknown error", " (",
                        status, "); see nvidia-smi")};
  }
  return driver;
}

Error Kernels::failed(std::string_view what, int status) const {
  const char* text = nullptr;
  driver_.get_error_string(status, &text);
  return Error{concat(what, ": ", text ? text : "unknown error", " (CUDA error ", status, ")")};
}

Result<void> Kernels::load() {
  const std::lock_guard lock(mutex_);
  if (library_ != nullptr) return {};
  const int status =
      driver_.library_load_data(&library_, image_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (status == 0) return {};
  library_ = nullptr;
  return failed("the NVIDIA driver cannot load the kernels", status);
}

Result<void> Kernels::launch(const char* name, const Grid& grid, void** arguments, void* stream) {
  BRIGADE_TRY(load());
  void* kernel = nullptr;
  if (const int status = driver_.library_get_kernel(&kernel, library_, name); status != 0)
    return failed(concat("cannot find the kernel ", name), status);
  const int status = driver_.launch_kernel(kernel, grid.x, grid.y, 1, grid.threads, 1, 1, 0, stream,
                                           arguments, nullptr);
  return status == 0 ? Result<void>() : failed(concat("kernel ", name), status);
}

}  // namespace brigade::cuda
