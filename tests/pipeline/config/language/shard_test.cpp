#include "pipeline/config/language/shard.h"
#include "pipeline/config/language/launchers.h"

#include <gtest/gtest.h>

#include <map>

namespace brigade {
namespace {

class ShardOf : public testing::Test {
 protected:
  /// "rank/world", or the message.
  std::string resolve() {
    found_ = resolve_shard(
        spec_,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment_.find(name);
          if (found == environment_.end()) return std::nullopt;
          return found->second;
        },
        program_, diagnostics_);
    if (!found_) return diagnostics_.all().at(0).message;
    return std::to_string(found_->shard.rank) + "/" + std::to_string(found_->shard.world);
  }
  void give(std::uint64_t rank, std::uint64_t world) {
    spec_.span = Span{};
    spec_.rank = Marked<std::uint64_t>{rank, {}};
    spec_.world = Marked<std::uint64_t>{world, {}};
  }

  ShardSpec spec_;
  std::map<std::string, std::string> environment_;
  std::optional<ProgramRank> program_;
  std::optional<FoundShard> found_;
  Diagnostics diagnostics_;
};

TEST_F(ShardOf, NobodyIsTheWhole) { EXPECT_EQ(resolve(), "0/1"); }

TEST_F(ShardOf, LaunchersAreKnownAndTheInnerOneCounts) {
  environment_ = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(resolve(), "3/4");
  environment_.insert({{"PMI_RANK", "4"}, {"PMI_SIZE", "5"}});
  EXPECT_EQ(resolve(), "4/5");
  environment_.insert({{"MV2_COMM_WORLD_RANK", "5"}, {"MV2_COMM_WORLD_SIZE", "6"}});
  EXPECT_EQ(resolve(), "5/6");
  environment_.insert({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(resolve(), "1/2");
  environment_.insert({{"RANK", "6"}, {"WORLD_SIZE", "7"}});
  EXPECT_EQ(resolve(), "6/7");
}

TEST_F(ShardOf, HalfAPairOfAnInnerLauncherIsNone) {
  environment_ = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"PMI_RANK", "1"}};
  EXPECT_EQ(resolve(), "3/4");
  environment_ = {{"SLURM_NTASKS", "4"}};
  EXPECT_EQ(resolve(), "0/1") << "a shell inside a job";
}

TEST_F(ShardOf, HalfOfTorchrunsIsAnError) {
  environment_ = {{"RANK", "1"}, {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(resolve(), "`shard: auto`: the environment has RANK and no WORLD_SIZE");
  environment_ = {{"WORLD_SIZE", "2"}};
  diagnostics_ = {};
  EXPECT_EQ(resolve(), "`shard: auto`: the environment has WORLD_SIZE and no RANK");
  give(0, 1);
  EXPECT_EQ(resolve(), "0/1") << "the file says it";
}

TEST_F(ShardOf, AWorldOfOneNeedsNoRank) {
  environment_ = {{"WORLD_SIZE", "1"}};
  EXPECT_EQ(resolve(), "0/1");
  EXPECT_EQ(found_->origin, RankOrigin());
  environment_.insert({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}});
  EXPECT_EQ(resolve(), "3/4");
}

TEST_F(ShardOf, AProgramThatTellsOfRanksHearsOfHalfAPair) {
  program_ = ProgramRank{};
  for (const char* const half : {"RANK", "WORLD_SIZE"}) {
    environment_ = {{half, "2"}};
    EXPECT_EQ(resolve(), "0/1");
    EXPECT_EQ(found_->origin, (RankOrigin{"", half, {}}));
  }
  give(0, 1);
  EXPECT_EQ(resolve(), "0/1");
  EXPECT_EQ(found_->origin, (RankOrigin{"shard", "", {}}));
}

TEST_F(ShardOf, AProgramIsStrongerThanTheLauncherAndWeakerThanTheFile) {
  environment_ = {{"RANK", "5"}, {"WORLD_SIZE", "6"}};
  program_ = ProgramRank{1, 4, false};
  EXPECT_EQ(resolve(), "1/4");
  EXPECT_EQ(found_->origin, (RankOrigin{"program", "", {"RANK, WORLD_SIZE: rank 5 of 6"}}));
  environment_ = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "9"}};
  EXPECT_EQ(resolve(), "1/4");
  EXPECT_EQ(found_->origin, (RankOrigin{"program", "", {}})) << "an outer launcher means others";
  give(2, 3);
  EXPECT_EQ(resolve(), "2/3");
  program_->over_graph = true;
  EXPECT_EQ(resolve(), "1/4");
  program_ = ProgramRank{4, 4, true};
  EXPECT_EQ(resolve(),
            "`shard`: rank 4 of 4 processes: ranks go from 0 to 3 (the program says so)");
}

TEST_F(ShardOf, OuterLaunchersThatSayOtherwiseAreNoted) {
  environment_ = {{"RANK", "1"},
                  {"WORLD_SIZE", "2"},
                  {"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "4"},
                  {"PMI_RANK", "1"},
                  {"PMI_SIZE", "2"},
                  {"MV2_COMM_WORLD_RANK", "x"},
                  {"MV2_COMM_WORLD_SIZE", "2"}};
  EXPECT_EQ(resolve(), "1/2");
  EXPECT_EQ(found_->origin,
            (RankOrigin{"RANK, WORLD_SIZE", "", {"SLURM_PROCID, SLURM_NTASKS: rank 0 of 4"}}));
}

TEST_F(ShardOf, TheFileIsStrongerThanTheLauncher) {
  environment_ = {{"RANK", "5"}, {"WORLD_SIZE", "6"}};
  give(0, 1);
  EXPECT_EQ(resolve(), "0/1");
  give(ShardSpec::kAuto, ShardSpec::kAuto);
  EXPECT_EQ(resolve(), "5/6");
}

TEST_F(ShardOf, HalfOfItIsAnError) {
  give(3, ShardSpec::kAuto);
  EXPECT_EQ(resolve(), "`shard`: rank and world are given together or not at all");
}

TEST_F(ShardOf, ARankOutsideItsWorldIsAnError) {
  give(4, 4);
  EXPECT_EQ(resolve(), "`shard`: rank 4 of 4 processes: ranks go from 0 to 3");
}

TEST_F(ShardOf, AVariableThatIsNoNumberIsAnError) {
  for (const auto& [rank, world, message] :
       {std::tuple(
            "one", "2",
            "`shard: auto`: the environment's RANK is \"one\", expected a whole number up to "
            "1048576"),
        std::tuple("1", "0", "`shard`: there are 0 processes (environment: RANK, WORLD_SIZE)"),
        std::tuple("2", "2",
                   "`shard`: rank 2 of 2 processes: ranks go from 0 to 1 (environment: RANK, "
                   "WORLD_SIZE)")}) {
    environment_ = {{"RANK", rank}, {"WORLD_SIZE", world}};
    diagnostics_ = {};
    EXPECT_EQ(resolve(), message);
  }
}

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
