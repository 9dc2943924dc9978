#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <brigade/text.h>
#include "pipeline/session/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// A graph that trains on folders of classes, and what `check` says of it with one thing changed.
struct TrainingGraph : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string train = "params: {classes: 3}";
  std::string train_root = "train";
  int test_size = 32;

  TrainingGraph() {
    for (const char* part : {"train", "val"})
      for (const char* name : {"cat/1.jpg", "dog/1.JPG", "emu/deep/1.png"})
        folder.write(concat(part, "/", name), "");
  }

  std::string messages() {
    const std::string file = folder.write(
        "g.yaml", concat("stages:\n"
                         "  images: {producer: image_folder, params: {root: ",
                         train_root,
                         "}}\n"
                         "  decode: {transform: decode_image, from: images, params: {size: 32}, "
                         "batch: 4}\n"
                         "  others: {producer: image_folder, params: {root: val}}\n"
                         "  test: {transform: decode_image, from: others, params: {size: ",
                         test_size,
                         "}, batch: 4}\n"
                         "  learn: {consumer: torch_classifier, from: {train: decode, test: test}, "
                         "join: epochs,\n"
                         "    ",
                         train, "}\n"));
    return plan_files({{file}, {}, {}}, types).messages;
  }
  void expect(const std::string& place, const std::string& message) {
    EXPECT_THAT(messages(),
                HasSubstr(concat(folder.path().string(), "/g.yaml:", place, ": error: ", message)));
  }
};

TEST_F(TrainingGraph, IsFine) { EXPECT_EQ(messages(), ""); }

TEST_F(TrainingGraph, WithFewerClassesThanFoldersIsRefused) {
  train = "params: {classes: 2}";
  expect("7:23",
         "stage \"learn\": parameter \"classes\" is 2, but the labels of \"decode\" are of 3 "
         "classes\n");
  EXPECT_THAT(messages(), HasSubstr("\n  write `classes: 3`\n"));
  for (int i = 0; i < 10; ++i) folder.write(concat("train/more", i, "/1.jpg"), "");
  train = "threads: 1";
  expect("6:21",
         "stage \"learn\": parameter \"classes\" is 10, but the labels of \"decode\" are of 13 "
         "classes\n");
}

TEST_F(TrainingGraph, WithSeveralLearnersOfOneModelIsRefused) {
  train = "params: {classes: 3}, replicas: 2";
  expect("7:37",
         "stage \"learn\": \"torch_classifier\" learns one model in one process, found 2 "
         "replicas\n");
  EXPECT_THAT(messages(), HasSubstr("\n  leave `replicas:` out; `threads:` gives"));
  train = "params: {classes: 3}, replicas: auto";
  EXPECT_EQ(messages(), "");
}

TEST_F(TrainingGraph, WithPicturesOfTwoSizesIsRefused) {
  test_size = 48;
  expect("6:67",
         "stage \"learn\": \"torch_classifier\" needs \"image\" of one shape from all sources: "
         "\"decode\" gives image u8[32, 32, 3], \"test\" gives image u8[48, 48, 3]\n");
}

TEST_F(TrainingGraph, WithoutFoldersOfClassesIsRefused) {
  const std::string root = folder.path() / "train";
  std::filesystem::create_directory(folder.path() / "train/none");
  expect("2:51", concat("stage \"images\": parameter \"root\": ", root,
                        "/none: has no images (.jpg .jpeg .png .ppm .pgm .bmp .tif .tiff .webp); "
                        "every folder there is a class: take it away, or fill it\n"));
  train_root = "val/cat";
  expect("2:51", concat("stage \"images\": parameter \"root\": ", folder.path().string(),
                        "/val/cat: has images, but no folders; expected a folder of images per "
                        "class, "));
  std::filesystem::create_directory(folder.path() / "empty");
  train_root = "empty/";
  expect("2:51", concat("stage \"images\": parameter \"root\": ", folder.path().string(),
                        "/empty: the folder is empty; expected a folder of images per class, "));
}

}  // namespace
}  // namespace brigade
