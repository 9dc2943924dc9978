#include "stages/image/decode_image_contract.h"

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include <brigade/text.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

const Ports kPath{{"path", u8, {up_to(4096)}}, {"label", i64, {}}};

Result<Ports> outputs(const ParamTexts& params, const Ports& in = kPath) {
  const StageContract contract = decode_image_contract().erased();
  return contract.outputs(make_params(contract, params).value().get(), in, {});
}

std::string error_of(const ParamTexts& params, const Ports& in = kPath) {
  return message_of(outputs(params, in));
}

TEST(DecodeImageContractTest, GivesASquareOrTheWholePicture) {
  EXPECT_EQ(*outputs({}), (Ports{{"image", u8, {224, 224, 3}}}));
  EXPECT_EQ(*outputs({{"crop", "center"}, {"size", "32"}, {"resize", "40"}}),
            (Ports{{"image", u8, {32, 32, 3}}}));
  EXPECT_EQ(*outputs({{"crop", "none"}, {"size", "0"}, {"side_max", "500"}}),
            (Ports{{"image", u8, {up_to(500), up_to(500), 3}}}));
}

TEST(DecodeImageContractTest, ChannelsAreThreeOrANumberOrThoseOfEachFile) {
  EXPECT_EQ(*outputs({{"channels", "8"}}), (Ports{{"image", u8, {224, 224, 8}}}));
  EXPECT_EQ(*outputs({{"channels", "all"}}), (Ports{{"image", u8, {224, 224, up_to(32)}}}));
  const StageContract contract = decode_image_contract().erased();
  const auto bytes = [&](const std::string& channels) {
    return contract.private_bytes(
        make_params(contract, {{"channels", channels}, {"pixels_max", "1000"}}).value().get());
  };
  EXPECT_EQ(bytes("3"), 16'000u);
  EXPECT_EQ(bytes("1"), 16'000u);
  EXPECT_EQ(bytes("13"), 53'000u);
  EXPECT_EQ(bytes("all"), 129'000u);
  const auto wrong = [&](const std::string& channels) {
    return message_of(make_params(contract, {{"channels", channels}}));
  };
  for (const char* const channels : {"0", "33", "none", "1.5"})
    EXPECT_EQ(wrong(channels), concat("channels: expected a number of channels from 1 to 32, or "
                                      "`all`, found \"",
                                      channels, "\""));
}

TEST(DecodeImageContractTest, RefusesWhatContradictsItself) {
  EXPECT_EQ(error_of({{"size", "0"}}),
            "size is 0, which means the picture's own size and needs `crop: none`");
  EXPECT_EQ(error_of({{"resize", "256"}}),
            "resize has no effect on `crop: random_resized`; leave it out");
  EXPECT_EQ(error_of({{"crop", "none"}, {"resize", "256"}}),
            "without a crop, resize 256 and size 224 contradict each other; `size: 0` keeps the "
            "picture's shape");
  EXPECT_EQ(error_of({{"crop", "center"}, {"resize", "200"}}),
            "a picture whose shorter side is resized to 200 pixels has no square of 224; a resize "
            "of at least the size would do");
  EXPECT_EQ(error_of({{"scale", "[0.5]"}}),
            "scale is a lower and an upper limit such as [0.5, 1], found [0.5]");
  EXPECT_EQ(error_of({{"ratio", "[2, 0.5]"}}),
            "ratio is a lower and an upper limit such as [0.5, 1], found [2, 0.5]");
}

TEST(DecodeImageContractTest, TargetsAreTensorsThatComeWithThePicture) {
  const Ports in{kPath.tensors[0],
                 {"boxes", f32, {up_to(9), 4}},
                 {"joints", f32, {up_to(9), 3}},
                 {"classes", u8, {up_to(99), up_to(99)}}};
  const auto found = outputs({{"size", "32"},
                              {"targets",
                               "[boxes, {keypoints: {name: joints}}, {mask: {name: "
                               "classes}}]"}},
                             in);
  EXPECT_EQ(*found, (Ports{{"image", u8, {32, 32, 3}},
                           {"boxes", f32, {up_to(9), 4}},
                           {"joints", f32, {up_to(9), 3}},
                           {"classes", u8, {32, 32}}}));
  EXPECT_EQ(error_of({{"targets", "[boxes]"}}),
            "targets: there is no tensor \"boxes\"; there are path, label: `name:` says which one "
            "it is");
  const Ports twice{kPath.tensors[0], {"seg_png", u8, {up_to(9)}}, {"mask", u8, {4, 4}}};
  EXPECT_EQ(error_of({{"mask", "seg_png"}, {"targets", "[mask]"}}, twice),
            "targets: the tensor \"mask\" is written already: name it once");
}

TEST(DecodeImageContractTest, AMaskIsNamedInOneWay) {
  const Ports in{kPath.tensors[0], {"seg_png", u8, {up_to(100)}}, {"mask_path", u8, {up_to(4096)}}};
  const TensorType mask{"mask", u8, {224, 224}};
  EXPECT_EQ(outputs({{"mask", "seg_png"}}, in)->tensors[1], mask);
  EXPECT_EQ(outputs({{"mask_path", "mask_path"}}, in)->tensors[1], mask);
  EXPECT_EQ(error_of({{"mask", "seg_png"}, {"mask_path", "mask_path"}}, in),
            "mask and mask_path name one mask in two ways; leave one of them out");
  EXPECT_EQ(error_of({{"mask_path", "label"}}),
            "parameter \"mask_path\": expected a tensor u8[bytes] with the paths of PNG files, "
            "found label i64[]");
}

TEST(DecodeImageContractTest, KnowsWhereTheBytesAre) {
  const TensorType encoded{"encoded", u8, {up_to(1 << 20)}};
  const TensorType file{"file", u8, {up_to(4096)}};
  const TensorType offset{"offset", i64, {}};
  const TensorType size{"size", i64, {}};
  EXPECT_EQ(*image_source(kPath), ImageSource::path);
  EXPECT_EQ(*image_source({kPath.tensors[0], encoded}), ImageSource::encoded);
  EXPECT_EQ(*image_source({file, offset, size}), ImageSource::range);
  EXPECT_EQ(error_of({}, {file, offset}),
            "with the tensor `file` it needs `offset` and `size`, i64[], in bytes; there is no "
            "`size`");
  EXPECT_EQ(error_of({}, {file, {"offset", i32, {}}, size}),
            "with the tensor `file` it needs `offset` and `size`, i64[], in bytes; found offset "
            "i32[]");
}

}  // namespace
}  // namespace brigade
