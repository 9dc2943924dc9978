#include "pipeline/config/shard.h"

#include <gtest/gtest.h>

#include <map>

namespace brigade {
namespace {

class ShardOf : public testing::Test {
 protected:
  /// "rank/world", or the message.
  std::string resolve() {
    const auto shard = resolve_shard(
        spec_,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment_.find(name);
          if (found == environment_.end()) return std::nullopt;
          return found->second;
        },
        diagnostics_);
    if (!shard) return diagnostics_.all().at(0).message;
    return std::to_string(shard->rank) + "/" + std::to_string(shard->world);
  }
  void give(std::uint64_t rank, std::uint64_t world) {
    spec_.span = Span{};
    spec_.rank = Marked<std::uint64_t>{rank, {}};
    spec_.world = Marked<std::uint64_t>{world, {}};
  }

  ShardSpec spec_;
  std::map<std::string, std::string> environment_;
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

}  // namespace
}  // namespace brigade
