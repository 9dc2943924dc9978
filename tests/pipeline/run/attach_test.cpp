#include "pipeline/run/attach.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <brigade/text.h>
#include "pipeline/plan/plan_json.h"
#include "tests/support/message_of.h"
#include "tests/support/small_plan.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::vector<RunningGraph> of_this_process() {
  std::vector<RunningGraph> graphs = find_graphs().running;
  std::erase_if(graphs, [](const RunningGraph& graph) { return graph.pid != getpid(); });
  return graphs;
}

RunningGraph graph_of(const SharedSegments& segments) {
  return {getpid(), concat("/proc/self/fd/", segments.control_fd()),
          concat("/proc/self/fd/", segments.plan_fd())};
}

TEST(RunningGraphs, AreFoundByTheSegmentTheirSupervisorHolds) {
  const Plan plan = small_plan(2);
  const auto segments = SharedSegments::create(plan, {}).value();
  EXPECT_EQ(of_this_process().size(), 1u);
  const auto found = look_into(graph_of(*segments));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)->plan(), plan);
  segments->control().index_spaces[0]->end.value = 128;
  EXPECT_EQ((*found)->control().index_spaces[0]->end.value, 128u);
}

// As a worker does until it has mapped them.
TEST(RunningGraphs, AChildThatHoldsTheSameMemoryIsNoGraph) {
  const auto pids = [](const std::vector<RunningGraph>& graphs) {
    std::vector<pid_t> all;
    for (const RunningGraph& graph : graphs) all.push_back(graph.pid);
    return all;
  };
  for (const bool its_own : {false, true}) {
    auto segments = SharedSegments::create(small_plan(), {}).value();
    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (its_own) {  // the control: then it is one
        segments.reset();
        segments = SharedSegments::create(small_plan(), {}).value();
      }
      (void)!write(ready[1], "", 1);
      pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    const std::vector<pid_t> found = pids(find_graphs().running);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    EXPECT_THAT(found, testing::Contains(getpid()));
    EXPECT_EQ(std::count(found.begin(), found.end(), child), its_own ? 1 : 0);
  }
}

TEST(RunningGraphs, OneThatHasEndedIsAnError) {
  EXPECT_THAT(message_of(look_into({getpid(), "/proc/self/fd/9999", "/proc/self/fd/9999"})),
              HasSubstr("cannot inspect the graph of process"));
}

std::string refusal(const MemoryFile& control, const MemoryFile& plan) {
  const auto looked = look_into(
      {getpid(), concat("/proc/self/fd/", control.fd()), concat("/proc/self/fd/", plan.fd())});
  return looked ? "" : looked.error().message;
}

TEST(RunningGraphs, ASegmentOfAnotherProgramIsRefused) {
  const MemoryFile plan =
      MemoryFile::create_holding("brigade-plan", run_to_json(small_plan(), {})).value();
  const MemoryFile control = MemoryFile::create("brigade-control", 4096).value();
  EXPECT_THAT(refusal(control, plan), HasSubstr("not a Brigade control segment"));
}

TEST(RunningGraphs, EmptyMemoryIsRefused) {
  const MemoryFile plan =
      MemoryFile::create_holding("brigade-plan", run_to_json(small_plan(), {})).value();
  EXPECT_THAT(refusal(MemoryFile::create_holding("brigade-control", "").value(), plan),
              EndsWith(": expected memory with contents, found none"));
}

TEST(RunningGraphs, APlanThatWouldTakeAllMemoryIsRefused) {
  const MemoryFile control = MemoryFile::create("brigade-control", 4096).value();
  const MemoryFile plan = MemoryFile::create("brigade-plan", std::uint64_t{1} << 40).value();
  EXPECT_THAT(refusal(control, plan), HasSubstr("expected at most 67108864 bytes"));
}

// A process that may be somebody else's shrinks the memory once it has been mapped: to look at it
// would be a SIGBUS.
TEST(RunningGraphs, MemoryThatCanShrinkIsRefusedBeforeItIsMapped) {
  const Plan plan = small_plan();
  const auto segments = SharedSegments::create(plan, {}).value();
  std::string bytes = read_memory(segments->control_fd(), 1 << 20).value();
  const OwnedFd fd(memfd_create("brigade-control", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const RunningGraph graph{getpid(), concat("/proc/self/fd/", fd.get()),
                           concat("/proc/self/fd/", segments->plan_fd())};
  EXPECT_THAT(message_of(look_into(graph)), HasSubstr("expected memory sealed against shrinking"));
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(look_into(graph).ok());  // nothing else was wrong with it
}

// Of a daemon, say, to which somebody has sent memory of that name.
TEST(RunningGraphs, MemoryOfAnotherUserThanTheProcessIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const Plan plan = small_plan();
  const auto segments = SharedSegments::create(plan, {}).value();
  ASSERT_TRUE(look_into(graph_of(*segments)).ok());
  ASSERT_EQ(fchown(segments->control_fd(), 1234, 1234), 0);
  EXPECT_THAT(message_of(look_into(graph_of(*segments))),
              HasSubstr("expected memory of user 0, found memory of user 1234"));
}

TEST(RunningGraphs, WhatOnlyHasTheNameIsRefusedAndNotWaitedFor) {
  TemporaryFolder folder;
  const std::string pipe = folder.path() / "memfd:brigade-control";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // to open it for reading waits for a writer
  for (const std::string& path :
       {pipe, folder.write("file", "BRIGADE1"), std::string("/dev/zero")}) {
    const auto looked = look_into({getpid(), path, path});
    ASSERT_FALSE(looked.ok()) << path;
    EXPECT_THAT(looked.error().message, testing::AnyOf(HasSubstr("a file with the same name"),
                                                       HasSubstr("unsealed memory")))
        << path;
  }
}

}  // namespace
}  // namespace brigade
