#pragma once

// What the supervisor and the workers of a ProcessLine agree on.

#include <atomic>
#include <cstdint>

#include "tests/support/line.h"
#include "transports/memory_file.h"

namespace brigade::stress {

inline constexpr const char* kWorkerArgument = "--worker";
inline constexpr int kControlFd = 200;  // descriptors in a worker
inline constexpr int kLedgerFd = 201;
inline constexpr int kFirstPoolFd = 202;

inline constexpr int kEndedWell = 0;
inline constexpr int kSawWrongRow = 3;
inline constexpr std::uint64_t kRunning = 1;  // in the replica's state word

inline constexpr std::uint64_t kSamplesMax = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kPayloadWords = 16;
inline constexpr std::uint64_t kPayloadBytes = kPayloadWords * sizeof(std::uint64_t);

inline bool is_hole(std::uint64_t sample) { return sample % 5 == 2; }

inline std::uint64_t pool_bytes(const StageShape& stage) {
  return stage.rows * (sizeof(RowHeader) + kPayloadBytes);
}
inline RowPool payload_pool(std::byte* base, const StageShape& stage) {
  return {base,
          std::max<std::uint64_t>(stage.rows, 1),
          {{stage.rows * sizeof(RowHeader), kPayloadBytes}}};
}
inline void write_payload(std::byte* row, std::uint64_t value) {
  auto* words = reinterpret_cast<std::uint64_t*>(row);
  for (std::uint64_t i = 0; i < kPayloadWords; ++i) words[i] = support::next_value(0, value + i);
}
inline bool holds_payload(const std::byte* row, std::uint64_t value) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(row);
  for (std::uint64_t i = 0; i < kPayloadWords; ++i) {
    if (words[i] != support::next_value(0, value + i)) return false;
  }
  return true;
}

/// How often a worker came back from finishing each task of a stage: never twice.
inline std::atomic<std::uint8_t>* ledger(const MappedMemory& memory, const GraphShape& shape,
                                         int stage) {
  const std::uint64_t each = memory.bytes() / shape.stages.size();
  return reinterpret_cast<std::atomic<std::uint8_t>*>(memory.data() +
                                                      each * static_cast<std::uint64_t>(stage));
}

}  // namespace brigade::stress
