#include "stages/image/index/shard_scan.h"

#include <gtest/gtest.h>

#include "tests/support/images/tar_files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

const TarFields kFields{{"jpg", "png"}, {"cls"}, "", {"txt"}};

Result<ShardScan> scan(const std::string& archive, const TarFields& fields = kFields,
                       const ClassNames* classes = nullptr) {
  return scan_shard_bytes(
      [&archive](std::uint64_t offset, std::size_t size) -> Result<std::string_view> {
        return std::string_view(archive).substr(std::min<std::size_t>(offset, archive.size()),
                                                size);
      },
      archive.size(), fields, classes);
}

TEST(ShardScan, NeighboursOfOneKeyAreASample) {
  const auto found = scan(tar_member("x/1.jpg", "JPEG") + tar_member("x/1.cls", " 7\n") +
                          tar_member("x/2.CLS", "-8") + tar_member("x/2.txt", "words") +
                          tar_member("x/2.PNG", "PNG..") + tar_end());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->keys, "x/1x/2");
  ASSERT_EQ(found->samples.size(), 2u);
  const TarSample& first = found->samples[0];
  EXPECT_EQ(std::tie(first.offset, first.size, first.label, first.key_at, first.key_bytes),
            std::make_tuple(512u, 4u, 7, 0u, 3u));
  const TarSample& second = found->samples[1];
  EXPECT_EQ(std::tie(second.offset, second.size, second.label, second.key_at, second.image),
            std::make_tuple(4608u, 5u, -8, 3u, 1));
  EXPECT_EQ(found->extras[0][0].offset, 0u) << "it has none";
  EXPECT_EQ(found->extras[0][1].offset, 3584u);
  EXPECT_EQ(found->extras[0][1].size, 5u);
}

TEST(ShardScan, WhatIsNoSampleIsCounted) {
  const auto found =
      scan(tar_member("a.jpg", "x") + tar_member("a.cls", "1") + tar_member("b.image.jpg", "x") +
           tar_member("b.label.cls", "1") + tar_member("c.image.jpg", "x") +
           tar_member("c.label.cls", "1") + tar_member("d.json", "{}") + tar_member("README", "x") +
           tar_member("x/._a.jpg", "x") + tar_member("x/", "", {.type = '5'}) +
           tar_member("e.jpg", "", {.type = '1'}) + tar_end());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->samples.size(), 1u);
  EXPECT_EQ(found->skipped.list(),
            (std::vector<SkippedInputs>{
                {SkipReason::no_match, 1, "members without an extension (\"README\")"},
                {SkipReason::hidden, 1, "hidden members"},
                {SkipReason::no_file, 1, "members that are links or devices (\".jpg\")"}}));
}

TEST(ShardScan, KeysThatAreNoSamplesAreToldWithTheirExtensions) {
  const auto found =
      scan(tar_member("a.jpg", "x") + tar_member("a.cls", "1") + tar_member("b.image.jpg", "x") +
           tar_member("b.label.cls", "1") + tar_member("c.json", "{}") + tar_end());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->unread.count, 2u);
  EXPECT_EQ(found->unread.extensions, (std::vector<std::string>{"image.jpg", "label.cls", "json"}));
  EXPECT_EQ(found->unread.images, (std::vector<std::string>{"jpg"}));
}

TEST(ShardScan, NamesAreWebDatasets) {
  const auto found = scan(tar_member("./a/b.c/d.jpg", "x") + tar_member("./a/b.c/d.seg.png", "x") +
                          tar_member("__meta__/e.jpg", "x") + tar_member("__meta__.jpg", "x") +
                          tar_member("././f.jpg", "x") + tar_end());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->keys, "./a/b.c/d__meta__././f");
  EXPECT_EQ(found->skipped.list(),
            (std::vector<SkippedInputs>{
                {SkipReason::hidden, 1, "members of metadata (\"__meta__/e.jpg\")"}}));
}

TEST(ShardScan, TheFirstLabelThatAKeyHasCounts) {
  const auto found =
      scan(tar_member("a.jpg", "x") + tar_member("a.txt", "1") + tar_member("a.cls", "2") +
               tar_member("b.txt", "3") + tar_member("b.jpg", "x") + tar_member("c.jpg", "x") +
               tar_member("c.cls", "4") + tar_member("c.txt", "x") + tar_member("d.jpg", "x") +
               tar_member("d.txt", "x") + tar_end(),
           {{"jpg"}, {"cls", "txt"}, "", {}});
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::int64_t> labels;
  for (const TarSample& sample : found->samples) labels.push_back(sample.label);
  EXPECT_EQ(labels, (std::vector<std::int64_t>{2, 3, 4, 1})) << "of the bad one: which member";
  EXPECT_EQ(static_cast<TarState>(found->samples[3].state), TarState::bad_label);
}

TEST(ShardScan, LabelsMayBeNames) {
  const TarFields fields{{"jpg"}, {"cls"}, "", {}, true};
  const std::string archive =
      tar_member("a.jpg", "x") + tar_member("a.cls", "dog\n") + tar_member("b.jpg", "x") +
      tar_member("b.cls", "cat") + tar_member("c.jpg", "x") + tar_member("c.cls", "dog") +
      tar_member("d.jpg", "x") + tar_member("d.cls", "two\nlines") + tar_end();
  const auto labels = [&](const ClassNames* classes) {
    const auto found = scan(archive, fields, classes).value();
    std::vector<std::int64_t> all;
    for (const TarSample& sample : found.samples)
      all.push_back(static_cast<TarState>(sample.state) == TarState::good ? sample.label : -1);
    return all;
  };
  EXPECT_EQ(labels(nullptr), (std::vector<std::int64_t>{0, 1, 0, -1})) << "as they come";
  EXPECT_EQ(scan(archive, fields).value().names, (std::vector<std::string>{"dog", "cat"}));
  const ClassNames classes = ClassNames::of_lines("wolf\ncat\n").value();
  EXPECT_EQ(labels(&classes), (std::vector<std::int64_t>{-1, 1, -1, -1}));
}

TEST(ShardScan, MoreNamesThanClassesCanHaveAreRefused) {
  const TarFields fields{{"jpg"}, {"cls"}, "", {}, true};
  std::string archive;
  for (std::size_t i = 0; i <= kClassNamesMax; ++i) {
    const std::string key = std::to_string(i);
    archive += tar_member(key + ".jpg", "x") + tar_member(key + ".cls", key);
  }
  EXPECT_EQ(message_of(scan(archive + tar_end(), fields)),
            "has more than 65,536 different labels; are they names of classes?");
  archive.resize(archive.size() - 4 * 512);
  EXPECT_EQ(scan(archive + tar_end(), fields).value().names.size(), kClassNamesMax);
}

TEST(ShardScan, WhatLacksAPartKeepsItsNumber) {
  const auto found =
      scan(tar_member("a.cls", "1") + tar_member("b.jpg", "x") + tar_member("c.jpg", "") +
           tar_member("c.cls", "1") + tar_member("d.jpg", "x") + tar_member("d.cls", "cat") +
           tar_member("e.jpg", "x") + tar_member("e.cls", "5") + tar_end());
  ASSERT_TRUE(found);
  std::vector<TarState> states;
  for (const TarSample& sample : found->samples)
    states.push_back(static_cast<TarState>(sample.state));
  EXPECT_EQ(states,
            (std::vector<TarState>{TarState::no_image, TarState::no_label, TarState::empty_image,
                                   TarState::bad_label, TarState::good}));
  EXPECT_EQ(found->samples[3].offset, 4608u + 512u) << "where the label is";
}

TEST(ShardScan, LabelsMayBeFieldsOfJson) {
  const TarFields fields{{"jpg"}, {"json"}, "meta.class", {"json"}};
  const auto found =
      scan(tar_member("a.jpg", "x") + tar_member("a.json", R"({"meta": {"class": 5}})") +
               tar_member("b.jpg", "x") + tar_member("b.json", R"({"meta": {"class": "dog"}})") +
               tar_end(),
           fields);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->samples[0].label, 5);
  EXPECT_EQ(static_cast<TarState>(found->samples[1].state), TarState::bad_label);
  EXPECT_EQ(found->extras[0][0].size, 22u);
}

TEST(ShardScan, OnlyMembersThatAreJsonAreReadAsJson) {
  const std::string members = tar_member("a.jpg", "x") + tar_member("a.cls", "3") +
                              tar_member("b.jpg", "x") +
                              tar_member("b.meta.json", R"({"label": 4})") + tar_end();
  const auto found = scan(members, {{"jpg"}, {"cls", "meta.json"}, "label", {}});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->samples.size(), 2u);
  for (const std::int64_t i : {0, 1}) {
    EXPECT_EQ(static_cast<TarState>(found->samples[static_cast<std::size_t>(i)].state),
              TarState::good);
    EXPECT_EQ(found->samples[static_cast<std::size_t>(i)].label, 3 + i);
  }
}

TEST(ShardScan, LabelsNeedNotBeWanted) {
  const auto found = scan(tar_member("a.jpg", "x") + tar_end(), {{"jpg"}, {}, "", {}});
  ASSERT_TRUE(found);
  EXPECT_EQ(static_cast<TarState>(found->samples[0].state), TarState::good);
}

TEST(ShardScan, ErrorsOfFilesNameThem) {
  TemporaryFolder folder;
  const std::string path = folder.write("s.tar", tar_member("a.jpg", "x"));
  EXPECT_EQ(scan_shard(path, kFields).error().message,
            path +
                ": ends without the empty block that ends an archive; is the download "
                "complete?");
  EXPECT_EQ(scan_shard(path + ".none", kFields).error().message,
            path + ".none: cannot open: No such file or directory");
  EXPECT_EQ(scan_shard(folder.path(), kFields).error().message,
            folder.path().string() + ": expected a regular file");
}

TEST(ShardScan, AFileIsReadAsItsBytesAre) {
  TemporaryFolder folder;
  std::string archive;
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    archive += tar_member(key + ".jpg", std::string(static_cast<std::size_t>(i * 997), 'x'));
    archive += tar_member(key + ".cls", key);
  }
  archive += tar_end();
  const auto of_file = scan_shard(folder.write("s.tar", archive), kFields);
  const auto of_bytes = scan(archive);
  ASSERT_TRUE(of_file && of_bytes);
  EXPECT_EQ(of_file->keys, of_bytes->keys);
  EXPECT_EQ(of_file->bytes, archive.size());
  ASSERT_EQ(of_file->samples.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(of_file->samples[i].offset, of_bytes->samples[i].offset);
    EXPECT_EQ(of_file->samples[i].label, i == 0 ? 0 : static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace brigade
