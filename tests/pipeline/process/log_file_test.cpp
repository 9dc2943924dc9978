#include "pipeline/process/log_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LogFile, LinesHaveTheirTimeAndLevelInFront) {
  const std::string line = logged(LogLevel::warning, "few cores");
  EXPECT_EQ(line.size(), std::string("2026-01-31T23:59:59.123Z warning few cores").size());
  EXPECT_TRUE(line.ends_with("Z warning few cores")) << line;
}

TEST(LogFile, IsAppendedTo) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "run.log";
  for (const char* text : {"one\n", "two\n"}) {
    const auto log = LogFile::open(path);
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(write(log->fd.get(), text, 4), 4);
  }
  EXPECT_EQ(text_of(path), "one\ntwo\n");
}

TEST(LogFile, ThatCannotBeWrittenIsAnError) {
  const auto log = LogFile::open("/nowhere/at/all/run.log");
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message,
            "the log file: cannot write /nowhere/at/all/run.log: No such file or directory");
}

TEST(LogFile, TimesAreUtc) {
  EXPECT_EQ(utc_text(0, 0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(1769903999, 7), "2026-01-31T23:59:59.007Z");
}

}  // namespace
}  // namespace brigade
