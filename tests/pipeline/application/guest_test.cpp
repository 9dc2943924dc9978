// A run is a guest in the program that starts it: what is the program's own stays as it is. That it
// leaves nothing behind, however the program ends: python/tests/programs_test.py.

#include <brigade/pipeline.h>

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

const std::string kEndless =
    "epochs: 1000000\n"
    "stages:\n"
    "  numbers: {producer: synthetic, params: {count: 1000, shape: [3]}}\n"
    "  work: {transform: passthrough, from: numbers, replicas: 2, batch: 16}\n"
    "  train: {consumer: application, from: work}\n";

std::set<int> numbers_in(const char* folder) {
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      numbers.insert(number);
  }
  return numbers;
}

/// Descriptors that are open, with their flags.
std::map<int, int> descriptors() {
  std::map<int, int> open;
  for (const int fd : numbers_in("/proc/self/fd"))
    if (const int flags = fcntl(fd, F_GETFD); flags >= 0) open[fd] = flags;
  return open;
}

/// Handlers, mask, limits, environment, folder, mode of new files; without descriptors.
std::string own_things() {
  std::string text;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    text += concat(number, ":", reinterpret_cast<std::uintptr_t>(action.sa_handler), " ");
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < NSIG; ++number) text += sigismember(&mask, number) == 1 ? 'x' : '.';
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    text += concat("\n", resource, ":", limit.rlim_cur, ":", limit.rlim_max);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) text += concat("\n", *entry);
  const mode_t mode = umask(0);
  umask(mode);
  return concat(text, "\n", std::filesystem::current_path().string(), "\n", mode);
}

std::set<std::string> shared_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (entry.path().string().find("brigade") != std::string::npos) names.insert(entry.path());
  return names;
}

TEST(GuestRun, TouchesNothingOfTheProgram) {
  const Program program{};
  const std::string before = own_things();
  const std::map<int, int> open = descriptors();
  const std::set<int> threads = numbers_in("/proc/self/task");
  {
    auto run = program.start(kEndless, false);
    Output train = run->output("train");
    const std::optional<Batch> batch = train.next().value();
    EXPECT_EQ(own_things(), before);
    EXPECT_EQ(shared_names(), std::set<std::string>{});  // memory has no name
    std::size_t ours = 0;
    for (const auto& [fd, flags] : descriptors()) {
      if (open.contains(fd)) continue;
      ++ours;
      EXPECT_TRUE(flags & FD_CLOEXEC)
          << fd << ": " << std::filesystem::read_symlink(concat("/proc/self/fd/", fd));
    }
    EXPECT_GT(ours, 5u);  // control: they are seen
  }
  EXPECT_EQ(own_things(), before);
  EXPECT_EQ(descriptors(), open);
  EXPECT_EQ(numbers_in("/proc/self/task"), threads);
}

TEST(GuestRun, ControlAChangeIsSeen) {
  const std::string before = own_things();
  struct sigaction action {};
  sigaction(SIGCHLD, nullptr, &action);
  signal(SIGCHLD, SIG_IGN);
  EXPECT_NE(own_things(), before);
  sigaction(SIGCHLD, &action, nullptr);
  EXPECT_EQ(own_things(), before);
}

}  // namespace
}  // namespace brigade
