#include "pipeline/process/running_graphs.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "pipeline/plan/plan_json.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

std::vector<RunningGraph> of_this_process() {
  std::vector<RunningGraph> graphs = find_running_graphs();
  std::erase_if(graphs, [](const RunningGraph& graph) { return graph.pid != getpid(); });
  return graphs;
}

TEST(RunningGraphs, AreFoundByTheSegmentTheirSupervisorHolds) {
  const Plan plan = small_plan(2);
  const auto segments = Segments::create(plan, plan_to_json(plan, -1)).value();
  EXPECT_EQ(of_this_process().size(), 1u);
  const auto found = look_into({getpid(), concat("/proc/self/fd/", segments->control_fd())});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)->plan(), plan);
  segments->control().domains[0]->end.value = 128;
  EXPECT_EQ((*found)->control().domains[0]->end.value, 128u);
}

TEST(RunningGraphs, OneThatHasEndedIsAnError) {
  const auto gone = look_into({getpid(), "/proc/self/fd/9999"});
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("cannot look into the graph of process"), std::string::npos);
}

TEST(RunningGraphs, ASegmentOfAnotherProgramIsRefused) {
  const int fd = memfd_create("brigade-control", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_FALSE(look_into({getpid(), "/proc/self/fd/" + std::to_string(fd)}).ok());
  close(fd);
}

}  // namespace
}  // namespace brigade
