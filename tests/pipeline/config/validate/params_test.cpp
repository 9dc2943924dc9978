#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(ValidateParams, EachFileIsReadOnce) {
  LoadText load;
  const auto loaded =
      load(with_stages("  again: {producer: idx_images, params: {images: /data/train-images.gz}}\n"
                       "  show: {consumer: count, from: [images, again], join: zip}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(load.metadata.reads, 1);
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

}  // namespace
}  // namespace brigade
