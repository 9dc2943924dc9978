#include "pipeline/report/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/io.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

/// Until nothing more comes: a terminal hands on what was written later, in pieces. `expected`:
/// bytes that are waited for.
std::string read_available(int fd, std::size_t expected = 0) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::string text;
  pollfd ready{fd, POLLIN, 0};
  const auto patience_ms = [&] { return text.size() < expected ? 60'000 : 200; };
  while (poll(&ready, 1, patience_ms()) == 1 && (ready.revents & POLLIN) != 0) {
    char bytes[4096];
    const ssize_t count = read(fd, bytes, sizeof bytes);
    if (count <= 0) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

TEST(Console, WithoutATerminalEverythingIsALine) {
  const Pipe pipe;
  {
    const auto console = Console::create(pipe.ends[1], false).value();
    EXPECT_EQ(console->progress_every_ns(), kPlainEveryNs);
    console->tell({.kind = EventKind::logged, .stage = "train", .message = "hello"});
    console->tell({.kind = EventKind::progress, .message = "epoch 1/3"});
    console->warn("few cores");
    console->error("it broke");
  }
  EXPECT_EQ(read_available(pipe.ends[0]),
            "train: hello\nepoch 1/3\nbrigade: warning: few cores\nbrigade: error: it broke\n");
}

TEST(Console, QuietShowsWarningsAndErrorsOnly) {
  const Pipe pipe;
  const auto console = Console::create(pipe.ends[1], true).value();
  EXPECT_EQ(console->progress_every_ns(), 0);
  console->tell({.kind = EventKind::logged, .stage = "train", .message = "hello"});
  console->note("stopping");
  console->warn("few cores");
  console->flush();
  EXPECT_EQ(read_available(pipe.ends[0]), "brigade: warning: few cores\n");
}

TEST(Console, OnATerminalProgressIsOneLineThatIsWrittenOver) {
  int outer = -1;
  int inner = -1;
  ASSERT_EQ(openpty(&outer, &inner, nullptr, nullptr, nullptr), 0);
  const winsize size{24, 20, 0, 0};
  ioctl(inner, TIOCSWINSZ, &size);
  {
    const auto console = Console::create(inner, false).value();
    EXPECT_EQ(console->progress_every_ns(), kLiveEveryNs);
    console->tell({.kind = EventKind::progress, .message = "epoch 1/3"});
    console->flush();
    console->tell({.kind = EventKind::progress, .message = "epoch 2/3 and much more than fits"});
    console->note("hm");
    console->flush();
    console->tell({.kind = EventKind::progress, .message = "epoch 3/3"});
  }
  const std::string expected =
      "\r\033[Kepoch 1/3\r\n\r\033[Kepoch 2/3 and mu...\r\033[Kbrigade: hm\r\n"
      "\r\033[Kepoch 3/3\r\n";
  EXPECT_EQ(read_available(outer, expected.size()), expected);
  close(outer);
  close(inner);
}

TEST(Console, TheLogFileGetsEverything) {
  const TemporaryFolder folder;
  const Pipe pipe;
  const auto console =
      Console::create(pipe.ends[1], true, LogFile::open(folder.path() / "log").value()).value();
  console->tell({.kind = EventKind::logged, .stage = "train", .message = "hello"});
  console->error("it broke");
  console->flush();
  std::ostringstream text;
  text << std::ifstream(folder.path() / "log").rdbuf();
  EXPECT_NE(text.str().find("info train: hello\n"), std::string::npos);
  EXPECT_NE(text.str().find("error it broke\n"), std::string::npos);
}

TEST(Console, ALogFileThatCannotBeWrittenIsSaidOnce) {
  const Pipe pipe;
  const auto console =
      Console::create(pipe.ends[1], true, LogFile::open("/dev/full").value()).value();
  for (const char* line : {"one", "two"}) {
    console->note(line);
    console->flush();
  }
  EXPECT_EQ(read_available(pipe.ends[0]),
            "brigade: warning: cannot write the log file /dev/full: No space left on device; lines "
            "are missing until it is writable\n");
}

TEST(Console, AReaderThatHasGoneIsNoError) {
  Pipe pipe;
  close(pipe.ends[0]);
  const auto console = Console::create(pipe.ends[1], false).value();
  console->error("nobody reads this");
  pipe.ends[0] = -1;
}

TEST(Console, WidthIsCountedInCharacters) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdefg", 6), "abc...");
  EXPECT_EQ(cut_to_width("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "\xc3\xa9...");
}

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

TEST(ConsoleDeathTest, WhereNoThreadStartsIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program then";
#endif
  const auto create = [] {
    const rlimit none{1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);    // no room for another stack
    for (int i = 0; i < 64; ++i) {  // some are left from threads that have ended
      auto console = Console::create(STDERR_FILENO, false);
      if (console) {
        console->release();
        continue;
      }
      write_all(STDERR_FILENO, console.error().message);
      _exit(0);
    }
    _exit(1);
  };
  EXPECT_EXIT(create(), testing::ExitedWithCode(0), "cannot start a thread: ");
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
