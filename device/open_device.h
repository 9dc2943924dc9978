#pragma once

// The device that a stage's `device:` names. Any thread.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <brigade/export.h>
#include <brigade/result.h>
#include "device/cuda_driver.h"
#include "device/device.h"

namespace brigade {

/// Which of `gpus` GPUs `wanted` means, of `auto`, `cpu`, `cuda`, `cuda:N`: none where that is the
/// CPU. Several replicas, and several processes of one machine (LOCAL_RANK), take turns.
BRIGADE_API Result<std::optional<int>> choose_gpu(std::string_view wanted, int replica,
                                                  int replicas, int gpus);

/// Why no GPU can be had by code that needs a driver of `driver_min`, as half a sentence.
BRIGADE_API std::string why_no_gpu(int driver_min, const std::string& library = kCudaLibrary);

/// Null: the CPU, which is `cpu`, and `auto` where no GPU can be had. Besides the above, `host` is
/// the device of host_device.h, with the options that BRIGADE_HOST_DEVICE has. `driver_min`: of the
/// toolkit that the caller's own kernels were compiled with.
BRIGADE_API Result<std::shared_ptr<Device>> open_device(std::string_view wanted, int replica = 0,
                                                        int replicas = 1,
                                                        int driver_min = kCudaDriverMin);

}  // namespace brigade
