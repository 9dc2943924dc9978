#pragma once

// torch_classifier through its module's entry point, and batches of two classes that it can learn.

#include <gtest/gtest.h>

#include <map>

#include <brigade/harness.h>
#include <brigade/module.h>
#include "stages/torch/torch_classifier_contract.h"

extern "C" const brigade::Module* brigade_module_v1();

namespace brigade::testing_support {

inline StageType classifier_type() {
  const Module* module = brigade_module_v1();
  StageType type;
  type.contract = torch_classifier_contract().erased();
  type.make_stage = [module] { return std::unique_ptr<Stage>(module->bodies[0].make_stage()); };
  return type;
}

inline const TensorType kImage{"image", u8, {8, 9, 3}};
inline const TensorType kLabel{"label", i64, {}};

inline Ports one_source() { return {kImage, kLabel}; }

inline Ports two_sources() {
  return {{"train.image", u8, {8, 9, 3}},
          {"train.label", i64, {}},
          {"test.image", u8, {8, 9, 3}},
          {"test.label", i64, {}}};
}

/// The contract knows the tensors of one source; the stage is opened with all of them.
inline Result<std::unique_ptr<StageHarness>> open_classifier(ParamTexts params, Ports inputs,
                                                             OpenContext context = {}) {
  StageType type = classifier_type();
  if (inputs.find("image") == nullptr)
    type.contract.outputs = [](const void*, const Ports&, const FileMetadata&) { return Ports{}; };
  return StageHarness::open(type, {std::move(params), std::move(inputs), std::move(context)});
}

/// Class 1 is bright on the left, class 0 on the right; some noise from the id.
struct MadeBatch {
  std::vector<HostTensor> tensors;
  std::vector<SampleInfo> infos;
};

inline MadeBatch make_batch(std::int64_t slots, std::uint64_t first_id, std::uint32_t epoch = 0) {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  MadeBatch batch;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t id = first_id + static_cast<std::uint64_t>(slot);
    Philox random(1, 2, 3, id);
    labels.push_back(static_cast<std::int64_t>(random.below(2)));
    for (int at = 0; at < 8 * 9 * 3; ++at) {
      const bool left = at / 3 % 9 < 4;
      const auto noise = random.below(100);
      pixels.push_back(static_cast<std::uint8_t>(noise + (left == (labels.back() == 1) ? 100 : 0)));
    }
    batch.infos.push_back({id, id, id, epoch});
  }
  batch.tensors = {host_tensor("image", Shape{slots, 8, 9, 3}, pixels),
                   host_tensor("label", Shape{slots}, labels)};
  return batch;
}

inline Result<HarnessCall> feed(StageHarness& stage, MadeBatch batch, std::string port = {}) {
  return stage.process_batch(std::move(batch.tensors), std::move(batch.infos), std::move(port));
}

/// So many batches of 32, from the step `first` on.
inline void train(StageHarness& stage, std::uint64_t steps, std::uint64_t first = 0,
                  const std::string& port = "train") {
  for (std::uint64_t step = first; step < first + steps; ++step)
    ASSERT_TRUE(feed(stage, make_batch(32, step * 32), port));
}

/// What is reported after a test with 50 other samples.
inline std::map<std::string, double> tested(StageHarness& stage) {
  EXPECT_TRUE(feed(stage, make_batch(50, 100000), "test"));
  EXPECT_TRUE(stage.epoch_end(0, "test"));
  return stage.reports.numbers;
}

}  // namespace brigade::testing_support
