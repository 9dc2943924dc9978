#include "pipeline/report/line_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include <brigade/text.h>
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Rank = LineWriter::Rank;

std::string lost(std::uint64_t lines) { return concat("lost ", lines, "\n"); }

struct WritingLines : testing::Test {
  OwnedFd reader;
  std::unique_ptr<LineWriter> writer;

  void start(int flags = 0, bool live = false) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | flags), 0);
    reader.reset(ends[0]);
    fcntl(ends[0], F_SETFL, 0);
    writer = LineWriter::start({OwnedFd(ends[1]), live, lost}).value();
  }
  /// So much that the pipe takes nothing any more.
  void fill() {
    const std::string line = std::string(999, 'x') + '\n';
    for (int i = 0; i < 200; ++i) writer->line(Rank::output, line);
    while (writer->flush()) {
    }
  }
  /// All that is there and comes until the writer has gone.
  std::string read_all() {
    std::thread end([this] {
      while (!writer->flush()) {  // until somebody has begun to read
      }
      writer.reset();
    });
    std::string text;
    char bytes[4096];
    for (ssize_t count = 1; count > 0;) {
      count = read(reader.get(), bytes, sizeof bytes);
      if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
    }
    end.join();
    return text;
  }
};

TEST_F(WritingLines, LinesComeInTheOrderOfTheCalls) {
  start();
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    std::thread([&] { writer->line(Rank::output, concat(i, '\n')); }).join();
    expected += concat(i, '\n');
  }
  EXPECT_TRUE(writer->flush());
  EXPECT_EQ(read_all(), expected);
}

TEST_F(WritingLines, WhatDoesNotFitIsCountedAndSaidInItsPlace) {
  start();
  fill();
  const std::string line = std::string(999, 'y') + '\n';
  constexpr std::uint64_t kLines = 2 * kLinesWaitingBytesMax / 1000;
  for (std::uint64_t i = 0; i < kLines; ++i) writer->line(Rank::output, line);
  writer->line(Rank::note, "the note\n");
  const std::string text = read_all();
  const auto came = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), 'y')) / 999;
  EXPECT_LT(came, kLines);
  EXPECT_THAT(text, EndsWith(concat(line, lost(kLines - came), "the note\n")));
}

TEST_F(WritingLines, WhoTalksMostLeavesRoomForWhatMattersMore) {
  start();
  fill();
  for (const Rank rank : {Rank::output, Rank::note})
    for (std::size_t i = 0; i < kLinesWaitingBytesMax / 1000; ++i)
      writer->line(rank, std::string(999, rank == Rank::output ? 'o' : 'n') + '\n');
  writer->line(Rank::error, "why it failed\n");
  const std::string text = read_all();
  EXPECT_NE(text.find("nnn\n"), text.npos);
  EXPECT_TRUE(text.ends_with("why it failed\n"));
}

TEST_F(WritingLines, OfProgressOnlyTheNewestWaits) {
  start();
  fill();
  for (int i = 0; i < 100; ++i) writer->progress(concat("step ", i));
  writer->line(Rank::note, "after it\n");
  EXPECT_THAT(read_all(), EndsWith("x\nstep 99\nafter it\n"));
}

TEST_F(WritingLines, OnATerminalProgressIsWrittenOver) {
  start(0, true);
  writer->progress("one");
  writer->flush();  // leaves it standing
  writer->progress("two");
  writer->line(Rank::note, "note\n");
  writer->flush();
  writer->progress("three");
  EXPECT_EQ(read_all(), "\r\033[Kone\n\r\033[Ktwo\r\033[Knote\n\r\033[Kthree\n");
}

TEST_F(WritingLines, ANonBlockingReaderThatIsSlowGetsEverything) {
  start(O_NONBLOCK);
  fill();
  writer->line(Rank::note, "the last\n");
  EXPECT_THAT(read_all(), EndsWith("x\nthe last\n"));
}

TEST_F(WritingLines, AReaderThatTakesNothingDoesNotHoldUpTheEnd) {
  start();
  fill();
  EXPECT_FALSE(writer->flush());
  writer.reset();
}

TEST_F(WritingLines, AReaderThatHasGoneIsAFailureThatIsToldOnce) {
  start();
  reader.reset();
  for (int i = 0; i < 3; ++i) {
    writer->line(Rank::note, "nobody reads this\n");
    EXPECT_TRUE(writer->flush());
    EXPECT_EQ(writer->take_failure(), i == 0 ? EPIPE : 0);
  }
}

// A file that may not grow stands for a disk that is full for a while.
TEST_F(WritingLines, AFileThatCannotBeWrittenForAWhileSaysWhatItLacks) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "lines";
  OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  writer = LineWriter::start({std::move(file), false, lost}).value();
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{7, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  for (const char* line : {"one\n", "two two\n", "three\n"}) {
    writer->line(Rank::note, line);
    EXPECT_TRUE(writer->flush());
  }
  EXPECT_EQ(writer->take_failure(), EFBIG);
  setrlimit(RLIMIT_FSIZE, &limit);
  writer->line(Rank::note, "four\n");
  EXPECT_TRUE(writer->flush());
  EXPECT_EQ(writer->take_failure(), 0);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "one\ntwo\nlost 2\nfour\n");
}

}  // namespace
}  // namespace brigade
