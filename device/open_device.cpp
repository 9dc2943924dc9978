#include "device/open_device.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <brigade/text.h>
#include "device/cuda_device.h"
#include "device/host_device.h"

namespace brigade {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Below 0: no number.
int number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

constexpr const char* kNoneVisible = "no visible GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES";

}  // namespace

std::string why_no_gpu(int driver_min, const std::string& library) {
  const auto driver = CudaDriver::open(driver_min, library);
  return driver ? kNoneVisible : driver.error().message;
}

Result<std::optional<int>> choose_gpu(std::string_view wanted, int replica, int replicas,
                                      int gpus) {
  if (wanted == "cpu" || (wanted == "auto" && gpus == 0)) return std::optional<int>();
  if (wanted == "auto" || wanted == "cuda") {
    if (gpus == 0)
      return Error{concat("device ", wanted, ": ", kNoneVisible,
                          "; write device: auto to use the CPU without a GPU")};
    const int local_rank = std::max(0, number(variable("LOCAL_RANK")));
    return std::optional((local_rank * replicas + replica) % gpus);
  }
  const auto index = strip_prefix(wanted, "cuda:");
  if (!index || number(*index) < 0)
    return Error{concat("device ", wanted, ": expected auto, cpu, cuda or cuda:N")};
  return std::optional(number(*index));
}

Result<std::shared_ptr<Device>> open_device(std::string_view wanted, int replica, int replicas,
                                            int driver_min) {
  if (wanted == "host") {
    BRIGADE_ASSIGN(const HostDeviceOptions options,
                   HostDeviceOptions::parse(variable(kHostDeviceVariable)));
    return std::shared_ptr<Device>(HostDevice::create(options));
  }
  if (wanted == "cpu") return std::shared_ptr<Device>();
  const auto driver = CudaDriver::open(driver_min);
  if (!driver && wanted == "auto") return std::shared_ptr<Device>();
  if (!driver) return driver.error().within(concat("device ", wanted));
  BRIGADE_ASSIGN(const std::optional<int> index,
                 choose_gpu(wanted, replica, replicas, (*driver)->devices()));
  if (!index) return std::shared_ptr<Device>();
  BRIGADE_ASSIGN(std::shared_ptr<CudaDevice> device, CudaDevice::open(*driver, *index));
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace brigade
