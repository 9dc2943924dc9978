#include "pipeline/state/begin_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <brigade/text.h>
#include "base/shared_path.h"
#include "pipeline/state/checkpoint_files.h"
#include "stages/builtin.h"
#include "tests/support/message_of.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

class BeginRun : public testing::Test {
 protected:
  static std::uint64_t samples(const RunOutcome& outcome) {
    for (const auto& [stage, results] : outcome.summary.results)
      for (const StageResult& result : results)
        if (stage == "end" && result.name == "samples")
          return std::get<std::uint64_t>(*result.value);
    return 0;
  }
  static std::string one_consumer(const std::string& file, int count = 1000, int epochs = 2) {
    return concat("epochs: ", epochs, "\ncheckpoint: {file: ", file, "}\nstages:\n",
                  "  numbers: {producer: synthetic, params: {count: ", count, "}}\n",
                  "  end: {consumer: count, from: {stage: numbers, batch: 50}}\n");
  }
  Result<Resumed> resume(const Plan& plan) {
    return resume_from_files(plan, from_the_beginning(plan, session.types));
  }

  TemporaryFolder folder;
  const std::string file = (folder.path() / "line.ckpt").string();
  Session session;
};

TEST_F(BeginRun, WithoutAPlaceThereIsNothingToGoOnFrom) {
  const Plan plan = session.plan(line_yaml("consumer: count"));
  EXPECT_THAT(message_of(resume(plan)), testing::HasSubstr("write `checkpoint: {file: PATH}`"));
}

TEST_F(BeginRun, BeforeTheFirstCheckpointTheRunBeginsAtTheBeginning) {
  const Plan plan = session.plan(one_consumer(file));
  const auto from = resume(plan);
  ASSERT_TRUE(from.ok()) << from.error().message;
  EXPECT_EQ(from->line,
            concat("there is no checkpoint at ", file, " yet: the run starts from the beginning"));
  EXPECT_TRUE(from->from.index_spaces.empty());
}

TEST_F(BeginRun, AFinishedRunHasNothingLeftAndMoreEpochsGoOn) {
  EXPECT_EQ(session.run(one_consumer(file)).failure, "");
  const Plan plan = session.plan(one_consumer(file));
  const auto from = resume(plan);
  ASSERT_TRUE(from.ok()) << from.error().message;
  EXPECT_EQ(from->line, concat("resumes from ", file, ": end has consumed all epochs"));
  const Plan longer = session.plan(one_consumer(file, 1000, 3));
  auto begin = resume(longer);
  ASSERT_TRUE(begin.ok());
  auto run = RunSession::start({longer, begin->from}, session.types, session.lines, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(samples((*run)->wait()), 3000u);  // the state of two epochs, and one more
}

TEST_F(BeginRun, AnEarlierRunIsReplacedOnlyWhenAsked) {
  const Plan first = session.plan(one_consumer(file));
  EXPECT_EQ(begin_run(first, session.types, Past::refuse).value().resumed.line, "")
      << "nothing is there";
  EXPECT_EQ(session.run(one_consumer(file)).failure, "");
  const std::string refused =
      concat("a checkpoint of another run exists (", file,
             ") and is not overwritten; resume it with --resume, restart with --overwrite, or "
             "choose another file: --set checkpoint.file=FILE");
  const Plan again = session.plan(one_consumer(file));
  EXPECT_EQ(begin_run(again, session.types, Past::refuse).error().message, refused);
  EXPECT_EQ(begin_run(again, session.types, Past::overwrite).value().resumed.line, "");
  EXPECT_EQ(begin_run(again, session.types, Past::resume).value().resumed.line,
            concat("resumes from ", file, ": end has consumed all epochs"));
  std::filesystem::remove(file);
  EXPECT_NE(begin_run(again, session.types, Past::refuse).error().message.find(".position)"),
            std::string::npos)
      << "its other file is there";
}

TEST_F(BeginRun, WhatAnEarlierRunHasLearnedIsReplacedOnlyWhenAsked) {
  const StageTypes types = builtin_stage_types();
  const std::string losses = folder.path() / "loss.csv";
  Plan plan = session.plan(line_yaml("consumer: count"));
  for (PlanStage& stage : plan.stages) {
    if (stage.kind != StageKind::consumer) continue;
    stage.type = "torch_classifier";
    stage.name = "learn";
    stage.params = {{"loss_file", ParamValue::scalar(losses)}};
  }
  EXPECT_TRUE(begin_run(plan, types, Past::refuse).ok()) << "nothing is there";
  folder.write("loss.csv", "");
  EXPECT_TRUE(begin_run(plan, types, Past::refuse).ok()) << "nothing is in it";
  folder.write("loss.csv", "epoch,step,loss\n");
  EXPECT_EQ(begin_run(plan, types, Past::refuse).error().message,
            concat("results of another run exist (", losses,
                   ") and are not overwritten; restart with --overwrite, or choose another file: "
                   "--set stages.learn.params.loss_file=FILE"));
  EXPECT_TRUE(begin_run(plan, types, Past::overwrite).ok());
}

TEST_F(BeginRun, TwoRunsDoNotWriteOneCheckpoint) {
  const Plan plan = session.plan(one_consumer(file));
  auto begun = begin_run(plan, session.types, Past::refuse);
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  for (const Past past : {Past::refuse, Past::resume, Past::overwrite})
    EXPECT_EQ(begin_run(plan, session.types, past).error().message,
              concat("another run is writing the checkpoint ", file,
                     "; wait until it ends, or choose another file: --set checkpoint.file=FILE"));
  begun->lock.reset();
  EXPECT_TRUE(begin_run(plan, session.types, Past::refuse).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is left of a lock";
}

TEST_F(BeginRun, AnotherOrderIsRefusedWithTheDifference) {
  EXPECT_EQ(session.run(one_consumer(file)).failure, "");
  const Plan plan = session.plan(one_consumer(file, 999));
  const auto from = resume(plan);
  ASSERT_FALSE(from.ok());
  EXPECT_EQ(from.error().message,
            concat("cannot resume from ", file,
                   ".position: the samples or their order would differ: numbers.params.count was "
                   "\"1000\", is \"999\"; undo that change, or run without --resume"));
}

TEST_F(BeginRun, OtherVersionsOfLibrariesAreAWarning) {
  EXPECT_EQ(session.run(one_consumer(file)).failure, "");
  const Plan plan = session.plan(one_consumer(file, 1000, 3));
  EXPECT_EQ(resume(plan).value().warning, "") << "the control";
  const std::string position = file + ".position";
  PositionFile written = read_checkpoint(file, position).value();
  written.entries[0].libraries = "libjpeg-turbo 2.1.5";
  ASSERT_TRUE(write_checkpoint(file, *read_whole_file(file), position, written).ok());
  ResumePoint fresh = from_the_beginning(plan, session.types);
  fresh.libraries = "libjpeg-turbo 3.0.1";
  const Resumed resumed = resume_from_files(plan, fresh).value();
  EXPECT_EQ(resumed.warning,
            "the resumed run had different library versions (libjpeg-turbo 2.1.5 before, "
            "libjpeg-turbo 3.0.1 now): decoded pixels may differ by a few levels");
  EXPECT_EQ(resumed.from.libraries, "libjpeg-turbo 3.0.1") << "what its own checkpoints say";
}

TEST_F(BeginRun, ItsIdentityIsKeptAndPositionsOfTwoRunsAreRefused) {
  const std::string two = concat(one_consumer(file), "  too: {consumer: count, from: numbers}\n");
  EXPECT_EQ(session.run(two).failure, "");
  const std::string one = concat(file, ".end.position"), other = concat(file, ".too.position");
  PositionFile written = read_checkpoint(file + ".end", one).value();
  const std::string identity = written.entries[0].identity;
  EXPECT_EQ(identity.size(), 32u);
  const Plan plan = session.plan(two);
  EXPECT_EQ(resume(plan).value().from.identity, identity);
  EXPECT_NE(from_the_beginning(plan, session.types).identity, identity);
  written.entries[0].identity = std::string(32, 'b');
  ASSERT_TRUE(write_checkpoint(file + ".end", *read_whole_file(file + ".end"), one, written).ok());
  EXPECT_EQ(
      resume(plan).error().message,
      concat(
          one, " and ", other,
          " belong to different runs; restore the files of one run, or restart with --overwrite"));
}

/// numbers -> a consumer that saves every 20 samples and crashes at the sample with id 777.
class ASampleThatKillsAConsumerThatSaves : public BeginRun {
 protected:
  RunOutcome run(const std::string& more) {
    return session.run(concat("epochs: 2\ncheckpoint: {file: ", file, ", every: 20}\nstages:\n",
                              "  numbers: {producer: synthetic, params: {count: 1000}}\n",
                              "  end: {consumer: saving, from: numbers, chunk: 4, ",
                              "params: {crash_at: 777}, ", more, "}\n"));
  }
};

TEST_F(ASampleThatKillsAConsumerThatSaves, IsDroppedAfterwards) {
  const RunOutcome outcome = run("on_error: {skip: 5}");
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(samples(outcome), 2u * 999);  // in the second epoch, too
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 2u);
  EXPECT_EQ(outcome.summary.figures.samples, 2u * 999);
}

TEST_F(ASampleThatKillsAConsumerThatSaves, EndsTheRunWhereNothingMayBeSkipped) {
  const RunOutcome outcome = run("poison_after: 2");
  EXPECT_NE(outcome.failure.find("777"), std::string::npos) << outcome.failure;
}

TEST_F(ASampleThatKillsAConsumerThatSaves, EndsTheRunAtOnceWithoutRestarts) {
  const RunOutcome outcome = run("restart: never, on_error: {skip: 5}");
  EXPECT_NE(outcome.failure.find("SIGSEGV"), std::string::npos) << outcome.failure;
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 0u);
}

TEST_F(BeginRun, AStreamCannotBeFoundAgain) {
  const std::string text = (folder.path() / "text").string();
  std::ofstream(text) << "a\nb\n";
  const Plan plan = session.plan(concat("checkpoint: {file: ", file, "}\nstages:\n",
                                        "  text: {producer: lines, params: {file: ", text, "}}\n",
                                        "  end: {consumer: count, from: text}\n"));
  EXPECT_THAT(message_of(resume(plan)), testing::HasSubstr("\"text\" is a stream"));
}

TEST_F(BeginRun, APositionThatBelongsToNothingIsRefused) {
  EXPECT_EQ(session.run(one_consumer(file)).failure, "");
  std::filesystem::remove(file);
  const Plan plan = session.plan(one_consumer(file));
  EXPECT_THAT(message_of(resume(plan)), testing::HasSubstr(file));
}

}  // namespace
}  // namespace brigade
