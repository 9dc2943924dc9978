#include "base/forked.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace brigade {
namespace {

/// The exit status of a child that does `work`.
template <class Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's would report it
    work();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ForkMark, IsOfOneProcess) {
  const ForkMark mark;
  EXPECT_FALSE(mark.in_child());
  const int status = in_child([&mark] {
    const ForkMark own;
    if (!mark.in_child() || own.in_child()) _exit(1);
    _exit(in_child([&] { _exit(mark.in_child() && own.in_child() ? 0 : 1); }) == 0 ? 0 : 2);
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(mark.in_child());
}

TEST(ReadOnlyInChildren, ParentsMayWriteAndChildrenReadOnly) {
  const std::size_t bytes = 1 << 16;
  auto* const data = static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(data, MAP_FAILED);
  const auto read = [data] { _exit(data[100] == std::byte{7} ? 0 : 1); };
  const auto write = [data] { data[100] = std::byte{8}; };
  {
    const ReadOnlyInChildren memory(data, bytes);
    data[100] = std::byte{7};
    EXPECT_EQ(in_child(read), 0);
    const int status = in_child(write);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
    EXPECT_EQ(data[100], std::byte{7});
    data[100] = std::byte{7};  // as before the fork
  }
  EXPECT_EQ(in_child(write), 0);  // control: they share it
  EXPECT_EQ(data[100], std::byte{8});
  munmap(data, bytes);
}

TEST(KeepForEver, DestroysNothing) {
  struct Loud {
    ~Loud() { ADD_FAILURE() << "it was destroyed"; }
  };
  keep_for_ever(std::make_shared<Loud>());
  keep_for_ever(std::make_shared<Loud>());
}

}  // namespace
}  // namespace brigade
