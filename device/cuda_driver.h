#pragma once

// NVIDIA's driver, libcuda.so.1, opened at run time: it comes with the GPU, so Brigade
// does not link it, and compiles without NVIDIA's headers. This file declares the
// functions in use; names, values and order of arguments are those of NVIDIA's `cuda.h`.
//
// Any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

inline constexpr const char* kCudaLibrary = "libcuda.so.1";
/// What the error begins with where there is none.
inline constexpr const char* kNoCudaDriver = "no NVIDIA driver found";
/// The oldest driver whose calls these are, as cuDriverGetVersion() has it: that of CUDA 11.4.
inline constexpr int kCudaDriverMin = 11040;

/// A CUresult.
using CudaStatus = int;

struct CudaLocation {
  int type;  ///< 1: a device
  int id;
};
/// Of what cuMemCreate() is to make.
struct CudaMemory {
  int type;     ///< 1: pinned
  int handles;  ///< 1: POSIX descriptors
  CudaLocation location;
  void* reserved_of_windows;
  unsigned char flags[8];
};
struct CudaAccess {
  CudaLocation location;
  int flags;  ///< 1: reading; 3: writing, too
};

struct CudaCalls {
  CudaStatus (*init)(unsigned flags);
  CudaStatus (*driver_version)(int* version);
  CudaStatus (*error_name)(CudaStatus status, const char** name);
  CudaStatus (*device_count)(int* count);
  CudaStatus (*device)(int* device, int ordinal);
  CudaStatus (*device_name)(char* name, int bytes, int device);
  CudaStatus (*device_attribute)(int* value, int attribute, int device);
  CudaStatus (*device_memory)(std::size_t* bytes, int device);
  CudaStatus (*pci_bus_id)(char* text, int bytes, int device);
  CudaStatus (*retain_context)(void** context, int device);
  CudaStatus (*release_context)(int device);
  CudaStatus (*push_context)(void* context);
  CudaStatus (*pop_context)(void** context);
  CudaStatus (*memory_info)(std::size_t* free, std::size_t* total);
  CudaStatus (*allocate)(std::uint64_t* at, std::size_t bytes);
  CudaStatus (*free)(std::uint64_t at);
  CudaStatus (*granularity)(std::size_t* bytes, const CudaMemory* memory, int option);
  CudaStatus (*create_memory)(std::uint64_t* handle, std::size_t bytes, const CudaMemory* memory,
                              unsigned long long flags);
  CudaStatus (*release_memory)(std::uint64_t handle);
  CudaStatus (*export_memory)(void* fd, std::uint64_t handle, int type, unsigned long long flags);
  CudaStatus (*import_memory)(std::uint64_t* handle, void* fd, int type);
  CudaStatus (*reserve_addresses)(std::uint64_t* at, std::size_t bytes, std::size_t alignment,
                                  std::uint64_t wanted, unsigned long long flags);
  CudaStatus (*free_addresses)(std::uint64_t at, std::size_t bytes);
  CudaStatus (*map_memory)(std::uint64_t at, std::size_t bytes, std::size_t offset,
                           std::uint64_t handle, unsigned long long flags);
  CudaStatus (*unmap_memory)(std::uint64_t at, std::size_t bytes);
  CudaStatus (*set_access)(std::uint64_t at, std::size_t bytes, const CudaAccess* access,
                           std::size_t count);
  CudaStatus (*allocate_host)(void** at, std::size_t bytes, unsigned flags);
  CudaStatus (*free_host)(void* at);
  CudaStatus (*register_host)(void* at, std::size_t bytes, unsigned flags);
  CudaStatus (*unregister_host)(void* at);
  CudaStatus (*create_stream)(void** stream, unsigned flags);
  CudaStatus (*destroy_stream)(void* stream);
  CudaStatus (*create_event)(void** event, unsigned flags);
  CudaStatus (*destroy_event)(void* event);
  CudaStatus (*copy_to_device)(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
  CudaStatus (*copy_to_host)(void* to, std::uint64_t from, std::size_t bytes, void* stream);
  CudaStatus (*record)(void* event, void* stream);
  CudaStatus (*stream_wait)(void* stream, void* event, unsigned flags);
  CudaStatus (*event_query)(void* event);
  CudaStatus (*event_wait)(void* event);
};

namespace cuda_status {
inline constexpr CudaStatus kSuccess = 0;
inline constexpr CudaStatus kOutOfMemory = 2;
inline constexpr CudaStatus kUnavailable = 46;
inline constexpr CudaStatus kNoDevice = 100;
inline constexpr CudaStatus kNotReady = 600;
inline constexpr CudaStatus kDriverMismatch = 803;
}  // namespace cuda_status

/// The driver, begun. It is never closed: threads of its own run in it.
class BRIGADE_API CudaDriver {
 public:
  /// `path`: as dlopen() takes it. An error: there is none, it does not begin, or it is older than
  /// `driver_min`. Without GPUs it is there and has none.
  static Result<std::shared_ptr<const CudaDriver>> open(int driver_min = kCudaDriverMin,
                                                        const std::string& path = kCudaLibrary);

  const CudaCalls& calls() const { return calls_; }
  int version() const { return version_; }  ///< 13000 is CUDA 13.0's
  int devices() const { return devices_; }  ///< CUDA_VISIBLE_DEVICES is heeded
  /// "CUDA_ERROR_OUT_OF_MEMORY".
  std::string name_of(CudaStatus status) const;

 private:
  CudaDriver() = default;
  Result<void> load(const std::string& path);
  Result<void> begin(int driver_min);

  CudaCalls calls_{};
  int version_ = 0;
  int devices_ = 0;
};

/// 13000 as "13.0".
std::string cuda_version_text(int version);

}  // namespace brigade
