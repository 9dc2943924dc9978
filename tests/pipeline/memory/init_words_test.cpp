#include "pipeline/memory/init_words.h"

#include <gtest/gtest.h>

#include "pipeline/plan/sample_address.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

TEST(BeginAt, SetsTheWordsThatWatermarksDoNotSay) {
  support::NumberLine line;
  line.mixers = 2;
  support::RunLine run(support::number_graph(line), {}, [](const Plan&, ResumePoint& resume) {
    for (ResumeIndexSpace& index_space : resume.index_spaces) index_space.start = 64;
    for (ResumeStage& stage : resume.stages) stage.epoch_ends_told = 1;
    resume.stages[1].quarantined = {SampleAddress{0, 70}.word()};
    resume.stages[0].fingerprint = 9;
  });
  begin_at(run.plan(), run.resume(), run.control());
  EXPECT_EQ(run.queue("mix").watermark->level.value.load(), 64u);  // by the shape
  for (int r = 0; r < 2; ++r)
    EXPECT_EQ(run.context("mix", r).replica_words().ended.value.load(), 1u);
  EXPECT_TRUE(run.context("mix").words().quarantine.contains(70));
  EXPECT_EQ(run.context("numbers").words().fingerprint->value.load(), 9u);
}

TEST(BeginAt, EpochsThatAreOverAreEmptyWhereTheirEndsAreRecorded) {
  support::NumberLine line;
  line.epochs = 3;
  GraphBuilder graph = support::number_graph(line);
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::flat_map;
  graph.consumer("last", {"again"});
  support::RunLine run(graph, {}, [](const Plan&, ResumePoint& resume) {
    for (ResumeIndexSpace& index_space : resume.index_spaces) index_space.first_epoch = 2;
  });
  begin_at(run.plan(), run.resume(), run.control());
  const IndexSpaceNumber index_space = run.stage("last").queues[0].index_space;
  const auto& ends = run.control().epoch_ends[index_space];
  ASSERT_EQ(ends.capacity(), 3u);
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends.at(1), 0u);
}

}  // namespace
}  // namespace brigade
