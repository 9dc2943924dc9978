#include "stages/torch/scripted_model.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <fstream>
#include <map>

#include "tests/stages/torch/made_batches.h"
#include "tests/stages/torch/torchvision_files.h"

namespace brigade {
namespace {

using namespace testing_support;

constexpr const char* kLinear =
    "def forward(self, x):\n"
    "    return torch.matmul(x.view(x.size(0), -1), self.weight.t())\n";
/// What it drops is drawn, and it counts its calls in another tensor each time.
constexpr const char* kRestless =
    "def forward(self, x):\n"
    "    self.calls = self.calls + 1\n"
    "    kept = torch.dropout(x.flatten(1), 0.5, self.training)\n"
    "    return torch.matmul(kept, self.weight.t()) / torch.sqrt(self.calls)\n";

/// Two rows of weights for pictures of 8 x 9 pixels.
torch::jit::Module make_script(const std::string& source) {
  torch::jit::Module module("Net");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("weight", at::zeros({2, 216}).requires_grad_(), false);
  module.register_buffer("calls", at::zeros({}));
  module.define(source);
  return module;
}

struct ScriptedModelTest : testing::Test {
  TemporaryFolder folder;
  std::string path = folder.path() / "net.pt";

  std::string save(const torch::jit::Module& module) {
    module.save(path);
    return path;
  }
  /// What is wrong with a model, behind its path.
  std::string problem(const torch::jit::Module& module, bool trains = true) {
    return problem_of(save(module), trains);
  }
  std::string problem_of(const std::string& file, bool trains = true) {
    const auto loaded = load_scripted_model(file, {3, 8, 9}, 2, trains);
    if (loaded) return "none";
    EXPECT_TRUE(loaded.error().message.starts_with(file)) << loaded.error().message;
    return loaded.error().message.substr(file.size());
  }
};

TEST_F(ScriptedModelTest, Learns) {
  const ParamTexts params{{"classes", "2"}, {"torchscript", save(make_script(kLinear))}};
  const auto stage = open_classifier(params, two_sources()).value();
  train(*stage, 40);
  ASSERT_TRUE(stage->epoch_end(0, "train"));
  auto numbers = tested(*stage);
  EXPECT_GE(numbers["accuracy"], 0.95);
  EXPECT_LT(numbers["test_loss"], 0.4);
}

TEST_F(ScriptedModelTest, GoesOnFromWhatWasSavedToTheBit) {
  const ParamTexts params{{"classes", "2"}, {"torchscript", save(make_script(kRestless))}};
  const auto go_on = [](StageHarness& stage) {
    train(stage, 5, 4);
    EXPECT_TRUE(stage.epoch_end(0, "train"));
    return tested(stage);
  };
  const auto whole = open_classifier(params, two_sources()).value();
  train(*whole, 4);
  OpenContext context;
  const std::string saved = whole->save().value();
  const auto expected = go_on(*whole);
  context.saved = saved;
  EXPECT_EQ(go_on(*open_classifier(params, two_sources(), context).value()), expected);
  context.seed = 5;  // the control: other draws
  EXPECT_NE(go_on(*open_classifier(params, two_sources(), context).value()), expected);
}

TEST_F(ScriptedModelTest, OfTorchvisionIsTheSameNetworkAsOurs) {
  const std::string& made = torchvision_folder();
  if (made.empty()) GTEST_SKIP() << "there is no torchvision";
  const auto numbers = [&](const ParamTexts& params) {
    ParamTexts all{{"classes", "7"}, {"lr", "0.0001"}};
    all.insert(all.end(), params.begin(), params.end());
    const auto stage = open_classifier(all, two_sources()).value();
    EXPECT_TRUE(feed(*stage, make_batch(16, 0), "train"));
    EXPECT_TRUE(feed(*stage, make_batch(1, 16), "train"));  // whose maps are 1 x 1
    EXPECT_TRUE(stage->epoch_end(0, "train"));
    return tested(*stage);
  };
  auto scripted = numbers({{"torchscript", made + "/scripted.pt"}});
  auto ours = numbers({{"model", "resnet18"}, {"weights", made + "/resnet18.pt"}});
  EXPECT_NEAR(scripted["loss"], ours["loss"], 1e-4);
  EXPECT_NEAR(scripted["test_loss"], ours["test_loss"], 1e-3);
}

TEST_F(ScriptedModelTest, IsEvaluatedAlone) {
  torch::jit::Module module = make_script(kLinear);
  at::Tensor weight = module.attr("weight").toTensor();
  const at::NoGradGuard no_gradients;
  weight.view({2, 3, 8, 9}).select(0, 1).narrow(2, 0, 4).fill_(0.1);   // bright on the left
  weight.view({2, 3, 8, 9}).select(0, 0).narrow(2, 4, 5).fill_(0.08);  // or on the right
  module.eval();
  ParamTexts params{
      {"classes", "2"}, {"train", "false"}, {"torchscript", save(torch::jit::freeze(module))}};
  const auto stage = open_classifier(params, one_source()).value();
  ASSERT_TRUE(feed(*stage, make_batch(200, 0)));
  ASSERT_TRUE(stage->epoch_end(0));
  EXPECT_GE(stage->reports.numbers["accuracy"], 0.95);
  EXPECT_FALSE(stage->reports.numbers.contains("loss"));
  EXPECT_TRUE(stage->save());
  EXPECT_EQ(open_classifier(params, two_sources()).error().message,
            "`train: false` needs exactly one source, for evaluation; write from: STAGE");
  EXPECT_EQ(problem(torch::jit::freeze(module)),
            " has no parameters to train, because torch.jit.freeze makes them constants; save the "
            "module before freezing, or write `train: false`");
}

TEST_F(ScriptedModelTest, ThatIsNoneIsSaid) {
  std::ofstream(path) << "PK, but no archive";
  EXPECT_EQ(problem_of(path),
            " is not a TorchScript file; write it in Python with "
            "torch.jit.save(torch.jit.script(model), FILE)");
}

TEST_F(ScriptedModelTest, ThatDoesNotFitIsSaid) {
  const auto of = [&](const char* body) {
    return problem(make_script(concat("def forward(self, x):\n    ", body, "\n")));
  };
  EXPECT_EQ(of("return torch.matmul(x.flatten(1), self.weight.t())"), "none");
  EXPECT_EQ(of("return torch.matmul(x.flatten(1), self.weight.t().repeat(1, 2))"),
            ": expected [1, 2] for one image [3, 8, 9], but the model outputs [1, 4]; write "
            "`classes: 4`");
  EXPECT_EQ(of("return x"),
            ": expected [1, 2] for one image [3, 8, 9], but the model outputs [1, 3, 8, 9]");
  EXPECT_EQ(of("return (x, x)"),
            ": expected [1, 2] for one image [3, 8, 9], but the model outputs a Tuple");
  const std::string fails = of("return torch.matmul(x, self.weight)");
  EXPECT_TRUE(fails.starts_with(
      ": expected [1, 2] for one image [3, 8, 9], but the model fails: LibTorch: RuntimeError: "))
      << fails;
}

TEST_F(ScriptedModelTest, WhatNoCheckpointWouldHaveIsRefusedWhereItLearns) {
  constexpr std::string_view kHow =
      " that a checkpoint would not contain; make it a buffer (register_buffer), or write `train: "
      "false`";
  torch::jit::Module inner = make_script(kLinear);
  inner.register_attribute("mean", c10::TensorType::get(), at::zeros({}));
  torch::jit::Module outer("Outer");
  outer.register_module("net", inner);
  outer.define("def forward(self, x):\n    return self.net.forward(x)\n");
  EXPECT_EQ(problem(outer), concat(" stores a tensor in \"net.mean\"", kHow));
  EXPECT_EQ(problem(outer, false), "none");

  torch::jit::Module counts("Counts");
  counts.register_parameter("weight", at::zeros({2, 216}).requires_grad_(), false);
  counts.register_attribute("calls", c10::IntType::get(), 0);
  counts.define(concat("def forward(self, x):\n    self.calls = self.calls + 1\n",
                       "    return torch.matmul(x.flatten(1), self.weight.t())\n"));
  EXPECT_EQ(problem(counts), concat(" stores a tensor in \"calls\"", kHow));
}

}  // namespace
}  // namespace brigade
