#include "device/cuda_driver.h"

#include <dlfcn.h>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kWithout = "; write `device: auto` to use the CPU without a GPU";

template <class Function>
bool find(void* library, const char* name, Function& out, std::string& missing) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (out == nullptr && missing.empty()) missing = name;
  return out != nullptr;
}

/// The name of the first call that is missing; empty: all are there.
std::string find_calls(void* library, CudaCalls& out) {
  std::string missing;
  find(library, "cuInit", out.init, missing);
  find(library, "cuDriverGetVersion", out.driver_version, missing);
  find(library, "cuGetErrorName", out.error_name, missing);
  find(library, "cuDeviceGetCount", out.device_count, missing);
  find(library, "cuDeviceGet", out.device, missing);
  find(library, "cuDeviceGetName", out.device_name, missing);
  find(library, "cuDeviceGetAttribute", out.device_attribute, missing);
  find(library, "cuDeviceTotalMem_v2", out.device_memory, missing);
  find(library, "cuDeviceGetPCIBusId", out.pci_bus_id, missing);
  find(library, "cuDevicePrimaryCtxRetain", out.retain_context, missing);
  find(library, "cuDevicePrimaryCtxRelease_v2", out.release_context, missing);
  find(library, "cuCtxPushCurrent_v2", out.push_context, missing);
  find(library, "cuCtxPopCurrent_v2", out.pop_context, missing);
  find(library, "cuMemGetInfo_v2", out.memory_info, missing);
  find(library, "cuMemAlloc_v2", out.allocate, missing);
  find(library, "cuMemFree_v2", out.free, missing);
  find(library, "cuMemGetAllocationGranularity", out.granularity, missing);
  find(library, "cuMemCreate", out.create_memory, missing);
  find(library, "cuMemRelease", out.release_memory, missing);
  find(library, "cuMemExportToShareableHandle", out.export_memory, missing);
  find(library, "cuMemImportFromShareableHandle", out.import_memory, missing);
  find(library, "cuMemAddressReserve", out.reserve_addresses, missing);
  find(library, "cuMemAddressFree", out.free_addresses, missing);
  find(library, "cuMemMap", out.map_memory, missing);
  find(library, "cuMemUnmap", out.unmap_memory, missing);
  find(library, "cuMemSetAccess", out.set_access, missing);
  find(library, "cuMemHostAlloc", out.allocate_host, missing);
  find(library, "cuMemFreeHost", out.free_host, missing);
  find(library, "cuMemHostRegister_v2", out.register_host, missing);
  find(library, "cuMemHostUnregister", out.unregister_host, missing);
  find(library, "cuStreamCreate", out.create_stream, missing);
  find(library, "cuStreamDestroy_v2", out.destroy_stream, missing);
  find(library, "cuEventCreate", out.create_event, missing);
  find(library, "cuEventDestroy_v2", out.destroy_event, missing);
  find(library, "cuMemcpyHtoDAsync_v2", out.copy_to_device, missing);
  find(library, "cuMemcpyDtoHAsync_v2", out.copy_to_host, missing);
  find(library, "cuEventRecord", out.record, missing);
  find(library, "cuStreamWaitEvent", out.stream_wait, missing);
  find(library, "cuEventQuery", out.event_query, missing);
  find(library, "cuEventSynchronize", out.event_wait, missing);
  return missing;
}

}  // namespace

std::string cuda_version_text(int version) {
  return concat(version / 1000, '.', version % 1000 / 10);
}

Result<std::shared_ptr<const CudaDriver>> CudaDriver::open(int driver_min,
                                                           const std::string& path) {
  const std::shared_ptr<CudaDriver> driver(new CudaDriver);
  BRIGADE_TRY(driver->load(path));
  BRIGADE_TRY(driver->begin(driver_min));
  return std::shared_ptr<const CudaDriver>(driver);
}

Result<void> CudaDriver::load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error{concat(kNoCudaDriver, ": ", dlerror(),
                        "; install it (`nvidia-smi` must list the GPUs)", kWithout)};
  const std::string missing = find_calls(library, calls_);
  if (missing.empty()) return {};
  return Error{concat("the NVIDIA driver ", path, " lacks ", missing,
                      ": it is too old; install the driver of CUDA ",
                      cuda_version_text(kCudaDriverMin), " or later")};
}

Result<void> CudaDriver::begin(int driver_min) {
  const CudaStatus begun = calls_.init(0);
  if (begun == cuda_status::kNoDevice) return {};
  if (begun == cuda_status::kDriverMismatch)
    return Error{
        concat("the NVIDIA driver does not start: ", name_of(begun), ": the kernel module and ",
               kCudaLibrary, " have different versions",
               "; restart the machine, or run the container on a host with the same version")};
  if (begun != cuda_status::kSuccess)
    return Error{concat("the NVIDIA driver does not start: ", name_of(begun),
                        "; check `nvidia-smi` and `dmesg`", kWithout)};
  if (calls_.driver_version(&version_) != cuda_status::kSuccess || version_ < driver_min)
    return Error{concat("the NVIDIA driver supports CUDA ", cuda_version_text(version_),
                        ", expected CUDA ", cuda_version_text(driver_min),
                        " or later; install a newer driver (`nvidia-smi` shows its version)")};
  if (calls_.device_count(&devices_) != cuda_status::kSuccess) devices_ = 0;
  return {};
}

std::string CudaDriver::name_of(CudaStatus status) const {
  const char* name = nullptr;
  if (calls_.error_name(status, &name) == cuda_status::kSuccess && name != nullptr) return name;
  return concat("CUDA error ", status);
}

}  // namespace brigade
