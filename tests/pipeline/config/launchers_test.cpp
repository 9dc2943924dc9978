#include "pipeline/config/launchers.h"

#include <gtest/gtest.h>

#include <map>

namespace brigade {
namespace {

using Variables = std::map<std::string, std::string>;

LocalRuns runs_of(const Variables& variables) {
  return local_runs([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(LocalRuns, IsOneWhereNobodySaysOtherwise) {
  const LocalRuns runs = runs_of({});
  EXPECT_EQ(runs.size, 1u);
  EXPECT_EQ(runs.rank, std::nullopt);
  EXPECT_EQ(runs.size_variable, "");
  EXPECT_EQ(local_runs(nullptr).size, 1u);
}

TEST(LocalRuns, IsWhatLocalWorldSizeSaysEvenAlone) {
  const LocalRuns runs = runs_of({{"LOCAL_WORLD_SIZE", "4"}});
  EXPECT_EQ(runs.size, 4u);
  EXPECT_EQ(runs.rank, std::nullopt);
  EXPECT_EQ(runs.size_variable, "LOCAL_WORLD_SIZE");
}

TEST(LocalRuns, HasItsRankFromTheSameLauncher) {
  const Variables slurm = {
      {"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS_PER_NODE", "2"}};
  EXPECT_EQ(runs_of(slurm).size, 2u);
  EXPECT_EQ(runs_of(slurm).rank, 1u);
  EXPECT_EQ(runs_of(slurm).rank_variable, "SLURM_LOCALID");
  Variables both = slurm;
  both.insert({{"OMPI_COMM_WORLD_RANK", "7"},
               {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
               {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}});
  EXPECT_EQ(runs_of(both).size, 8u);
  EXPECT_EQ(runs_of(both).rank, 3u);
  both.insert({"LOCAL_WORLD_SIZE", "4"});
  EXPECT_EQ(runs_of(both).size, 4u);
  EXPECT_EQ(runs_of(both).rank, std::nullopt);
}

TEST(LocalRuns, AreNotThoseOfAJobWhoseTaskThisIsNot) {
  EXPECT_EQ(runs_of({{"SLURM_NTASKS_PER_NODE", "2"}}).size, 1u);
  EXPECT_EQ(runs_of({{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}).size, 1u);
}

TEST(LocalRuns, AreWhatSlurmStartedWhereNobodyAskedForSoMany) {
  const auto of_step = [](const std::string& tasks) {
    return runs_of({{"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", tasks}});
  };
  EXPECT_EQ(of_step("4").size, 4u);
  EXPECT_EQ(of_step("4(x2)").size, 4u);
  EXPECT_EQ(of_step("4(x2)").size_variable, "SLURM_STEP_TASKS_PER_NODE");
  EXPECT_EQ(of_step("4(x2),3").size, 1u) << "which of them this machine is, nobody says";
}

TEST(LocalRuns, SayNothingWhereTheyAreNoNumbers) {
  EXPECT_EQ(runs_of({{"LOCAL_WORLD_SIZE", "many"}}).size, 1u);
  EXPECT_EQ(runs_of({{"LOCAL_WORLD_SIZE", "0"}}).size, 1u);
  EXPECT_EQ(runs_of({{"LOCAL_WORLD_SIZE", "-2"}}).size, 1u);
  const LocalRuns outside = runs_of({{"LOCAL_WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}});
  EXPECT_EQ(outside.size, 2u);
  EXPECT_EQ(outside.rank, std::nullopt);
}

}  // namespace
}  // namespace brigade
