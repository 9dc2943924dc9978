// Memory that is made, exported, imported and mapped by descriptors: memfds here.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/device/fake_cuda/state.h"

using namespace fake_cuda;

namespace {

constexpr std::size_t kGranularity = 2 << 20;

/// The beginnings of CUmemAllocationProp and CUmemAccessDesc.
struct Memory {
  int type, handles, location_type, location;
};
struct Access {
  int location_type, location, flags;
};

}  // namespace

CALL Status cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  return run("cuMemGetAllocationGranularity", [&] {
    *bytes = kGranularity;
    return 0;
  });
}
CALL Status cuMemCreate(std::uint64_t* handle, std::size_t bytes, const Memory* memory,
                        unsigned long long) {
  return run("cuMemCreate", [&] {
    if (memory->type != 1 || memory->handles != 1 || memory->location_type != 1 ||
        bytes % kGranularity != 0)
      return kInvalidValue;
    if (bytes > static_cast<std::size_t>(state.settings["memory"])) return kOutOfMemory;
    const int fd = memfd_create("fake", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
    state.handles[*handle = ++state.last_handle] = fd;
    return 0;
  });
}
CALL Status cuMemRelease(std::uint64_t handle) {
  return run("cuMemRelease", [&] {
    const auto found = state.handles.find(handle);
    if (found == state.handles.end()) return kInvalidValue;
    close(found->second);
    state.handles.erase(found);
    return 0;
  });
}
CALL Status cuMemExportToShareableHandle(int* fd, std::uint64_t handle, int type,
                                         unsigned long long) {
  return run("cuMemExportToShareableHandle", [&] {
    if (type != 1 || !state.handles.contains(handle)) return kInvalidValue;
    *fd = fcntl(state.handles[handle], F_DUPFD_CLOEXEC, 0);
    return *fd < 0 ? kInvalidValue : 0;
  });
}
CALL Status cuMemImportFromShareableHandle(std::uint64_t* handle, void* descriptor, int type) {
  return run("cuMemImportFromShareableHandle", [&] {
    const int fd =
        fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), F_DUPFD_CLOEXEC, 0);
    if (type != 1 || fd < 0) return kInvalidValue;
    state.handles[*handle = ++state.last_handle] = fd;
    return 0;
  });
}
CALL Status cuMemAddressReserve(std::uint64_t* at, std::size_t bytes, std::size_t, std::uint64_t,
                                unsigned long long) {
  return run("cuMemAddressReserve", [&] {
    void* const place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED || bytes % kGranularity != 0) return kInvalidValue;
    *at = reinterpret_cast<std::uint64_t>(place);
    state.reserved[*at] = bytes;
    return 0;
  });
}
CALL Status cuMemAddressFree(std::uint64_t at, std::size_t bytes) {
  return run("cuMemAddressFree", [&] {
    if (state.reserved.erase(at) == 0 || state.allocated.contains(at)) return kInvalidValue;
    munmap(reinterpret_cast<void*>(at), bytes);
    return 0;
  });
}
CALL Status cuMemMap(std::uint64_t at, std::size_t bytes, std::size_t offset, std::uint64_t handle,
                     unsigned long long) {
  return run("cuMemMap", [&] {
    if (!state.handles.contains(handle) || !is_in_one(state.reserved, at, bytes, false))
      return kInvalidValue;
    if (mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
             state.handles[handle], static_cast<off_t>(offset)) == MAP_FAILED)
      return kInvalidValue;
    state.allocated[at] = bytes;
    return 0;
  });
}
CALL Status cuMemUnmap(std::uint64_t at, std::size_t bytes) {
  return run("cuMemUnmap", [&] {
    if (!state.reserved.contains(at) || state.allocated.erase(at) == 0) return kInvalidValue;
    mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
    return 0;
  });
}
CALL Status cuMemSetAccess(std::uint64_t at, std::size_t bytes, const Access* access, std::size_t) {
  const std::lock_guard lock(state.mutex);
  state.log << "access " << (access->flags == 1 ? "read-only" : "read-write") << '\n';
  if (access->flags == 1 && state.settings["read_only_refused"] != 0) return kNotSupported;
  if (const Status status = begin("cuMemSetAccess"); status != 0) return status;
  const int protection = access->flags == 1 ? PROT_READ : PROT_READ | PROT_WRITE;
  return mprotect(reinterpret_cast<void*>(at), bytes, protection) == 0 ? 0 : kInvalidValue;
}
