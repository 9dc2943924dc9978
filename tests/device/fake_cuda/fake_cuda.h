#pragma once

// The driver of fake_cuda/libcuda.cpp, in this process. One at a time.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <brigade/text.h>
#include "device/cuda_device.h"

namespace brigade {

inline const std::string& fake_cuda_path() {
  const char* const folder = std::getenv("BRIGADE_FAKE_CUDA");  // of a build that was moved
  static const std::string path =
      concat(folder == nullptr ? BRIGADE_BINARY_DIR "/tests/fake_cuda" : folder, "/libcuda.so.1");
  return path;
}

inline Result<std::shared_ptr<const CudaDriver>> open_fake_cuda(const char* settings = "",
                                                                int driver_min = kCudaDriverMin) {
  setenv("FAKE_CUDA", settings, 1);
  return CudaDriver::open(driver_min, fake_cuda_path());
}

template <class Function>
Function* fake_cuda_function(const char* name) {
  void* const library = dlopen(fake_cuda_path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Calls of note, a line each.
inline std::string fake_cuda_log() { return fake_cuda_function<const char*()>("fake_cuda_log")(); }
/// How many things of the driver have not been given back.
inline long fake_cuda_left() { return fake_cuda_function<long()>("fake_cuda_left")(); }

}  // namespace brigade
