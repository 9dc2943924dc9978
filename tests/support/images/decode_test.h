#pragma once

// decode_image through the module's entry point, as its tests call it.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <brigade/harness.h>
#include <brigade/module.h>
#include "stages/image/decode_image_contract.h"
#include "tests/support/images/test_images.h"
#include "tests/support/temporary_folder.h"

extern "C" const brigade::Module* brigade_module_v1();

namespace brigade::testing_support {

inline HostTensor bytes_tensor(const std::string& name, const std::string& bytes) {
  return host_tensor(name, {static_cast<std::int64_t>(bytes.size())},
                     std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

class DecodeTest : public testing::Test {
 protected:
  DecodeTest() {
    const Module* module = brigade_module_v1();
    type_.contract = decode_image_contract().erased();
    type_.make_stage = [module] { return std::unique_ptr<Stage>(module->bodies[0].make_stage()); };
  }

  std::unique_ptr<StageHarness> open(ParamTexts params,
                                     Ports inputs = {{"path", u8, {up_to(4096)}}}) {
    return StageHarness::open(type_, {std::move(params), std::move(inputs), {}}).value();
  }
  static Picture image_of(const HarnessCall& call) {
    const HostTensor& image = call["image"];
    return {image.shape[0], image.shape[1], image.shape[2], image.as<std::uint8_t>()};
  }
  Picture decode(const ParamTexts& params, const std::string& file, SampleInfo info = {}) {
    const std::string path = folder_.write("image", file);
    return image_of(open(params)->process({bytes_tensor("path", path)}, info).value());
  }
  std::string error_of(const std::string& file, const ParamTexts& params = {}) {
    const std::string path = folder_.write("n01/bad.JPEG", file);
    const auto call = open(params)->process({bytes_tensor("path", path)});
    if (call) return "no error";
    EXPECT_TRUE(call.error().message.starts_with(path + ": ")) << call.error().message;
    return call.error().message.substr(path.size() + 2);
  }

  StageType type_;
  TemporaryFolder folder_;
};

inline const ParamTexts kWhole = {{"crop", "none"}, {"size", "0"}};

}  // namespace brigade::testing_support
