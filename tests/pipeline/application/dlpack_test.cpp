#include <brigade/dlpack.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

// As the specification has them on 64 bits.
static_assert(sizeof(dlpack::Tensor) == 48 && offsetof(dlpack::Tensor, ndim) == 16 &&
              offsetof(dlpack::Tensor, dtype) == 20 && offsetof(dlpack::Tensor, shape) == 24 &&
              offsetof(dlpack::Tensor, byte_offset) == 40);
static_assert(sizeof(dlpack::Managed) == 64 && offsetof(dlpack::Managed, manager_ctx) == 48 &&
              offsetof(dlpack::Managed, deleter) == 56);
static_assert(sizeof(dlpack::Versioned) == 80 && offsetof(dlpack::Versioned, manager_ctx) == 8 &&
              offsetof(dlpack::Versioned, deleter) == 16 &&
              offsetof(dlpack::Versioned, flags) == 24 &&
              offsetof(dlpack::Versioned, dl_tensor) == 32);

/// 1000 samples of 2 by 3 numbers, 16 at once.
std::string tensor_graph(const std::string& more = "", const std::string& dtype = "i64") {
  return concat("epochs: 100\n",
                "stages:\n  numbers: {producer: synthetic, batch: 16, params: {count: 1000, ",
                "shape: [2, 3], dtype: ", dtype,
                "}}\n  train: {consumer: application, from: numbers, hold: 2}\n", more);
}
const std::string kAlsoCounted = "  other: {consumer: count, from: numbers}\n";

Batch first_batch(const std::unique_ptr<Run>& run) { return **run->output("train").next(); }

TEST(DlpackTypes, AreThoseOfTheSpecification) {
  const auto text = [](DType dtype) {
    const dlpack::DataType type = dlpack::data_type(dtype);
    EXPECT_EQ(type.lanes, 1);
    return concat(int{type.code}, ":", int{type.bits});
  };
  std::string all;
  for (const DType dtype : {boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64})
    all += text(dtype) + " ";
  EXPECT_EQ(all, "6:8 1:8 0:8 0:16 0:32 0:64 2:16 4:16 2:32 2:64 ");
}

TEST(Dlpack, DescribesATensorInPlace) {
  const Program program{};
  auto run = program.start(tensor_graph("", "bf16"));
  const Batch batch = first_batch(run);
  auto* const managed = to_dlpack(batch, batch["data"]);
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->flags, 0u);
  const dlpack::Tensor& tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.data, batch["data"].data());
  EXPECT_EQ(tensor.device.device_type, dlpack::kCpu);
  EXPECT_EQ(tensor.device.device_id, 0);
  EXPECT_EQ(tensor.dtype.code, 4);
  EXPECT_EQ(tensor.dtype.bits, 16);
  EXPECT_EQ(tensor.byte_offset, 0u);
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(Sizes(tensor.shape, tensor.shape + tensor.ndim), (Sizes{16, 2, 3}));
  EXPECT_EQ(Sizes(tensor.strides, tensor.strides + tensor.ndim), (Sizes{6, 3, 1}));
  managed->deleter(managed);
}

/// Managed tensors keep the slots of their batches until their deleters run.
template <class Managed>
void expect_kept_until_deleted() {
  const Program program{};
  auto run = program.start(tensor_graph());
  Output train = run->output("train");
  std::vector<Managed*> held;
  for (int i = 0; i < 2; ++i) {
    const auto batch = train.next();
    held.push_back(to_dlpack<Managed>(**batch, (**batch)["data"]));
  }
  EXPECT_THAT(train.next().error().message, HasSubstr("`hold: 2` is reached"));
  std::thread([&held] {
    for (Managed* const managed : held) managed->deleter(managed);
  }).join();
  EXPECT_TRUE(train.next().ok());
}

TEST(Dlpack, KeepsItsBatchUntilItIsDeleted) {
  expect_kept_until_deleted<dlpack::Versioned>();
  expect_kept_until_deleted<dlpack::Managed>();
}

TEST(Dlpack, OutlivesTheRun) {
  const Program program{};
  auto run = program.start(tensor_graph());
  auto* const managed = [&run] {
    const Batch batch = first_batch(run);
    return to_dlpack(batch, batch["data"]);
  }();
  run.reset();
  const auto* const values = static_cast<const std::int64_t*>(managed->dl_tensor.data);
  for (std::int64_t i = 0; i < 16 * 6; ++i) EXPECT_EQ(values[i], i / 6);
  std::thread([managed] { managed->deleter(managed); }).join();
}

TEST(Dlpack, SaysWhatMayNotBeWritten) {
  const Program program{};
  auto run = program.start(tensor_graph(kAlsoCounted));
  const Batch batch = first_batch(run);
  auto* const managed = to_dlpack(batch, batch["data"]);
  EXPECT_EQ(managed->dl_tensor.data, batch["data"].data());
  EXPECT_EQ(managed->flags, dlpack::kReadOnly);
  managed->deleter(managed);
}

TEST(Dlpack, CopiesWhereItCannotSaySo) {
  const Program program{};
  auto run = program.start(tensor_graph(kAlsoCounted));
  dlpack::Managed* managed = nullptr;
  {
    const Batch batch = first_batch(run);
    managed = to_dlpack<dlpack::Managed>(batch, batch.row(7)["data"]);
    EXPECT_NE(managed->dl_tensor.data, batch.row(7)["data"].data());
  }
  run.reset();
  EXPECT_EQ(managed->dl_tensor.ndim, 2);
  auto* const values = static_cast<std::int64_t*>(managed->dl_tensor.data);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i]++, 7);
  managed->deleter(managed);
}

TEST(DlpackDeathTest, RefusesAllRowsOfARaggedTensor) {
  const Program program{};
  auto run = program.start(
      "stages:\n  numbers: {producer: synthetic, batch: 3, params: {count: 9, shape: [5], vary: "
      "true}}\n"
      "  train: {consumer: application, from: numbers}\n");
  const Batch batch = first_batch(run);
  EXPECT_DEATH(to_dlpack(batch, batch["data"]), "ragged: read it from batch.row\\(i\\)");
}

}  // namespace
}  // namespace brigade
