#pragma once

// The memory of one stage's output: M row headers, then one array of M fixed-stride rows per
// tensor. Row s of the stream lies at s mod M in each of them, so a run of rows that does not wrap
// is contiguous in every array. Bytes only: what the arrays mean is the caller's business.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace brigade {

enum class RowState : std::uint8_t {
  full = 1,
  hole = 2,  ///< filtered, skipped or quarantined; keeps its number
  pad = 3    ///< past the end of the epoch
};

/// Written with the row, before its task is DONE; immutable from then on until it is recycled.
struct RowHeader {
  std::uint64_t number = 0;  ///< position in the stream
  std::uint64_t index = 0;   ///< position in the epoch
  std::uint64_t id = 0;      ///< index in the source
  std::uint32_t epoch = 0;
  RowState state = RowState::pad;
  std::uint8_t reserved[3] = {};
};
static_assert(sizeof(RowHeader) == 32, "the plan counts 32 bytes a row");

/// Where an array lies in the pool.
struct RowArray {
  std::uint64_t offset_bytes = 0;
  std::uint64_t stride_bytes = 0;
};

/// A process's window on a pool it has mapped. Does not own the mapping.
class RowPool {
 public:
  RowPool() = default;
  RowPool(std::byte* base, std::uint64_t rows, std::vector<RowArray> arrays)
      : base_(base), rows_(rows), arrays_(std::move(arrays)) {}

  std::uint64_t rows() const { return rows_; }
  std::size_t arrays() const { return arrays_.size(); }
  std::uint64_t slot(std::uint64_t number) const {
    return (rows_ & (rows_ - 1)) == 0 ? number & (rows_ - 1) : number % rows_;
  }

  RowHeader* headers(std::uint64_t number) const {
    return reinterpret_cast<RowHeader*>(base_) + slot(number);
  }
  std::byte* row(std::size_t array, std::uint64_t number) const {
    const RowArray& a = arrays_[array];
    return base_ + a.offset_bytes + slot(number) * a.stride_bytes;
  }
  std::uint64_t stride(std::size_t array) const { return arrays_[array].stride_bytes; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t rows_ = 1;
  std::vector<RowArray> arrays_;
};

}  // namespace brigade
