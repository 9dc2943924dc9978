#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/images/idx_files.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

class IdxImagesTest : public testing::Test {
 protected:
  IdxImagesTest() { add_idx_images(types_); }

  Result<std::unique_ptr<StageHarness>> open(ParamTexts params) {
    return StageHarness::open(types_.all()[0], {std::move(params), {}, {}});
  }
  std::string error_of(ParamTexts params) { return message_of(open(std::move(params))); }

  StageTypes types_;
  TempFolder folder_;
  const std::string images_ =
      write_gzip(folder_ / "images.gz", idx_header(8, {3, 2, 2}) + counting_bytes(12));
  const std::string labels_ =
      write_file(folder_ / "labels", idx_header(8, {3}) + counting_bytes(3, 7));
};

TEST_F(IdxImagesTest, GivesImagesAndLabels) {
  const auto stage = open({{"images", images_}, {"labels", labels_}}).value();
  EXPECT_EQ(stage->outputs(), (Ports{{"image", u8, {2, 2, 1}}, {"label", i64, {}}}));
  EXPECT_EQ(*stage->producer().size(), 3u);
  const HarnessCall call = stage->read(1).value();
  EXPECT_EQ(call["image"].as<std::uint8_t>(), (std::vector<std::uint8_t>{4, 5, 6, 7}));
  EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{8});
  EXPECT_EQ(stage->producer().describe(1), "image 1 of images.gz");
}

TEST_F(IdxImagesTest, WithoutLabelsThereIsNoLabel) {
  const auto stage = open({{"images", images_}}).value();
  EXPECT_EQ(stage->outputs(), (Ports{{"image", u8, {2, 2, 1}}}));
  EXPECT_EQ(stage->read(2).value()["image"].as<std::uint8_t>()[0], 8);
}

TEST_F(IdxImagesTest, TheFingerprintIsThatOfImagesAndLabels) {
  const auto fingerprint = [this](const std::string& images, const std::string& labels) {
    ParamTexts params{{"images", images}};
    if (!labels.empty()) params.emplace_back("labels", labels);
    return open(params).value()->producer().fingerprint();
  };
  const std::uint64_t first = fingerprint(images_, labels_);
  EXPECT_NE(first, 0u);
  const std::string unpacked =
      write_file(folder_ / "unpacked", idx_header(8, {3, 2, 2}) + counting_bytes(12));
  EXPECT_EQ(fingerprint(unpacked, labels_), first);
  const std::string other = write_file(folder_ / "other", idx_header(8, {3}) + "\x07\x08\x0a");
  EXPECT_NE(fingerprint(images_, other), first);
  EXPECT_NE(fingerprint(images_, ""), first);
  const std::string brighter =
      write_file(folder_ / "brighter", idx_header(8, {3, 2, 2}) + counting_bytes(12, 1));
  EXPECT_NE(fingerprint(brighter, labels_), first);
}

TEST_F(IdxImagesTest, FourDimensionsHaveChannelsLast) {
  const std::string path =
      write_file(folder_ / "color", idx_header(8, {2, 1, 2, 3}) + counting_bytes(12));
  const auto stage = open({{"images", path}}).value();
  EXPECT_EQ(stage->outputs(), (Ports{{"image", u8, {1, 2, 3}}}));
  EXPECT_EQ(stage->read(1).value()["image"].as<std::uint8_t>()[0], 6);
}

TEST_F(IdxImagesTest, SwappedFilesAreNoticedBeforeAnythingRuns) {
  EXPECT_EQ(error_of({{"images", labels_}}),
            labels_ +
                ": has shape [3]; images have [N, H, W] or [N, H, W, C]; is this the file of "
                "labels?");
  EXPECT_EQ(error_of({{"images", images_}, {"labels", images_}}),
            images_ + ": has shape [3, 2, 2]; labels have [N]; is this the file of images?");
}

TEST_F(IdxImagesTest, LabelsMustMatchTheImages) {
  const std::string few = write_file(folder_ / "few", idx_header(8, {2}) + counting_bytes(2));
  EXPECT_EQ(error_of({{"images", images_}, {"labels", few}}),
            few + ": holds 2 labels, but " + images_ + " holds 3 images");
}

TEST_F(IdxImagesTest, WrongElementsAndNoImagesAreErrors) {
  const std::string floats = write_file(folder_ / "floats", idx_header(0x0d, {1, 1, 1}) + "1234");
  EXPECT_EQ(error_of({{"images", floats}}), floats + ": holds f32 elements; images must be u8");
  EXPECT_EQ(error_of({{"images", images_}, {"labels", floats}}),
            floats + ": holds f32 elements; labels must be u8");
  const std::string empty = write_file(folder_ / "empty", idx_header(8, {0, 2, 2}));
  EXPECT_EQ(error_of({{"images", empty}}), empty + ": holds no images: its shape is [0, 2, 2]");
  const std::string none = folder_ / "none";
  EXPECT_EQ(error_of({{"images", none}}), none + ": its header could not be read");
}

TEST_F(IdxImagesTest, TheLengthIsComparedBeforeAnythingRuns) {
  const StageContract& contract = types_.all()[0].contract;
  const auto planned = [&](const ParamTexts& params) {
    return message_of(contract.outputs(make_params(contract, params)->get(), {},
                                       read_metadata(contract, params)));
  };
  const std::string head = idx_header(8, {3, 2, 2});
  const std::string cut = write_file(folder_ / "cut", head + counting_bytes(5));
  EXPECT_EQ(planned({{"images", cut}}),
            cut + ": ends after 5 bytes of data; its header says [3, 2, 2], which is 12");
  const std::string more = write_file(folder_ / "more", idx_header(8, {3}) + counting_bytes(4));
  EXPECT_EQ(planned({{"images", images_}, {"labels", more}}),
            more + ": goes on to 4 bytes of data; its header says [3], which is 3");
  const std::string claim = idx_header(8, {3, 1 << 29, 4});
  const std::string packed = write_gzip(folder_ / "claim.gz", claim + counting_bytes(12));
  EXPECT_TRUE(planned({{"images", packed}})
                  .starts_with(packed + ": its header says [3, 536870912, 4], but the file has"));
  const std::string cut_gz = write_gzip(folder_ / "cut.gz", head + counting_bytes(5));
  EXPECT_EQ(planned({{"images", cut_gz}}), "no error") << "which only reading it all can tell";
  EXPECT_EQ(error_of({{"images", cut_gz}}),
            cut_gz + ": ends after 5 bytes of data; its header says [3, 2, 2], which is 12");
}

TEST_F(IdxImagesTest, AFileThatChangedAfterTheCheckIsRefused) {
  // The plan carries the outputs of the check; the file has other sizes by now.
  auto producer = types_.all()[0].make_producer();
  const ParamTexts texts = {{"images", images_}};
  const auto params = make_params(types_.all()[0].contract, texts).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = types_.all()[0].contract.params_type;
  context.outputs = {{"image", u8, {28, 28, 1}}};
  EXPECT_EQ(producer->open(context).error().message,
            images_ + ": changed since the graph was checked: it now gives image u8[2, 2, 1]");
}

TEST_F(IdxImagesTest, ItsContractCountsTheSamples) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts params{{"images", images_}, {"labels", labels_}};
  const auto parsed = make_params(contract, params).value();
  EXPECT_EQ(contract.samples(parsed.get(), read_metadata(contract, params)), 3u);
  EXPECT_EQ(contract.samples(parsed.get(), {}), std::nullopt);
}

}  // namespace
}  // namespace brigade
