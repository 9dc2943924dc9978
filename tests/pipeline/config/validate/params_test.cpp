#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(ValidateParams, ParsesIntoTheContractsStruct) {
  const auto loaded = LoadText()(
      with_stages("  a: {transform: augment_image, from: images, params: {pad: 2, flip: 0.5}}\n"
                  "  show: {consumer: show, from: a}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidStage& stage = loaded.graph->stages[1];
  const auto& params = *static_cast<const fake::AugmentParams*>(stage.params.get());
  EXPECT_EQ(params.pad, 2);
  EXPECT_EQ(params.flip, 0.5);
  ASSERT_EQ(stage.param_values.size(), 3u) << "defaults too";
  EXPECT_EQ(stage.param_values[1].first, "crop");
  EXPECT_EQ(stage.param_values[1].second, ParamValue::scalar("0"));
}

TEST(ValidateParams, RelativePathsBelongToTheFileThatSaysThem) {
  LoadText load;
  load.metadata.file("/graphs/x.gz", "1 2 3").file("/home/anna/y.gz", "");
  load.sets = {"stages.a.params.labels=y.gz"};
  const auto loaded = load(
      "stages:\n  a: {producer: idx_images, params: {images: ./x.gz}}\n"
      "  show: {consumer: show, from: a}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages[0].param_values[0].second.text, "/graphs/x.gz");
  EXPECT_EQ(loaded.graph->stages[0].param_values[1].second.text, "/home/anna/y.gz");
}

TEST(ValidateParams, PathsOfVariablesBelongToWhereTheyWereDefined) {
  LoadText load;
  load.metadata.file("/other/d/x.gz", "1 2 3");
  const auto loaded =
      load.files({{"g.yaml",
                   "stages:\n  a: {producer: idx_images, params: {images: \"${d}/x.gz\"}}\n"
                   "  show: {consumer: show, from: a}\n",
                   "/graphs"},
                  {"machine.yaml", "vars: {d: d}\n", "/other"}});
  EXPECT_TRUE(loaded.graph) << loaded.messages();
}

TEST(ValidateParams, EachFileIsReadOnce) {
  LoadText load;
  const auto loaded =
      load(with_stages("  again: {producer: idx_images, params: {images: /data/train-images.gz}}\n"
                       "  show: {consumer: count, from: [images, again], join: zip}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(load.metadata.reads, 1);
}

TEST(ValidateParams, MetadataReachTheContract) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph);
  EXPECT_EQ(loaded.graph->stages[0].outputs.tensors.at(0).text(), "image u8[28, 28, 1]");
}

struct ToldParams {
  InputFiles files;
  OutputPath made;
};

class StampedMetadata : public FakeMetadata {
 public:
  std::optional<PathStamp> stamp(const std::string& path) override {
    return PathStamp{path.size(), 0};
  }
};

/// What a contract is told that has metadata of many files, and of one that a run may have left.
std::string told_of(const std::string& params) {
  StampedMetadata metadata;
  metadata.file("/data/a1", "first").file("/data/a2", "second").file("/data/made", "listing");
  metadata.broken("/data/broken", "damaged gzip data");
  std::string told;
  StageTypes types;
  types.add<fake::NoProducer>(Contract<ToldParams>("told", "Says what it is told.")
                                  .producer()
                                  .param("files", &ToldParams::files, "files")
                                  .required()
                                  .file_header()
                                  .param("made", &ToldParams::made, "what a run may have left")
                                  .file_header()
                                  .counts([&told](const ToldParams&, const FileMetadata& found) {
                                    for (const auto& [name, file_header] : found.files)
                                      told += name + "=" + file_header.header + " ";
                                    told += std::to_string(found.stamp("/data")->bytes);
                                    return std::optional<std::uint64_t>(7);
                                  })
                                  .outputs([](const ToldParams&, const Ports&) -> Result<Ports> {
                                    return Ports{{"x", u8, {}}};
                                  }));
  fake::add_consumers(types);
  const auto loaded = load_graph({{"g.yaml",
                                   "stages:\n  a: {producer: told, params: {" + params +
                                       "}}\n  b: {consumer: show, from: a}\n",
                                   "/graphs"}},
                                 {.files = {},
                                  .sets = {},
                                  .limit = {},
                                  .types = types,
                                  .metadata = metadata,
                                  .environment = {},
                                  .working_directory = "/",
                                  .plugins = nullptr});
  return loaded.graph ? told : loaded.messages();
}

TEST(ValidateParams, MetadataOfManyFilesAreNumberedWhereAllAreNamed) {
  EXPECT_EQ(told_of("files: \"/data/a{1..2}\""), "files.0=first files.1=second 5");
  EXPECT_EQ(told_of("files: [/data/a2, /data/a1]"), "files.0=second files.1=first 5");
  EXPECT_EQ(told_of("files: \"/data/a*\""), "5");
  EXPECT_EQ(told_of("files: [/data/a1, \"/data/a*\"]"), "5");
  EXPECT_THAT(told_of("files: [/data/a1, /data/broken]"),
              HasSubstr("g.yaml:2:39: error: stage \"a\": parameter \"files.1\": /data/broken: "
                        "damaged gzip data"));
}

TEST(ValidateParams, MetadataOfWhatARunMayHaveLeftAreThereOnceItHas) {
  EXPECT_EQ(told_of("files: /data/a1, made: /data/made"), "files.0=first made=listing 5");
  EXPECT_EQ(told_of("files: /data/a1, made: /data/none"), "files.0=first 5");
  EXPECT_EQ(told_of("files: /data/a1, made: /data/broken"), "files.0=first 5");
}

TEST(ValidateParams, ALinkToADescriptorOfTheCommandIsRefused) {
  EXPECT_THAT(messages_of("stages:\n  a: {producer: tar_shards, params: {shards: /data/input}}\n"
                          "  b: {consumer: show, from: a}\n"),
              HasSubstr("g.yaml:2:46: error: stage \"a\": parameter \"shards\": \"/data/input\" "
                        "leads to /proc/self/fd/0, which is open in the process of the command"));
}

TEST(ValidateParams, TheMistakeIsShownAtTheItem) {
  EXPECT_THAT(messages_of("stages:\n  a: {producer: synthetic, params: {shape: [1, 2, x]}}\n"),
              HasSubstr("g.yaml:2:51: error: stage \"a\": parameter \"shape\": item 3:"));
}

TEST(ValidateParams, ATypeWithoutParametersNeedsNone) {
  EXPECT_EQ(messages_of(with_stages("  show: {consumer: show, from: images, params: {}}\n")), "");
}

/// A stage whose type makes several samples of each.
std::string several(const std::string& params) {
  return messages_of(with_stages(concat("  a: {transform: several, from: images, params: {", params,
                                        "}}\n  show: {consumer: show, from: a}\n")));
}

TEST(ValidateParams, HowManySamplesAreMadeOfEachComesFromThem) {
  const auto loaded =
      LoadText()(with_stages("  a: {transform: several, from: images, params: {count: 3}}\n"
                             "  show: {consumer: show, from: a}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages[0].outputs_per_input, 1u);
  EXPECT_EQ(loaded.graph->stages[1].outputs_per_input, 3u);
}

TEST(ValidateParams, MoreThanCanBeMadeOfEachIsAMistake) {
  EXPECT_EQ(several("count: 65536"), "");
  EXPECT_THAT(several("count: 65537"),
              HasSubstr("error: stage \"a\": \"several\" would make 65537 samples of each; from 1 "
                        "to 65536 are possible"));
  EXPECT_THAT(several("count: 0"), HasSubstr("would make 0 samples of each"));
}

TEST(ValidateParams, AContractThatCannotSayHowManyIsAMistake) {
  EXPECT_THAT(several("count: 13"), HasSubstr("stage \"a\": 13 is no number of samples\n"));
  EXPECT_THAT(several("count: 14"), HasSubstr("stage \"a\": thrown\n"));
}

}  // namespace
}  // namespace brigade
