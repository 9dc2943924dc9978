#include "pipeline/process/positions_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/text.h"
#include "pipeline/process/resume_point.h"
#include "pipeline/process/segments.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"
#include "transports/stop.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// numbers -> end, without anybody who works.
struct WritingPositions : testing::Test {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "line.ckpt").string();
  Session session;
  Plan plan;
  std::unique_ptr<Segments> segments;
  KeepingLines lines;

  void prepare(const std::string& every) {
    plan = session.plan(concat("checkpoint: {file: ", file, every, "}\nstages:\n",
                               "  numbers: {producer: synthetic, params: {count: 1000}}\n",
                               "  end: {consumer: faulty, from: {stage: numbers, batch: 50}}\n"));
    prepare_checkpoints(plan, session.types);
    segments = Segments::create(plan, "{}").value();
    set_end(segments->control(), 0, 1000, 1000, 1);
  }
  void consumed(std::uint64_t samples) {
    for (auto& stage : segments->control().stages) stage.lanes[0].mark->low.value = samples;
  }
  std::unique_ptr<PositionsWriter> start() {
    return PositionsWriter::start(plan, segments->control(), lines).value();
  }
  /// Where a run would go on.
  std::string place() {
    Plan again = plan;
    const auto from = resume_from_files(again);
    return from.ok() ? *from : from.error().message;
  }
};

TEST_F(WritingPositions, TheLastOneIsWaitedFor) {
  prepare("");
  const auto writer = start();
  consumed(100);
  writer->finish();
  EXPECT_THAT(place(), HasSubstr("end at sample 100 of epoch 1"));
}

TEST_F(WritingPositions, EverySoOftenTheNewestIsWritten) {
  prepare(", every: 1ms");
  const auto writer = start();
  for (const std::uint64_t samples : {100u, 250u}) {
    consumed(samples);
    while (place().find(concat("at sample ", samples)) == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(WritingPositions, WhatIsNotFinishedIsNotWrittenOnceMore) {
  prepare("");
  start();
  consumed(100);
  EXPECT_THAT(place(), HasSubstr("the run begins at the beginning"));
}

TEST_F(WritingPositions, WhatCannotBeWrittenIsAWarning) {
  prepare("");
  const auto writer = start();
  consumed(100);
  std::filesystem::remove_all(folder.path());
  writer->finish();
  EXPECT_THAT(lines.lines, ElementsAre(testing::AllOf(testing::StartsWith("warning: "),
                                                      HasSubstr("No such file or directory"))));
}

}  // namespace
}  // namespace brigade
