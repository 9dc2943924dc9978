#include "pipeline/process/quarantine_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace brigade {
namespace {

class QuarantineFileTest : public testing::Test {
 protected:
  QuarantineFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~QuarantineFileTest() override { std::filesystem::remove_all(folder_); }
  std::string text() const {
    std::ifstream file(path());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string path() const { return folder_ + "/line.quarantine.jsonl"; }
  const std::string folder_ = testing::TempDir() + "brigade_quarantine_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(QuarantineFileTest, IsNotMadeBeforeThereIsASample) {
  QuarantineFile file(path());
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(QuarantineFileTest, HasOneLinePerSampleHoweverOftenItIsReported) {
  QuarantineFile file(path());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(file.add("decode", {812, 1, 12, 55, "dog/\"x\".jpg"}).ok());
    ASSERT_TRUE(file.add("augment", {812, 1, 12, 55, ""}).ok());
  }
  EXPECT_EQ(text(),
            "{\"stage\":\"decode\",\"number\":812,\"epoch\":1,\"index\":12,\"id\":55,"
            "\"source\":\"dog/\\\"x\\\".jpg\"}\n"
            "{\"stage\":\"augment\",\"number\":812,\"epoch\":1,\"index\":12,\"id\":55,"
            "\"source\":\"\"}\n");
}

TEST_F(QuarantineFileTest, AnotherRunAddsToIt) {
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(QuarantineFile(path()).add("decode", {1, 0, 1, 1, ""}).ok());
  }
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
}

TEST_F(QuarantineFileTest, SaysWhatCannotBeWritten) {
  QuarantineFile file("/nowhere/at/all.jsonl");
  const auto added = file.add("decode", {1, 0, 1, 1, ""});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(
      added.error().message,
      "the list of samples in quarantine: cannot write /nowhere/at/all.jsonl: No such file or "
      "directory");
}

TEST_F(QuarantineFileTest, WithoutAPathNothingIsWritten) {
  EXPECT_TRUE(QuarantineFile("").add("decode", {1, 0, 1, 1, ""}).ok());
}

TEST(QuarantineFileName, IsAFileInTheWorkingDirectory) {
  EXPECT_EQ(quarantine_file_name("photos"), "photos.quarantine.jsonl");
  EXPECT_EQ(quarantine_file_name("a/b"), "a_b.quarantine.jsonl");
  EXPECT_EQ(quarantine_file_name(""), "brigade.quarantine.jsonl");
}

}  // namespace
}  // namespace brigade
