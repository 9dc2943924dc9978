#pragma once

// Under `join: epochs` each lane numbers its samples by itself. Where a single word or list of a
// stage names a sample (ReplicaWords::at, the skip and quarantine lists), the lane stands in the
// upper bits; of lane 0, and so of most stages, it is the plain number.

#include <cstdint>

namespace brigade {

inline constexpr int kLaneShift = 56;

constexpr std::uint64_t lane_number(int lane, std::uint64_t number) {
  return static_cast<std::uint64_t>(lane) << kLaneShift | number;
}
constexpr int lane_of(std::uint64_t lane_and_number) {
  return static_cast<int>(lane_and_number >> kLaneShift);
}
constexpr std::uint64_t number_of(std::uint64_t lane_and_number) {
  return lane_and_number & ((std::uint64_t{1} << kLaneShift) - 1);
}

}  // namespace brigade
