#include "pipeline/run/launch/worker_output.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <brigade/text.h>
#include "pipeline/worker/crash_handler.h"
#include "tests/support/elf_file.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Backtraces, HaveNamesAsTheyAreWritten) {
  Backtraces backtraces;
  EXPECT_EQ(backtraces.readable("backtrace: /a/lib.so(_ZN7brigade5Stage4openEi+0x1f) [0x7f01]"),
            "backtrace: /a/lib.so(brigade::Stage::open(int)+0x1f) [0x7f01]");
  EXPECT_EQ(backtraces.readable("backtrace: lib.so(_Z4stepv"), "backtrace: lib.so(step()");
}

TEST(Backtraces, LeaveTheRestAlone) {
  Backtraces backtraces;
  for (const char* line :
       {"backtrace: /lib/libc.so.6(abort+0xd3) [0x7f01]", "backtrace: prog(+0x1234) [0x1]",
        "backtrace: /no/such(+0x1234)", "backtrace: /proc/self/exe(+0xnumber)",
        "backtrace: /proc/self/exe(+0xffffffffffffffffff)", "backtrace: /proc/self/exe(+0x0)",
        "backtrace: /(+0x", "backtrace: prog(_Znonsense+0x1) [0x1]", "backtrace: ", "",
        "backtrace: (_Z", "its own line (_Z4stepv)"}) {
    EXPECT_EQ(backtraces.readable(line), line);
  }
}

TEST(Backtraces, AreShownOnceEach) {
  Backtraces backtraces;
  const auto crash = [&backtraces](int worker, const std::string& place) {
    EXPECT_THAT(backtraces.add(worker, "backtrace: a(+0x1)"), IsEmpty());
    EXPECT_THAT(backtraces.add(worker, "backtrace: " + place), IsEmpty());
    return backtraces.end(worker);
  };
  EXPECT_THAT(crash(0, "b(+0x2)"), ElementsAre("backtrace: a(+0x1)", "backtrace: b(+0x2)"));
  EXPECT_THAT(crash(0, "b(+0x2)"), ElementsAre("backtrace: the same as above (2 lines)"));
  EXPECT_THAT(crash(1, "b(+0x2)"), ElementsAre("backtrace: the same as above (2 lines)"));
  EXPECT_THAT(crash(0, "b(+0x3)"), ElementsAre("backtrace: a(+0x1)", "backtrace: b(+0x3)"));
  EXPECT_THAT(backtraces.end(0), IsEmpty());
}

TEST(Backtraces, ComeBeforeWhatIsPrintedBehindThem) {
  Backtraces backtraces;
  EXPECT_THAT(backtraces.add(0, "first"), ElementsAre("first"));
  EXPECT_THAT(backtraces.add(0, "backtrace: a(+0x1)"), IsEmpty());
  EXPECT_THAT(backtraces.add(1, "another's"), ElementsAre("another's"));
  EXPECT_THAT(backtraces.add(0, "last"), ElementsAre("backtrace: a(+0x1)", "last"));
}

TEST(Backtraces, OneWithoutEndIsShownAsItComes) {
  Backtraces backtraces;
  std::size_t shown = 0;
  for (int i = 0; i < 1000; ++i) shown += backtraces.add(0, "backtrace: x").size();
  shown += backtraces.end(0).size();
  EXPECT_GT(shown, 10u);
  EXPECT_LT(shown, 1001u);
}

TEST(Backtraces, KnowTheInstructionThatASignalStopped) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", elf_file_with_tables({"_Z4stepv"}));
  const std::string first_of_it = concat(kBacktracePrefix, file, "(+0x1000)");
  const std::string behind_it = concat(kBacktracePrefix, file, "(+0x1010)");
  const std::string named = concat(kBacktracePrefix, file, "(step()+0x");
  Backtraces backtraces;
  for (const std::string& line : {behind_it, behind_it, first_of_it}) backtraces.add(0, line);
  EXPECT_THAT(backtraces.end(0), ElementsAre(named + "10)", behind_it, named + "0)"));
  EXPECT_EQ(backtraces.readable(first_of_it, true), named + "0)");
}

/// What a child writes to its standard error before it ends.
std::string printed_by(void (*run)()) {
  int fds[2];
  if (pipe(fds) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(fds[1], STDERR_FILENO);
    run();
    _exit(0);
  }
  close(fds[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(fds[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  close(fds[0]);
  waitpid(child, nullptr, 0);
  return text;
}

TEST(BacktracesDeathTest, NameLibrariesThatAreLoadedByARelativePath) {
  // A copy of one that writes through a pointer of its caller.
  static const TemporaryFolder folder;
  Dl_info math{};
  void* const handle = dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(handle, nullptr);
  ASSERT_NE(dladdr(dlsym(handle, "lgamma_r"), &math), 0);
  std::filesystem::copy_file(math.dli_fname, folder.path() / "copy.so");
  const std::string text = printed_by([] {
    if (chdir(folder.path().c_str()) != 0) return;
    void* const copy = dlopen("./copy.so", RTLD_NOW);
    if (copy == nullptr) return;
    const auto lgamma_of = reinterpret_cast<double (*)(double, int*)>(dlsym(copy, "lgamma_r"));
    install_crash_handler();
    if (lgamma_of != nullptr) lgamma_of(1.5, nullptr);
  });
  if (text.find(kBacktracePrefix) == text.npos) GTEST_SKIP() << "another handler is there";
  EXPECT_THAT(text, HasSubstr("backtrace: ./copy.so("));
}

[[noreturn, gnu::noinline]] void crash_in_here() {
  install_crash_handler();
  abort();
}

TEST(BacktracesDeathTest, HaveNamesThatAreNotExported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string text = printed_by([] { crash_in_here(); });
  if (text.find(kBacktracePrefix) == text.npos) GTEST_SKIP() << "another handler is there";
  EXPECT_THAT(text, Not(HasSubstr("crash_in_here")));
  std::string all;
  Backtraces backtraces;
  for (const std::string_view line : split(text, '\n'))
    all += backtraces.readable(std::string(line)) + "\n";
  EXPECT_THAT(all, HasSubstr("crash_in_here()+0x"));
}

using Lines = std::vector<std::string>;

TEST(LineSplitter, AreCompleteWhateverPiecesTheyComeIn) {
  LineSplitter lines;
  EXPECT_EQ(lines.add("on"), Lines{});
  EXPECT_EQ(lines.add("e\ntwo\nth"), (Lines{"one", "two"}));
  EXPECT_EQ(lines.add("ree"), Lines{});
  EXPECT_EQ(lines.rest(), "three");
  EXPECT_EQ(lines.rest(), "");
}

TEST(LineSplitter, EmptyLinesAreKept) {
  LineSplitter lines;
  EXPECT_EQ(lines.add("\n\na\n"), (Lines{"", "", "a"}));
}

TEST(LineSplitter, AreCutWhereTheyDoNotEnd) {
  LineSplitter lines;
  const Lines cut = lines.add(std::string(2 * kOutputLineBytesMax + 1, 'x'));
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].size(), kOutputLineBytesMax);
  EXPECT_EQ(lines.rest(), "x");
}

TEST(LineSplitter, AProgressBarLeavesItsLastState) {
  LineSplitter lines;
  EXPECT_EQ(lines.add("10 %\r50 %\r100 %\ndone\r\n"), (Lines{"100 %", "done"}));
}

}  // namespace
}  // namespace brigade
