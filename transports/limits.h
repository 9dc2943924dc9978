#pragma once

// Every limit of the shared-memory protocol, with its unit, and the relations between them.

#include <cstddef>
#include <cstdint>

namespace brigade {

inline constexpr std::size_t kCacheLineBytes =
    64;  ///< words of different writers sit this far apart
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHugePageBytes = 2 << 20;  ///< the smaller ones of x86-64 and ARM64

inline constexpr int kReplicasMax = 256;  ///< replicas in one graph: the owner field has 8 bits
inline constexpr int kOwnerBits = 8;
inline constexpr int kStateBits = 2;
inline constexpr int kNumberBits = 48;  ///< task numbers: 2^48, 325 days at 10 million a second
inline constexpr int kWaiterWords = kReplicasMax / 64;

/// A spinning replica pauses longer from look to look, up to this many steps: each look takes the
/// watermark's cache line away from whoever is about to move it.
inline constexpr int kSpinPausesMax = 16;

/// Samples of a task whose commit is worth saving a locked instruction.
inline constexpr std::uint64_t kSmallTask = 8;

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};  ///< an end that is not known yet

static_assert(kNumberBits + kStateBits + kOwnerBits <= 64, "a task word is one atomic word");
static_assert((1 << kOwnerBits) >= kReplicasMax, "every replica can be named as an owner");

}  // namespace brigade
