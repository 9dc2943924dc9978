// Batches as tensors of LibTorch. The graphs run in threads of this program.

#include <brigade/torch.h>

#include <ATen/DLConvertor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/data/example.h>

#include <stdexcept>
#include <thread>

#include <brigade/dlpack.h>
#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// 1000 samples of 2 by 3 numbers, 16 at once.
std::string graph(const std::string& more = "", const std::string& dtype = "i64") {
  return concat("epochs: 100\n",
                "stages:\n  numbers: {producer: synthetic, batch: 16, params: {count: 1000, ",
                "shape: [2, 3], dtype: ", dtype,
                "}}\n  train: {consumer: application, from: numbers, hold: 2}\n", more);
}
const std::string kOther = "  other: {consumer: count, from: numbers}\n";

Batch first_of(const std::unique_ptr<brigade::Run>& run) { return **run->output("train").next(); }

/// Sample i is i everywhere.
void expect_first(const at::Tensor& tensor) {
  ASSERT_EQ(tensor.sizes(), (at::IntArrayRef{16, 2, 3}));
  const at::Tensor wanted = at::arange(16, at::kFloat).reshape({16, 1, 1}).expand({16, 2, 3});
  EXPECT_TRUE(tensor.to(at::kFloat).equal(wanted)) << tensor;
}

TEST(ToTorch, IsTheBatchsMemoryAlsoByDlpack) {
  const Program program{};
  for (const char* dtype : {"u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    auto run = program.start(graph("", dtype));
    Batch batch = first_of(run);
    for (const at::Tensor& data :
         {to_torch(batch, "data"),
          at::fromDLPack(to_dlpack<DLManagedTensor>(batch, batch["data"]))}) {
      EXPECT_EQ(data.scalar_type(), scalar_type(*parse_dtype(dtype)));
      EXPECT_EQ(data.data_ptr(), batch["data"].data());
      expect_first(data);
    }
  }
  auto run = program.start(graph("", "bool"));
  const at::Tensor flags = to_torch(first_of(run), "data");
  EXPECT_EQ(flags.scalar_type(), at::kBool);
  EXPECT_EQ(flags.sum().item<std::int64_t>(), 15 * 6);
}

TEST(ToTorch, KeepsTheBatchWithItsViews) {
  const Program program{};
  auto run = program.start(graph());
  Output train = run->output("train");
  std::vector<at::Tensor> views;
  for (int i = 0; i < 2; ++i) views.push_back(to_torch(**train.next(), "data").select(0, 1));
  EXPECT_THAT(train.next().error().message, HasSubstr("`hold: 2` is reached"));
  std::thread([&views] { views.clear(); }).join();
  EXPECT_TRUE(train.next().ok());
}

TEST(ToTorch, OutlivesTheRun) {
  const Program program{};
  auto run = program.start(graph());
  at::Tensor data = to_torch(first_of(run), "data");
  run.reset();
  expect_first(data);
  std::thread([&data] { data.reset(); }).join();
}

TEST(ToTorch, WorksInPlace) {
  const Program program{};
  auto run = program.start(graph("", "f32"));
  std::uint64_t batches = 0;
  for (const Batch& batch : run->output("train")) {  // the ring is used anew many times
    at::Tensor data = to_torch(batch, "data");
    ASSERT_EQ(data[0][0][0].item<float>(), static_cast<float>(batch.sample(0).id));
    data.add_(1000);
    if (++batches == 500) break;
  }
}

TEST(ToTorch, CopiesWhatOthersRead) {
  const Program program{};
  auto run = program.start(graph(kOther));
  Output train = run->output("train");
  const at::Tensor data = to_torch(**train.next(), "data");
  std::vector<at::Tensor> more;
  for (int i = 0; i < 5; ++i) more.push_back(to_torch(**train.next(), "data"));  // holds none
  data.clone().add_(1);
  expect_first(data);
}

TEST(ToTorch, GivesRowsOfRaggedTensors) {
  const Program program{};
  auto run = program.start(
      "stages:\n  numbers: {producer: synthetic, batch: 8, params: {count: 100, shape: [5], "
      "vary: true}}\n  train: {consumer: application, from: numbers}\n");
  for (const Batch& batch : run->output("train")) {
    const at::Tensor row = to_torch(batch, batch.row(3)["data"]);
    ASSERT_EQ(row.dim(), 1);
    EXPECT_EQ(row.size(0), batch.row(3)["data.shape"].as<std::int64_t>()[0]);
    EXPECT_TRUE(row.eq(static_cast<std::int64_t>(batch.sample(3).id)).all().item<bool>());
  }
}

TEST(ToTorch, IsWhatALoopOverADataLoaderTakes) {
  const Program program{};
  auto run = program.start(graph("", "i64"));
  auto loader = make_data_loader<torch::data::TensorExample>(run->output("train"), "data");
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::int64_t samples = 0, first = 0;
    for (auto& example : *loader) {
      if (samples == 0) first = example.data[0][0][0].item<std::int64_t>();
      samples += example.data.size(0);
      if (epoch == 1) break;  // the next loop gives what is left of it
    }
    EXPECT_EQ(first, epoch == 2 ? 16 : 0);
    EXPECT_EQ(samples, epoch == 0 ? 1000 : epoch == 1 ? 16 : 984);
  }
}

TEST(ToTorch, IsDataAndTargetOfAnExample) {
  const Program program{};
  auto run = program.start(graph("", "f32"));
  auto loader = make_data_loader<torch::data::Example<>>(run->output("train"), "data", "data");
  std::vector<torch::data::Example<>> kept;
  const auto keep_all = [&] {
    for (auto& example : *loader) kept.push_back(example);
  };
  EXPECT_THROW(keep_all(), std::runtime_error);  // of `hold: 2`
  ASSERT_EQ(kept.size(), 2U);
  expect_first(kept[0].data);
  EXPECT_TRUE(kept[0].target.is_alias_of(kept[0].data) || kept[0].target.equal(kept[0].data));
  kept.clear();
  EXPECT_NO_THROW(EXPECT_EQ(loader->begin()->data.size(0), 16));
}

/// What share_parameters() asks of a module.
struct TwoTensors {
  std::vector<at::Tensor> weights = {at::ones({2, 3}), at::full({2}, 5.0)};
  std::vector<at::Tensor> parameters() const { return weights; }
  std::vector<at::Tensor> buffers() const { return {}; }
};

TEST(ShareParameters, LaysAModuleIntoMemoryThatAllHave) {
  const auto memory = std::make_shared<std::vector<float>>(8);
  const SharedTensor shared("w", DType::f32, {8}, {memory, memory->data(), nullptr, true, false});
  TwoTensors first;
  TwoTensors second;
  ASSERT_TRUE(share_parameters(first, shared, true).ok());
  EXPECT_THAT(*memory, testing::ElementsAre(1, 1, 1, 1, 1, 1, 5, 5));
  first.weights[1].add_(1);
  ASSERT_TRUE(share_parameters(second, shared).ok());
  EXPECT_EQ(second.weights[1][0].item<float>(), 6);
  second.weights[0][1][2] = 9;
  EXPECT_EQ(first.weights[0][1][2].item<float>(), 9);
}

TEST(ShareParameters, SaysWhichShapeWouldFit) {
  const auto memory = std::make_shared<std::vector<float>>(7);
  const SharedTensor shared("w", DType::f32, {7}, {memory, memory->data(), nullptr, true, false});
  TwoTensors module;
  EXPECT_EQ(share_parameters(module, shared).error().message,
            "shared tensor \"w\" has 7 elements of f32, but the module has 8 of Float; write "
            "`shape: [8]` and the dtype of the module");
  EXPECT_EQ(module.weights[0][0][0].item<float>(), 1) << "it is as it was";
}

TEST(TorchView, OfASlotIsWrittenInPlace) {
  std::vector<float> memory(6, -1);
  Shape shape{2, 3};
  const Shape bounds = shape;
  const TensorSlot slot(memory.data(), DType::f32, shape, bounds, false);
  torch_view(slot).copy_(at::arange(6, at::kLong).reshape({2, 3}));  // of another type
  EXPECT_THAT(memory, testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THROW(torch_view(slot).copy_(at::zeros({4})), c10::Error);
}

}  // namespace
}  // namespace brigade
