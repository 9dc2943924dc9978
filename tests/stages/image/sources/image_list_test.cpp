#include "stages/image/sources/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class ImageListTest : public testing::Test {
 protected:
  ImageListTest() { add_image_list(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& text, ParamTexts params = {}) {
    params.emplace_back("file", folder_.write("l.csv", text));
    return StageHarness::open(types_.all()[0], {params, {}, {}});
  }
  std::string error_of(const std::string& text, ParamTexts params = {}) {
    const auto stage = open(text, std::move(params));
    return stage ? "no error" : stage.error().message.substr(root_.size());
  }
  /// "path=label" of all lines; errors where there are such.
  std::string all(const std::string& text, const ParamTexts& params = {}) {
    const auto stage = open(text, params).value();
    std::string out;
    for (std::uint64_t i = 0; i < *stage->producer().size(); ++i) {
      const auto call = stage->read(i);
      if (!call) {
        out += call.error().message.substr(root_.size()) + "|";
        continue;
      }
      const HostTensor& path = (*call)["path"];
      out += std::string(reinterpret_cast<const char*>(path.bytes.data()), path.bytes.size());
      if (stage->outputs().find("label") != nullptr)
        out += "=" + std::to_string((*call)["label"].as<std::int64_t>()[0]);
      out += "|";
    }
    return out;
  }

  StageTypes types_;
  TemporaryFolder folder_;
  const std::string root_ = folder_.path().string() + "/";
};

TEST_F(ImageListTest, PathsAreRelativeToTheTable) {
  EXPECT_EQ(all("path,label\na.jpg,3\n/data/b.jpg,-1\n\n\"c,d.jpg\",2"),
            root_ + "a.jpg=3|/data/b.jpg=-1|" + root_ + "c,d.jpg=2|");
  EXPECT_EQ(all("path,label\na.jpg,3\n", {{"root", "/"}}), "//a.jpg=3|");
  EXPECT_EQ(all("path,label\na.jpg,3\n", {{"root", "/data/"}}), "/data/a.jpg=3|");
}

TEST_F(ImageListTest, ColumnsHaveNamesOrNumbers) {
  EXPECT_EQ(all("id\timage\tclass\n1\t/a\t5\n",
                {{"path", "image"}, {"label", "class"}, {"separator", "\t"}}),
            "/a=5|");
  EXPECT_EQ(all("/a,5\n/b,6\n", {{"header", "false"}}), "/a=5|/b=6|");
  EXPECT_EQ(all("5,x,/a\n", {{"header", "false"}, {"path", "3"}, {"label", "1"}}), "/a=5|");
  EXPECT_EQ(all("/a\n/b\n", {{"header", "false"}, {"label", "none"}}), "/a|/b|");
}

TEST_F(ImageListTest, AColumnNamesTheMaskOfEachImage) {
  const std::string text = "path,label,seg\na.jpg,3,m/a.png\n/b.jpg,1,/m/b.png\nc.jpg,1,\n";
  const auto stage = open(text, {{"mask", "seg"}}).value();
  const auto path_of = [](const HarnessCall& call, const char* name) {
    const HostTensor& path = call[name];
    return std::string(reinterpret_cast<const char*>(path.bytes.data()), path.bytes.size());
  };
  const HarnessCall first = stage->read(0).value();
  EXPECT_EQ(path_of(first, "path"), root_ + "a.jpg");
  EXPECT_EQ(path_of(first, "mask_path"), root_ + "m/a.png");
  EXPECT_EQ(first["label"].as<std::int64_t>()[0], 3);
  EXPECT_EQ(path_of(stage->read(1).value(), "mask_path"), "/m/b.png");
  EXPECT_EQ(stage->read(2).error().message, root_ + "l.csv:4:9: the path is empty");
  EXPECT_EQ(open(text).value()->outputs().find("mask_path"), nullptr);
  EXPECT_EQ(error_of(text, {{"mask", "segm"}}),
            "l.csv: has no column \"segm\"; did you mean \"seg\"?");
  const auto by_number =
      open("/a,5,/m\n", {{"header", "false"}, {"mask", "3"}}).value()->read(0).value();
  EXPECT_EQ(path_of(by_number, "mask_path"), "/m");
}

TEST_F(ImageListTest, NamesOfClassesAreNumberedInSortedOrder) {
  EXPECT_EQ(all("path,label\n/1,dog\n/2,cat\n/3,\"Ape, great\"\n/4, dog \n", {{"labels", "names"}}),
            "/1=2|/2=1|/3=0|/4=2|");
  EXPECT_EQ(error_of("path,label\n/1,\n", {{"labels", "names"}}),
            "l.csv:2:4: expected a label, found nothing");
}

TEST_F(ImageListTest, AFileOrAListSaysTheNumbersOfClasses) {
  const std::string table = "path,label\n/a,dog\n/b,cat\n/c,emu\n";
  const std::string file = folder_.write("classes.txt", "dog\r\nfox\ncat\n");
  EXPECT_EQ(all(table, {{"classes", file}}),
            "/a=0|/b=2|l.csv:4:4: \"emu\" is none of the 3 classes in " + file + "|");
  EXPECT_EQ(all(table, {{"names", "[emu, dog, cat]"}}), "/a=1|/b=2|/c=0|");
  EXPECT_EQ(all(table, {{"names", "[dog]"}}),
            "/a=0|l.csv:3:4: \"cat\" is none of the 1 classes|l.csv:4:4: \"emu\" is none of the 1 "
            "classes|");
  EXPECT_EQ(open(table, {{"names", "[dog]"}, {"classes", file}}).error().message,
            "classes and names both say the numbers of labels; leave one out");
}

TEST_F(ImageListTest, EveryLineIsFoundInAnyOrder) {
  std::string text = "path,label\n";
  for (int i = 0; i < 1000; ++i)
    text += (i % 3 == 0 ? "\r\n" : "") + std::string("/x") + std::to_string(i) + "," +
            std::to_string(i * i) + "\n";
  const auto stage = open(text).value();
  ASSERT_EQ(*stage->producer().size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t line = i * 617 % 1000;
    EXPECT_EQ(stage->read(line).value()["label"].as<std::int64_t>()[0],
              static_cast<std::int64_t>(line * line));
    EXPECT_EQ(stage->producer().describe(line), "/x" + std::to_string(line));
  }
}

TEST_F(ImageListTest, LinesThatAreWrongFailAlone) {
  EXPECT_EQ(all("path,label\n/a,cat\n/b\n,1\n/c,1\n\"/d\"x,1\n/e,\n"),
            "l.csv:2:4: expected a whole number, found \"cat\"; `labels: names` numbers names|"
            "l.csv:3:1: expected 2 fields as in the first line, found 1|"
            "l.csv:4:1: the path is empty|"
            "/c=1|"
            "l.csv:6:5: expected \",\" or the end of the line after a closing quote, found \"x\"|"
            "l.csv:7:4: expected a whole number, found nothing|");
  EXPECT_EQ(all("path,label\n" + std::string(4096, 'p') + ",1\n"),
            "l.csv:2:1: the path is longer than 4095 bytes|");
}

TEST_F(ImageListTest, TheTableIsCheckedBeforeAnythingStarts) {
  EXPECT_EQ(error_of("path,labels\n/a,1\n"),
            "l.csv: has no column \"label\"; did you mean \"labels\"?");
  EXPECT_EQ(error_of("/a\n", {{"header", "false"}}),
            "l.csv: has no column \"2\"; it has 1 (`header: false` numbers them)");
  EXPECT_EQ(error_of("path,label\n"), "l.csv: has no lines with data");
  EXPECT_EQ(error_of("path,label\n\"/a,1\n"), "l.csv:2:1: a quote in this record is never closed");
}

TEST_F(ImageListTest, TheFingerprintIsThatOfTheText) {
  const auto fingerprint = [this](const std::string& text) {
    return open(text).value()->producer().fingerprint();
  };
  const std::uint64_t first = fingerprint("path,label\n/a,1\n");
  EXPECT_EQ(fingerprint("path,label\n/a,1\n"), first);
  EXPECT_NE(fingerprint("path,label\n/a,2\n"), first);
}

TEST_F(ImageListTest, ItsContractCountsTheLinesOfASmallTable) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"file", folder_.write("l.csv", "path,label\n/a,1\n/b,2\n")}};
  const auto params = make_params(contract, texts).value();
  EXPECT_EQ(contract.samples(params.get(), read_metadata(contract, texts)), 2u);
}

using namespace testing_support;

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() { add_image_folder(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& root, ParamTexts more = {},
                                             OpenContext context = {}) {
    more.emplace_back("root", root);
    return StageHarness::open(types_.all()[0], {more, {}, context});
  }

  StageTypes types_;
  TemporaryFolder folder_;
};

std::string text_of(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

TEST_F(ImageFolderTest, GivesPathsAndLabels) {
  const std::string first = folder_.write("cat/1.jpg", "");
  const std::string second = folder_.write("dog/10.png", "");
  for (const char* slash : {"", "/"}) {
    const auto stage = open(folder_.path().string() + slash).value();
    EXPECT_EQ(stage->outputs(), (Ports{{"path", u8, {up_to(4096)}}, {"label", i64, {}}}));
    EXPECT_EQ(*stage->producer().size(), 2u);
    EXPECT_EQ(text_of(stage->read(0).value()["path"]), first);
    const HarnessCall call = stage->read(1).value();
    EXPECT_EQ(text_of(call["path"]), second);
    EXPECT_EQ(call["path"].shape, Shape{static_cast<std::int64_t>(second.size())});
    EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{1});
    EXPECT_EQ(stage->producer().describe(1), "dog/10.png");
  }
}

TEST_F(ImageFolderTest, ItsContractCountsByAnIndexThatStillHolds) {
  namespace fs = std::filesystem;
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg", "data/a/notes.txt"})
    folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"data", "data/a", "data/b"})
    fs::last_write_time(folder_.path() / name, then);
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"index", folder_.path() / "data.index"}, {"root", root + "/"}};
  const auto params = make_params(contract, texts).value();
  const auto samples = [&] {
    return contract.samples(params.get(), read_metadata(contract, texts));
  };
  EXPECT_EQ(samples(), std::nullopt) << "there is none yet";
  open(root, {{"index", texts[0].second}}).value();
  EXPECT_EQ(samples(),
            SampleCount(3, {{SkipReason::no_match, 1, "files that are no images (\".txt\")"}}));
  FileMetadata nobody_looks = read_metadata(contract, texts);
  nobody_looks.stamp = nullptr;
  EXPECT_EQ(contract.samples(params.get(), nobody_looks), std::nullopt);
  folder_.write("data/a/4.jpg", "");
  EXPECT_EQ(samples(), std::nullopt);
}

TEST_F(ImageFolderTest, TheIndexIsKeptAndGivesTheSame) {
  for (const char* name : {"data/b/1.jpg", "data/a/2.jpg", "data/a/3.jpg"}) folder_.write(name, "");
  const std::string root = folder_.path() / "data";
  const ParamTexts index{{"index", (folder_.path() / "data.index").string()}};
  const auto plain = open(root).value();
  const auto kept = open(root, index).value();
  ASSERT_TRUE(std::filesystem::exists(folder_.path() / "data.index"));
  EXPECT_EQ(plain->producer().fingerprint(), kept->producer().fingerprint());
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(plain->read(i).value()["path"]), text_of(kept->read(i).value()["path"]));
    EXPECT_EQ(plain->producer().describe(i), kept->producer().describe(i));
  }
}

TEST_F(ImageFolderTest, ARestartKeepsItsNumbersThoughTheFolderChanged) {
  folder_.write("data/a/2.jpg", "");
  const std::string root = folder_.path() / "data";
  const ParamTexts index{{"index", (folder_.path() / "data.index").string()}};
  open(root, index).value();
  folder_.write("data/a/1.jpg", "");
  OpenContext again;
  again.again = true;
  EXPECT_EQ(open(root, index, again).value()->producer().describe(0), "a/2.jpg");
  EXPECT_EQ(open(root, index).value()->producer().describe(0), "a/1.jpg");
}

// Whether pages come is the kernel's decision (and on a tmpfs they are always there), so this says
// only that nothing else changes: no descriptor is left open, nothing waits, nothing is an error.
TEST(ReadAheadTest, LeavesNothingBehindWhateverLiesThere) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", std::string(300'000, 'x'));
  const std::string pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  for (const std::string& path : {file, pipe, file + ".none", folder.path().string()})
    ReadAhead().file(path);
  const int fd = open(file.c_str(), O_RDONLY);
  EXPECT_EQ(fd, before) << "the lowest free descriptor is the same";
  read_ahead(fd, 4096, 100'000);
  read_ahead(fd, std::uint64_t{1} << 62, 1);
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
  close(fd);
}

TEST(ReadAheadTest, WhatIsInTheCacheIsLookedAtNowAndThen) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", "just written");
  ReadAhead ahead;
  for (int i = 0; i < 80; ++i) ahead.file(file);
  EXPECT_GE(ahead.opened(), 10u);
  EXPECT_LE(ahead.opened(), 80u) << "all, where the file system cannot say what it has";
  ReadAhead off(false);
  for (int i = 0; i < 80; ++i) off.file(file);
  EXPECT_EQ(off.opened(), 0u);
}

TEST(ReadAheadTest, AfterAFileThatIsNotThereAtOnceAllAreLookedAt) {
  TemporaryFolder folder;
  // A folder cannot be read at all: as good as one that is not in the cache.
  ReadAhead ahead;
  ahead.file(folder.path());
  const std::string file = folder.write("a.jpg", "just written");
  for (int i = 0; i < 63; ++i) ahead.file(file);
  EXPECT_EQ(ahead.opened(), 64u);
}

}  // namespace
}  // namespace brigade
