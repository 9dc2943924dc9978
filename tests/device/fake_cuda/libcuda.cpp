// A libcuda.so.1 without a GPU: the calls that device/cuda_driver.cpp looks up, with CUDA's rules
// as far as a caller can break them. Copies are done when an event behind them passes, and an event
// passes at the second look. What it is to be like is in FAKE_CUDA when cuInit() is called:
//
//   driver=13000 devices=2 memory=BYTES fail=CALL:STATUS[:N]    the Nth such call, from 0, and on
//   shares=0                                                    no memory by descriptors
//
// Calls that tests are about are written into a text, which fake_cuda_log() gives.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/fake_cuda/state.h"

using namespace fake_cuda;

namespace {

int the_context;

void configure() {
  state.settings = {{"driver", 13000}, {"devices", 1}, {"memory", 1 << 30}, {"shares", 1}};
  state.failing.clear();
  state.calls.clear();
  state.default_stream.told.clear();
  state.log.str("");
  const char* const asked = std::getenv("FAKE_CUDA");
  std::istringstream words(asked == nullptr ? "" : asked);
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    const std::string value = word.substr(word.find('=') + 1);
    if (name != "fail") {
      state.settings[name] = std::stol(value);
      continue;
    }
    std::istringstream parts(value);
    std::string with, from = "0";
    std::getline(parts, state.failing, ':');
    std::getline(parts, with, ':');
    std::getline(parts, from, ':');
    state.fails_with = std::stoi(with);
    state.fails_from = from.empty() ? 0 : std::stol(from);
  }
}

Stream* stream_of(void* stream) {
  if (stream == nullptr) return &state.default_stream;
  return state.streams.contains(stream) ? static_cast<Stream*>(stream) : nullptr;
}

Status copy(void* to, const void* from, std::size_t bytes, void* stream, const void* host,
            std::uint64_t device) {
  Stream* const on = stream_of(stream);
  if (on == nullptr) return kInvalidHandle;
  if (!is_in_one(state.allocated, device, bytes, false) ||
      !is_in_one(state.pinned, reinterpret_cast<std::uintptr_t>(host), bytes, true))
    return kInvalidValue;
  state.log << "copy " << bytes << '\n';
  on->told.push_back([=] { std::memcpy(to, from, bytes); });
  return 0;
}

void finish(const Event& event) {
  if (event.stream == nullptr) return;
  for (std::size_t i = 0; i < event.told; ++i)
    if (auto& work = event.stream->told[i]; work) std::exchange(work, nullptr)();
}

void write_text(const std::string& text, char* to, int bytes) {
  const std::size_t shown = std::min(text.size(), static_cast<std::size_t>(bytes) - 1);
  std::copy_n(text.begin(), shown, to);
  to[shown] = 0;
}

}  // namespace

CALL const char* fake_cuda_log() {
  const std::lock_guard lock(state.mutex);
  state.text = state.log.str();
  return state.text.c_str();
}
/// What is still there: contexts retained, device blocks, pinned blocks, handles of shared memory,
/// addresses reserved for it, streams, events.
CALL long fake_cuda_left() {
  const std::lock_guard lock(state.mutex);
  return state.retained +
         static_cast<long>(state.allocated.size() + state.pinned.size() + state.handles.size() +
                           state.reserved.size() + state.streams.size() + state.events.size());
}

CALL Status cuInit(unsigned) {
  const std::lock_guard lock(state.mutex);
  configure();
  if (state.settings["devices"] == 0) return 100;
  return begin("cuInit", false);
}
CALL Status cuDriverGetVersion(int* version) {
  *version = static_cast<int>(state.settings["driver"]);
  return 0;
}
CALL Status cuGetErrorName(Status status, const char** name) {
  static const std::map<Status, const char*> names{
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {304, "CUDA_ERROR_OPERATING_SYSTEM"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
      {801, "CUDA_ERROR_NOT_SUPPORTED"},
      {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {999, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(status);
  if (found == names.end()) return kInvalidValue;
  *name = found->second;
  return 0;
}
CALL Status cuDeviceGetCount(int* count) {
  *count = static_cast<int>(state.settings["devices"]);
  return 0;
}
CALL Status cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < state.settings["devices"] ? 0 : kInvalidDevice;
}
CALL Status cuDeviceGetName(char* name, int bytes, int) {
  write_text(state.settings["mig"] != 0 ? "Fake GPU MIG 1g.5gb" : "Fake GPU", name, bytes);
  return 0;
}
CALL Status cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;  // compute capability 9.0
  if (attribute == 99) *value = 1;   // registers memory of the host,
  if (attribute == 113) *value = !state.settings["read_only_refused"];  // also to be read only
  if (attribute == 133) {
    if (state.settings["driver"] < 12040) return kInvalidValue;  // which does not know it
    *value = state.settings["mps"];
  }
  if (attribute == 103) *value = state.settings["shares"];  // by POSIX descriptors
  return 0;
}
CALL Status cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = static_cast<std::size_t>(state.settings["memory"]);
  return 0;
}
CALL Status cuDeviceGetPCIBusId(char* text, int bytes, int) {
  write_text("0000:0A:00.0", text, bytes);
  return 0;
}
CALL Status cuDevicePrimaryCtxRetain(void** context, int) {
  return run(
      "cuDevicePrimaryCtxRetain",
      [&] {
        ++state.retained;
        *context = &the_context;
        return 0;
      },
      false);
}
CALL Status cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(state.mutex);
  --state.retained;
  return 0;
}
CALL Status cuCtxPushCurrent_v2(void* context) {
  if (context != &the_context) return kInvalidContext;
  contexts.push_back(context);
  return 0;
}
CALL Status cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
CALL Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = static_cast<std::size_t>(state.settings["memory"]);
  *free = *total / 2;
  return 0;
}
CALL Status cuMemAlloc_v2(std::uint64_t* at, std::size_t bytes) {
  return run("cuMemAlloc_v2", [&] {
    if (bytes > static_cast<std::size_t>(state.settings["memory"])) return kOutOfMemory;
    *at = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
    state.allocated[*at] = bytes;
    return 0;
  });
}
CALL Status cuMemFree_v2(std::uint64_t at) {
  return run("cuMemFree_v2", [&] {
    if (state.allocated.erase(at) == 0) return kInvalidValue;
    std::free(reinterpret_cast<void*>(at));
    return 0;
  });
}
CALL Status cuMemHostAlloc(void** at, std::size_t bytes, unsigned) {
  return run("cuMemHostAlloc", [&] {
    *at = std::malloc(bytes);
    state.pinned[reinterpret_cast<std::uintptr_t>(*at)] = bytes;
    return 0;
  });
}
CALL Status cuMemFreeHost(void* at) {
  return run("cuMemFreeHost", [&] {
    if (state.pinned.erase(reinterpret_cast<std::uintptr_t>(at)) == 0) return kInvalidValue;
    std::free(at);
    return 0;
  });
}
CALL Status cuMemHostRegister_v2(void* at, std::size_t bytes, unsigned flags) {
  const std::lock_guard lock(state.mutex);
  state.log << "register " << bytes << ((flags & 8) != 0 ? " read-only" : " read-write") << '\n';
  if ((flags & 8) != 0 && state.settings["read_only_refused"] != 0) return 801;
  if (const Status status = begin("cuMemHostRegister_v2"); status != 0) return status;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (!is_in_one(state.pinned, address, bytes, true) ||
      is_in_one(state.pinned, address, bytes, false))
    return kRegistered;
  state.pinned[address] = bytes;
  return 0;
}
CALL Status cuMemHostUnregister(void* at) {
  return run("cuMemHostUnregister", [&] {
    state.log << "unregister\n";
    return state.pinned.erase(reinterpret_cast<std::uintptr_t>(at)) == 0 ? kNotRegistered : 0;
  });
}
CALL Status cuStreamCreate(void** stream, unsigned flags) {
  return run("cuStreamCreate", [&] {
    if (flags != 1) return kInvalidValue;  // it would wait for the default stream
    state.streams.insert(*stream = new Stream);
    return 0;
  });
}
CALL Status cuStreamDestroy_v2(void* stream) {
  return run("cuStreamDestroy_v2", [&] {
    if (state.streams.erase(stream) == 0) return kInvalidHandle;
    delete static_cast<Stream*>(stream);
    return 0;
  });
}
CALL Status cuEventCreate(void** event, unsigned flags) {
  return run("cuEventCreate", [&] {
    if ((flags & 2) == 0) return kInvalidValue;  // timing makes queries slow
    state.events.insert(*event = new Event);
    return 0;
  });
}
CALL Status cuEventDestroy_v2(void* event) {
  return run("cuEventDestroy_v2", [&] {
    if (state.events.erase(event) == 0) return kInvalidHandle;
    delete static_cast<Event*>(event);
    return 0;
  });
}
CALL Status cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes,
                                 void* stream) {
  return run("cuMemcpyHtoDAsync_v2",
             [&] { return copy(reinterpret_cast<void*>(to), from, bytes, stream, from, to); });
}
CALL Status cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  return run("cuMemcpyDtoHAsync_v2",
             [&] { return copy(to, reinterpret_cast<void*>(from), bytes, stream, to, from); });
}
CALL Status cuEventRecord(void* event, void* stream) {
  return run("cuEventRecord", [&] {
    Stream* const on = stream_of(stream);
    if (on == nullptr || !state.events.contains(event)) return kInvalidHandle;
    *static_cast<Event*>(event) = {on, on->told.size(), 0};
    return 0;
  });
}
CALL Status cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return run("cuStreamWaitEvent", [&] {
    if (stream_of(stream) == nullptr || !state.events.contains(event)) return kInvalidHandle;
    state.log << "wait for event\n";
    const Event of = *static_cast<Event*>(event);
    stream_of(stream)->told.push_back([of] { finish(of); });
    return 0;
  });
}
CALL Status cuEventQuery(void* event) {
  return run("cuEventQuery", [&] {
    if (!state.events.contains(event)) return kInvalidHandle;
    auto& of = *static_cast<Event*>(event);
    if (of.stream == nullptr) return 0;
    if (++of.looks < 2) return kNotReady;
    finish(of);
    of.stream = nullptr;
    return 0;
  });
}
CALL Status cuEventSynchronize(void* event) {
  return run("cuEventSynchronize", [&] {
    if (!state.events.contains(event)) return kInvalidHandle;
    auto& of = *static_cast<Event*>(event);
    finish(of);
    of.stream = nullptr;
    return 0;
  });
}
