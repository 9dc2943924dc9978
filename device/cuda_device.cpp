#include "device/cuda_device.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/units.h"

namespace brigade {
namespace {

// Of cuda.h.
constexpr unsigned kPortable = 1;           // CU_MEMHOST{ALLOC,REGISTER}_PORTABLE
constexpr unsigned kRegisterReadOnly = 8;   // CU_MEMHOSTREGISTER_READ_ONLY
constexpr unsigned kStreamNonBlocking = 1;  // it does not wait for the default stream
constexpr unsigned kEventBlockingWait = 1;  // who waits sleeps
constexpr unsigned kEventNoTiming = 2;
constexpr int kSharesMemory =
    103;                        // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
constexpr int kDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int kRead = 1, kReadWrite = 3;  // CU_MEM_ACCESS_FLAGS_PROT_*
/// What a context does not survive: DEVICE_UNAVAILABLE, ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE,
/// CONTAINED, ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, CONTEXT_IS_DESTROYED, ASSERT, HARDWARE_STACK_ERROR,
/// ILLEGAL_INSTRUCTION, MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE, INVALID_PC, LAUNCH_FAILED,
/// TENSOR_MEMORY_LEAK, MPS_CLIENT_TERMINATED, EXTERNAL_DEVICE, UNKNOWN.
constexpr std::array kFatal = {46,  214, 220, 226, 700, 702, 709, 710, 714,
                               715, 716, 717, 718, 719, 721, 810, 911, 999};

/// How much memory this process may lock, as a text that begins behind a bracket.
std::string locked_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_size(limit.rlim_cur);
}

}  // namespace

/// The thread's current context is this device's while it lives.
class CudaDevice::Current {
 public:
  explicit Current(CudaDevice& device)
      : calls_(device.calls()), status(calls_.push_context(device.context_)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    void* popped = nullptr;
    if (status == cuda_status::kSuccess) calls_.pop_context(&popped);
  }

 private:
  const CudaCalls& calls_;

 public:
  const CudaStatus status;
};

Result<std::shared_ptr<CudaDevice>> CudaDevice::open(std::shared_ptr<const CudaDriver> driver,
                                                     int index) {
  const int devices = driver->devices();
  if (devices == 0)
    return Error{concat("device cuda:", index,
                        ": no visible GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES")};
  if (index < 0 || index >= devices)
    return Error{concat("device cuda:", index, ": there ", devices == 1 ? "is 1 GPU" : "are ",
                        devices == 1 ? "" : concat(devices, " GPUs"), ", cuda:0",
                        devices == 1 ? "" : concat(" to cuda:", devices - 1))};
  const std::shared_ptr<CudaDevice> device(new CudaDevice(std::move(driver), index));
  const CudaCalls& calls = device->calls();
  BRIGADE_TRY(device->settle(calls.device(&device->device_, index), "cuDeviceGet"));
  void* context = nullptr;
  const CudaStatus begun = calls.retain_context(&context, device->device_);
  if (begun == cuda_status::kUnavailable || begun == cuda_status::kOutOfMemory)
    return device->cannot_begin(begun);
  BRIGADE_TRY(device->settle(begun, "cuDevicePrimaryCtxRetain"));
  device->context_ = context;
  return device;
}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr && !in_child()) calls().release_context(device_);
}

std::string CudaDevice::name() const { return concat("cuda:", index_); }

/// A context that has met a fault says so to every call: it is lost by the first of these.
Result<void> CudaDevice::check() {
  if (const Result<DeviceEvent> event = create_event()) {
    static_cast<void>(record(*event, nullptr));
    static_cast<void>(passed(*event));
    destroy_event(*event);
  }
  const std::lock_guard lock(mutex_);
  return lost_.empty() ? Result<void>() : Error{lost_, Refusal::lost};
}

template <class Call>
CudaStatus CudaDevice::call(Call&& call) {
  const Current current(*this);
  return current.status == cuda_status::kSuccess ? call() : current.status;
}

Result<void> CudaDevice::settle(CudaStatus status, const char* what) {
  if (status == cuda_status::kSuccess) return {};
  const std::lock_guard lock(mutex_);
  const bool fatal = std::find(kFatal.begin(), kFatal.end(), status) != kFatal.end();
  if (fatal && lost_.empty())
    lost_ = concat("device ", name(), " is lost: ", what, " returned ", driver_->name_of(status),
                   "; look for the cause in the kernel log (`dmesg | grep Xid`)");
  if (!lost_.empty()) return Error{lost_, Refusal::lost};
  return Error{concat("device ", name(), ": ", what, " returned ", driver_->name_of(status))};
}

/// What of others is in the way: the device is not lost.
Error CudaDevice::cannot_begin(CudaStatus status) const {
  return {concat(
      "device ", name(), ": cuDevicePrimaryCtxRetain returned ", driver_->name_of(status),
      status == cuda_status::kOutOfMemory ? "; `nvidia-smi` shows which processes use its memory"
                                          : "; another process may use it exclusively (`nvidia-smi "
                                            "-q -d COMPUTE` shows the compute mode)")};
}

Error CudaDevice::no_memory(std::uint64_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  const CudaStatus known = call([&] { return calls().memory_info(&free, &total); });
  return {concat(
      "device ", name(), " is out of memory: ", format_size(bytes), " requested",
      known == cuda_status::kSuccess
          ? concat(", ", format_size(free), " of ", format_size(total), " free")
          : "",
      "; use a smaller batch or `prefetch`; `nvidia-smi` shows which processes use its memory")};
}

Result<DeviceAddress> CudaDevice::allocate(std::uint64_t bytes) {
  std::uint64_t at = 0;
  const CudaStatus status = call([&] { return calls().allocate(&at, bytes); });
  if (status == cuda_status::kOutOfMemory) return no_memory(bytes);
  BRIGADE_TRY(settle(status, "cuMemAlloc"));
  return DeviceAddress{at};
}

void CudaDevice::free(DeviceAddress at) {
  call([&] { return calls().free(static_cast<std::uint64_t>(at)); });
}

CudaMemory CudaDevice::memory_kind() const { return {1, kDescriptor, {1, device_}, nullptr, {}}; }

/// What the driver makes of them: whole pieces of 2 MiB, as a rule.
Result<std::uint64_t> CudaDevice::shared_bytes(std::uint64_t bytes) {
  int shares = 0;
  BRIGADE_TRY(
      settle(calls().device_attribute(&shares, kSharesMemory, device_), "cuDeviceGetAttribute"));
  if (shares == 0)
    return Error{concat("device ", name(), ": it cannot share memory between processes by ",
                        "descriptors; omit `memory: device`")};
  std::size_t piece = 0;
  const CudaMemory kind = memory_kind();
  BRIGADE_TRY(settle(call([&] { return calls().granularity(&piece, &kind, 0); }),
                     "cuMemGetAllocationGranularity"));
  return round_up(bytes, piece);
}

Result<OwnedFd> CudaDevice::make_shared(std::uint64_t bytes) {
  BRIGADE_ASSIGN(const std::uint64_t whole, shared_bytes(bytes));
  const CudaMemory kind = memory_kind();
  std::uint64_t handle = 0;
  const CudaStatus made = call([&] { return calls().create_memory(&handle, whole, &kind, 0); });
  if (made == cuda_status::kOutOfMemory) return no_memory(whole);
  BRIGADE_TRY(settle(made, "cuMemCreate"));
  int fd = -1;
  const CudaStatus told = call([&] { return calls().export_memory(&fd, handle, kDescriptor, 0); });
  call([&] { return calls().release_memory(handle); });  // the descriptor keeps it
  BRIGADE_TRY(settle(told, "cuMemExportToShareableHandle"));
  return OwnedFd(fd);
}

Result<DeviceAddress> CudaDevice::map_shared(int fd, std::uint64_t bytes, HostAccess access) {
  BRIGADE_ASSIGN(const std::uint64_t whole, shared_bytes(bytes));
  std::uint64_t handle = 0;
  std::uint64_t at = 0;
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  BRIGADE_TRY(settle(call([&] { return calls().import_memory(&handle, descriptor, kDescriptor); }),
                     "cuMemImportFromShareableHandle"));
  Result<void> done = settle(call([&] { return calls().reserve_addresses(&at, whole, 0, 0, 0); }),
                             "cuMemAddressReserve");
  const bool reserved = done.ok();
  if (done)
    done = settle(call([&] { return calls().map_memory(at, whole, 0, handle, 0); }), "cuMemMap");
  const bool mapped = done.ok();
  call([&] { return calls().release_memory(handle); });  // the mapping keeps it
  if (done) done = give_access(at, whole, access);
  if (!done && mapped) call([&] { return calls().unmap_memory(at, whole); });
  if (!done && reserved) call([&] { return calls().free_addresses(at, whole); });
  if (!done) return done.error();
  const std::lock_guard lock(mutex_);
  mapped_[at] = whole;
  return DeviceAddress{at};
}

/// Where a driver cannot map to be read only, it maps to be written, too.
Result<void> CudaDevice::give_access(std::uint64_t at, std::uint64_t bytes, HostAccess access) {
  const auto give = [&](int flags) {
    const CudaAccess to{{1, device_}, flags};
    return call([&] { return calls().set_access(at, bytes, &to, 1); });
  };
  if (access == HostAccess::read_only && give(kRead) == cuda_status::kSuccess) return {};
  return settle(give(kReadWrite), "cuMemSetAccess");
}

void CudaDevice::unmap_shared(DeviceAddress shared) {
  const auto at = static_cast<std::uint64_t>(shared);
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    bytes = std::exchange(mapped_[at], 0);
    mapped_.erase(at);
  }
  call([&] { return calls().unmap_memory(at, bytes); });
  call([&] { return calls().free_addresses(at, bytes); });
}

Result<std::byte*> CudaDevice::allocate_pinned(std::uint64_t bytes) {
  void* at = nullptr;
  const CudaStatus status = call([&] { return calls().allocate_host(&at, bytes, kPortable); });
  if (status == cuda_status::kOutOfMemory)
    return Error{concat("device ", name(), ": cannot allocate ", format_size(bytes),
                        " of pinned memory; this process may lock ", locked_limit(),
                        " (`ulimit -l`)")};
  BRIGADE_TRY(settle(status, "cuMemHostAlloc"));
  return static_cast<std::byte*>(at);
}

void CudaDevice::free_pinned(std::byte* at) {
  call([&] { return calls().free_host(at); });
}

Result<std::byte*> CudaDevice::register_host(std::byte* at, std::uint64_t bytes,
                                             HostAccess access) {
  const unsigned flags = kPortable | (access == HostAccess::read_only ? kRegisterReadOnly : 0);
  const CudaStatus status = call([&] { return calls().register_host(at, bytes, flags); });
  if (status == cuda_status::kSuccess) return at;
  const Result<void> settled = settle(status, "cuMemHostRegister");
  return Error{concat(settled.error().message, " when pinning ", format_size(bytes),
                      "; this process may lock ", locked_limit(), " (`ulimit -l`)")};
}

void CudaDevice::unregister_host(std::byte* at) {
  call([&] { return calls().unregister_host(at); });
}

Result<DeviceStream> CudaDevice::create_stream() {
  void* stream = nullptr;
  BRIGADE_TRY(settle(call([&] { return calls().create_stream(&stream, kStreamNonBlocking); }),
                     "cuStreamCreate"));
  return stream;
}

void CudaDevice::destroy_stream(DeviceStream stream) {
  call([&] { return calls().destroy_stream(stream); });
}

Result<DeviceEvent> CudaDevice::create_event() {
  void* event = nullptr;
  const unsigned flags = kEventBlockingWait | kEventNoTiming;
  BRIGADE_TRY(settle(call([&] { return calls().create_event(&event, flags); }), "cuEventCreate"));
  return event;
}

void CudaDevice::destroy_event(DeviceEvent event) {
  call([&] { return calls().destroy_event(event); });
}

Result<void> CudaDevice::copy_to_device(DeviceAddress to, const std::byte* from,
                                        std::uint64_t bytes, DeviceStream stream) {
  return settle(call([&] {
                  return calls().copy_to_device(static_cast<std::uint64_t>(to), from, bytes,
                                                stream);
                }),
                "cuMemcpyHtoDAsync");
}

Result<void> CudaDevice::copy_to_host(std::byte* to, DeviceAddress from, std::uint64_t bytes,
                                      DeviceStream stream) {
  return settle(call([&] {
                  return calls().copy_to_host(to, static_cast<std::uint64_t>(from), bytes, stream);
                }),
                "cuMemcpyDtoHAsync");
}

Result<void> CudaDevice::compute(DeviceWork work, DeviceStream stream) {
  const Current current(*this);
  BRIGADE_TRY(settle(current.status, "cuCtxPushCurrent"));
  const Result<void> launched = work.launch(stream);
  if (!launched) BRIGADE_TRY(check());
  return launched;
}

Result<void> CudaDevice::record(DeviceEvent event, DeviceStream stream) {
  return settle(call([&] { return calls().record(event, stream); }), "cuEventRecord");
}

Result<void> CudaDevice::make_wait(DeviceStream stream, DeviceEvent event) {
  return settle(call([&] { return calls().stream_wait(stream, event, 0); }), "cuStreamWaitEvent");
}

Result<bool> CudaDevice::passed(DeviceEvent event) {
  const CudaStatus status = call([&] { return calls().event_query(event); });
  if (status == cuda_status::kNotReady) return false;
  BRIGADE_TRY(settle(status, "cuEventQuery"));
  return true;
}

Result<void> CudaDevice::wait(DeviceEvent event) {
  return settle(call([&] { return calls().event_wait(event); }), "cuEventSynchronize");
}

}  // namespace brigade
