#include "pipeline/run/first_pass.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fstream>

#include "pipeline/plan/pool_layout.h"
#include "pipeline/run/graph_shape.h"
#include "transports/limits.h"
#include "transports/memory_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kRows = 64;
constexpr std::uint64_t kMebibyte = 1 << 20;

PlanPool pool_of(const TensorType& type, bool sparse) {
  PlanPool pool;
  pool.rows = kRows;
  pool.sparse = sparse;
  pool.tensors = pool_tensors(Ports{type});
  lay_out_pool(pool);
  return pool;
}

/// What of this process's tables leads to shared memory.
std::uint64_t mapped_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssShmem:")) return std::stoull(line.substr(9)) * 1024;
  return 0;
}

std::uint64_t memory_taken(const MemoryFile& file) {
  struct stat status;
  fstat(file.fd(), &status);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

struct Mapped {
  explicit Mapped(const PlanPool& pool)
      : file(MemoryFile::create("test", pool.bytes).value()),
        memory(map_memory(file.fd(), pool.bytes, MapMode::read_write).value()),
        rows(memory.data(), pool.rows, row_arrays(pool)) {}
  MemoryFile file;
  MappedMemory memory;
  RowPool rows;
};

TEST(FirstPass, FillsTheTablesAChunkAheadAndOnce) {
  const PlanPool pool = pool_of({"image", u8, {64 << 10}}, false);  // 4 MiB
  Mapped mapped(pool);
  FirstPass first_pass(pool, mapped.rows, 2);
  const std::uint64_t before = mapped_bytes();
  first_pass.come_to(0);
  if (mapped_bytes() == before) GTEST_SKIP() << "this kernel cannot (5.14)";
  EXPECT_LT(mapped_bytes(), before + kMebibyte);  // the others do not wait for the whole ring
  for (std::uint64_t number = 0; number < 2 * kRows; number += 2) first_pass.come_to(number);
  EXPECT_GE(mapped_bytes(), before + 4 * kMebibyte);
  EXPECT_GE(memory_taken(mapped.file), 4 * kMebibyte);

  madvise(mapped.memory.data(), pool.bytes, MADV_DONTNEED);
  for (std::uint64_t number = 0; number < kRows; number += 2) first_pass.come_to(number);
  EXPECT_LT(mapped_bytes(), before + kMebibyte);  // nobody calls the kernel in later passes
}

TEST(FirstPass, GivesASparseArrayNoMemory) {
  const TensorType ragged{"image", u8, {up_to(64 << 10, 4096)}};
  for (const bool sparse : {true, false}) {
    const PlanPool pool = pool_of(ragged, sparse);
    Mapped mapped(pool);
    FirstPass first_pass(pool, mapped.rows, 2);
    for (std::uint64_t number = 0; number < kRows; number += 2) first_pass.come_to(number);
    if (sparse) {
      EXPECT_LE(memory_taken(mapped.file), 16 * kPageBytes);  // headers and shapes
    } else if (memory_taken(mapped.file) > 0) {
      EXPECT_GE(memory_taken(mapped.file), 4 * kMebibyte);
    }
  }
}

TEST(FirstPass, ChangesNothingThatIsThere) {
  const PlanPool pool = pool_of({"image", u8, {5000}}, false);
  Mapped mapped(pool);
  FirstPass first_pass(pool, mapped.rows, 1);
  for (std::uint64_t number = 0; number < kRows; ++number) {
    mapped.rows.row(0, number)[4999] = static_cast<std::byte>(number);
    first_pass.come_to(number);
  }
  for (std::uint64_t number = 0; number < kRows; ++number)
    EXPECT_EQ(mapped.rows.row(0, number)[4999], static_cast<std::byte>(number));
}

}  // namespace
}  // namespace brigade
