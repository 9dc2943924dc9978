#include "pipeline/run/launch/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::Contains;
using testing::Not;

TEST(WorkerEnvironment, LibrariesAreToldTheirThreads) {
  PlanStage stage;
  stage.threads = 3;
  stage.env = {{"MKL_NUM_THREADS", "7"}, {"HOME", "/tmp"}};
  const auto environment =
      worker_environment({"HOME=/home/anna", "OMP_NUM_THREADS=64", "A=1"}, stage, "{}", false);
  EXPECT_THAT(environment, Contains("A=1"));
  EXPECT_THAT(environment, Contains("OMP_NUM_THREADS=3"));
  EXPECT_THAT(environment, Contains("OPENBLAS_NUM_THREADS=3"));
  EXPECT_THAT(environment, Contains("OPENCV_FOR_THREADS_NUM=3"));
  EXPECT_THAT(environment, Contains("MKL_NUM_THREADS=7"));
  EXPECT_THAT(environment, Contains("HOME=/tmp"));
  EXPECT_THAT(environment, Not(Contains("OMP_NUM_THREADS=64")));
  EXPECT_THAT(environment, Not(Contains("HOME=/home/anna")));
  EXPECT_THAT(environment, Contains("BRIGADE_WORKER={}"));
}

TEST(WorkerEnvironment, RanksAreToldByTheNamesThatLibrariesKnow) {
  EXPECT_THAT(environment_of_rank({"SLURM_PROCID=2"}, {.rank = 2, .world = 4}),
              testing::ElementsAre("SLURM_PROCID=2", "RANK=2", "WORLD_SIZE=4"));
  EXPECT_THAT(environment_of_rank({"RANK=5", "WORLD_SIZE=8"}, {.rank = 0, .world = 1}),
              testing::ElementsAre("RANK=0", "WORLD_SIZE=1"));
  EXPECT_THAT(environment_of_rank({"A=1"}, {.rank = 0, .world = 1}), testing::ElementsAre("A=1"));
}

TEST(WorkerEnvironment, LocalRankIsToldByTheNameThatLibrariesKnow) {
  const PlanStage stage;
  const std::vector<std::string> slurm = {"SLURM_LOCALID=1", "SLURM_NTASKS_PER_NODE=2"};
  EXPECT_THAT(worker_environment(slurm, stage, "{}", false), Contains("LOCAL_RANK=1"));
  const auto torchrun =
      worker_environment({"LOCAL_RANK=3", "LOCAL_WORLD_SIZE=4"}, stage, "{}", false);
  EXPECT_THAT(torchrun, Contains("LOCAL_RANK=3"));
  EXPECT_THAT(worker_environment({"A=1"}, stage, "{}", false),
              Not(Contains(testing::HasSubstr("LOCAL_RANK"))));
}

TEST(WorkerEnvironment, AProgramIsToldWhichLibraryRunsTheGraph) {
  PlanStage stage;
  const std::vector<std::string> base = {"BRIGADE_LIBRARY=/of/another/run.so"};
  const std::string library = "/usr/lib/libbrigade.so.0";
  EXPECT_THAT(worker_environment(base, stage, "{}", false, library), Contains(base.front()));
  stage.type = "exec";
  stage.exec = {"/bin/true"};
  EXPECT_THAT(worker_environment(base, stage, "{}", false, library),
              Contains("BRIGADE_LIBRARY=/usr/lib/libbrigade.so.0"));
  EXPECT_THAT(worker_environment(base, stage, "{}", false, library), Not(Contains(base.front())));
  EXPECT_THAT(worker_environment({"A=1"}, stage, "{}", false),
              Not(Contains(testing::HasSubstr("BRIGADE_LIBRARY"))));
  stage.env = {{"BRIGADE_LIBRARY", "/mine.so"}};
  EXPECT_THAT(worker_environment(base, stage, "{}", false, library),
              Contains("BRIGADE_LIBRARY=/mine.so"));
}

TEST(WorkerEnvironment, OnlyAFaultThatComesAgainIsHandedToASuccessor) {
  const std::string faults =
      "BRIGADE_FAULT=sink.0=work.start:1:kill,sink.1=claim.start:3+:delay,"
      "sink.0=wait.after_bit:9+:stop";
  EXPECT_THAT(worker_environment({faults}, {}, "{}", false), Contains(faults));
  EXPECT_THAT(worker_environment({faults}, {}, "{}", true),
              Contains("BRIGADE_FAULT=sink.1=claim.start:3+:delay,sink.0=wait.after_bit:9+:stop"));
}

}  // namespace
}  // namespace brigade
