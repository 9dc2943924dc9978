#include "pipeline/run/first_pass.h"

#include <sys/mman.h>

#include <algorithm>

#include "transports/limits.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace brigade {
namespace {

constexpr std::uint64_t kChunkBytes = 256 << 10;

// Outwards to whole pages: an array begins on one, and the bytes up to the next are nobody's.
bool fill_page_tables(const void* data, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = begin / kPageBytes * kPageBytes;
  const std::uintptr_t end = (begin + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE) == 0;
}

}  // namespace

FirstPass::FirstPass(const PlanPool& pool, const RowPool& rows, std::uint64_t rows_at_once)
    : rows_(rows) {
  std::uint64_t row_bytes = sizeof(RowHeader);
  for (std::size_t i = 0; i < pool.tensors.size(); ++i) {
    if (pool.sparse && pool.tensors[i].type.ragged()) continue;
    arrays_.push_back(i);
    row_bytes += pool.tensors[i].row_stride;
  }
  const std::uint64_t all = rows.rows();
  // Whole tasks, so that a task lies in one chunk: the ring is a multiple of them.
  const std::uint64_t tasks = std::max<std::uint64_t>(kChunkBytes / (row_bytes * rows_at_once), 1);
  chunk_rows_ = std::min(tasks * rows_at_once, all);
  left_ = (all + chunk_rows_ - 1) / chunk_rows_;
  done_.resize(left_);
}

void FirstPass::fill_tables(std::uint64_t number) {
  const std::uint64_t chunk = rows_.slot(number) / chunk_rows_;
  if (done_[chunk]) return;
  done_[chunk] = true;
  --left_;
  const std::uint64_t first = chunk * chunk_rows_;
  const std::uint64_t count = std::min(chunk_rows_, rows_.rows() - first);
  bool filled = fill_page_tables(rows_.headers(first), count * sizeof(RowHeader));
  for (const std::size_t array : arrays_)
    filled = filled && fill_page_tables(rows_.row(array, first), count * rows_.stride(array));
  if (!filled) left_ = 0;  // the kernel cannot: faults do it, page by page
}

}  // namespace brigade
