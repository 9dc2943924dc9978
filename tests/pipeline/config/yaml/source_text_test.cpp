#include "pipeline/config/yaml/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ReadSource : public testing::Test {
 protected:
  std::string write(const std::string& bytes) const {
    const fs::path path = folder_ / "graph.yaml";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string error_of(const std::string& bytes) const {
    return message_of(read_source(write(bytes)));
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(ReadSource, GivesTheTextWithoutAByteOrderMark) {
  EXPECT_EQ(read_source(write("a: 1\n")).value(), "a: 1\n");
  EXPECT_EQ(read_source(write("\xEF\xBB\xBF"
                              "a: ä\n"))
                .value(),
            "a: ä\n");
}

TEST_F(ReadSource, SaysWhyAFileIsNoText) {
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of(" \n\n"), HasSubstr("is empty"));
  EXPECT_THAT(error_of(std::string("a: 1\nb: \0", 9)), HasSubstr("line 2 has a control character"));
  EXPECT_THAT(error_of("a: \x04"), HasSubstr("control character (byte 4)"));
  EXPECT_THAT(error_of("a: 1\n\xFC: 2\n"), HasSubstr("not UTF-8: line 2 has the byte 252"));
  EXPECT_THAT(error_of("\xFF\xFE"
                       "a"),
              HasSubstr("UTF-16"));
}

TEST_F(ReadSource, KnowsBinaryFilesAtSight) {
  const char* const binary = "is a binary file, expected YAML; is this the right file?";
  EXPECT_EQ(error_of(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x1c\0\0\0\x1c", 24)), binary);
  EXPECT_EQ(error_of(std::string("\x1f\x8b\x08\x08\xbf\x05\x9b\x59\0\x03train-ima", 19)), binary);
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0",
                                 18)),
            binary);
}

TEST_F(ReadSource, LineEndsAreThoseOfUnixOrWindows) {
  EXPECT_EQ(read_source(write("a: 1\r\nb: 2\r\n")).value(), "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(error_of("a: 1\rb: 2\r"),
            "line 1 ends in a carriage return alone; save it with LF or CRLF line ends");
}

TEST_F(ReadSource, RefusesBrokenUtf8) {
  for (const std::string bytes : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                  "\xF0\x80\x80\x80", "\xE2\x82", "\x80"})
    EXPECT_FALSE(check_source("a: " + bytes)) << testing::PrintToString(bytes);
  EXPECT_TRUE(check_source("a: \xE2\x82\xAC \xF0\x9F\x90\x8E"));
}

TEST_F(ReadSource, RefusesWhatIsNoFile) {
  EXPECT_THAT(read_source(folder_).error().message, HasSubstr("is a folder"));
  EXPECT_THAT(read_source("/dev/null").error().message, HasSubstr("is a device"));
  EXPECT_EQ(read_source(folder_ / "nothing").error().message, "no such file");
}

TEST_F(ReadSource, DoesNotHangOnAPipeThatNobodyWritesTo) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_source(pipe).error().message, HasSubstr("is a pipe"));
}

TEST_F(ReadSource, RefusesTenMegabytesInOneLine) {
  const std::string message = error_of(std::string(10 << 20, 'a'));
  EXPECT_THAT(message, HasSubstr("10.0 MiB"));
  EXPECT_THAT(message, HasSubstr("1.0 MiB"));
  EXPECT_EQ(message.find('\n'), message.npos);
}

TEST(SourceText, GivesLinesByTheirNumber) {
  SourceText source;
  const int file = source.add({"a.yaml", "one\r\ntwo\n\nfour", "/"});
  EXPECT_EQ(source.lines(file), 4);
  EXPECT_EQ(source.line({file, 1, 1}), "one");
  EXPECT_EQ(source.line({file, 2, 1}), "two");
  EXPECT_EQ(source.line({file, 3, 1}), "");
  EXPECT_EQ(source.line({file, 4, 1}), "four");
  EXPECT_EQ(source.line({file, 5, 1}), "");
  EXPECT_EQ(source.line({file, 0, 1}), "");
  EXPECT_EQ(source.line({-1, 1, 1}), "");
}

}  // namespace
}  // namespace brigade
