#pragma once

// What the calls of the driver without a GPU work on: what they have given out, and what FAKE_CUDA
// asks for. Of the module alone.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#define CALL extern "C" __attribute__((visibility("default")))

namespace fake_cuda {

using Status = int;
constexpr Status kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kInvalidContext = 201,
                 kInvalidHandle = 400, kNotReady = 600, kRegistered = 712, kNotRegistered = 713,
                 kNotSupported = 801;
struct Event;
struct Stream {
  std::vector<std::function<void()>> told;
};
struct Event {
  Stream* stream = nullptr;
  std::size_t told = 0;  // that are before it
  int looks = 0;
};
struct State {
  std::mutex mutex;
  std::map<std::string, long> settings;
  std::string failing;
  Status fails_with = 0;
  long fails_from = 0;
  std::map<std::string, long> calls;
  std::ostringstream log;
  std::map<std::uintptr_t, std::size_t> allocated, pinned;  // what is mapped is allocated
  std::map<std::uint64_t, int> handles;                     // descriptors
  std::map<std::uintptr_t, std::size_t> reserved;
  std::set<void*> streams, events;
  Stream default_stream;
  std::uint64_t last_handle = 0;
  long retained = 0;
  std::string text;
};
inline State state;
inline thread_local std::vector<void*> contexts;

/// Before each call, under the mutex.
inline Status begin(const char* call, bool needs_context = true) {
  const long number = state.calls[call]++;
  if (call == state.failing && number >= state.fails_from) return state.fails_with;
  return needs_context && contexts.empty() ? kInvalidContext : 0;
}

template <class Call>
Status run(const char* name, Call call, bool needs_context = true) {
  const std::lock_guard lock(state.mutex);
  const Status status = begin(name, needs_context);
  return status == 0 ? call() : status;
}

/// The whole of a range must be in one block, or none of it: so CUDA has it for pinned memory.
inline bool is_in_one(const std::map<std::uintptr_t, std::size_t>& blocks, std::uintptr_t at,
                      std::size_t bytes, bool or_none) {
  auto behind = blocks.upper_bound(at);
  if (behind != blocks.begin()) {
    const auto& [begin, size] = *std::prev(behind);
    if (at < begin + size) return at + bytes <= begin + size;
  }
  return or_none && (behind == blocks.end() || behind->first >= at + bytes);
}

}  // namespace fake_cuda
