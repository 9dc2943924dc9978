#include "pipeline/run/supervisor/disk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <thread>

#include <brigade/text.h>
#include "pipeline/memory/shared_segments.h"
#include "pipeline/state/begin_run.h"
#include "tests/support/message_of.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"
#include "transports/stop.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Who says the first line, the writer's thread, stands still until it is let go or another line
/// is said.
class HeldUpLines final : public RunOutput {
 public:
  int count = 0;
  std::string last;

  void tell(const Event& event) override {
    std::unique_lock lock(mutex_);
    last = event.message;
    ++count;
    moved_.notify_all();
    moved_.wait(lock, [&] { return let_go_ || count > 1; });
  }
  std::int64_t progress_every_ns() const override { return 0; }

  void wait_for_a_line() {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return count > 0; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  bool let_go_ = false;
};

// numbers -> end, without anybody who works.
struct DiskWriterTest : testing::Test {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "line.ckpt").string();
  Session session;
  Plan plan;
  ResumePoint fresh;
  std::unique_ptr<SharedSegments> segments;
  KeepingLines lines;

  void prepare(const std::string& every) {
    plan = session.plan(concat("checkpoint: {file: ", file, every, "}\nstages:\n",
                               "  numbers: {producer: synthetic, params: {count: 1000}}\n",
                               "  end: {consumer: faulty, from: {stage: numbers, batch: 50}}\n"));
    fresh = from_the_beginning(plan, session.types);
    segments = SharedSegments::create(plan, {}).value();
    set_end(segments->control(), 0, 1000, 1000, 1);
  }
  void consumed(std::uint64_t samples) {
    for (auto& stage : segments->control().stages) stage.queues[0].watermark->level.value = samples;
  }
  std::unique_ptr<DiskWriter> start() { return start("", lines); }
  std::unique_ptr<DiskWriter> start(const std::string& list, RunOutput& to) {
    return DiskWriter::start(plan, fresh, segments->control(), QuarantineFile(list), to).value();
  }
  /// Where a run would go on.
  std::string place() {
    const auto from = resume_from_files(plan, fresh);
    return from.ok() ? from->line : from.error().message;
  }
};

TEST_F(DiskWriterTest, TheLastOneIsWaitedFor) {
  prepare("");
  const auto writer = start();
  consumed(100);
  writer->finish();
  EXPECT_THAT(place(), HasSubstr("end at sample 100 of epoch 1"));
}

TEST_F(DiskWriterTest, EverySoOftenTheNewestIsWritten) {
  prepare(", every: 1ms");
  const auto writer = start();
  for (const std::uint64_t samples : {100u, 250u}) {
    consumed(samples);
    while (place().find(concat("at sample ", samples)) == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(DiskWriterTest, WhatIsNotFinishedIsNotWrittenOnceMore) {
  prepare("");
  start();
  consumed(100);
  EXPECT_THAT(place(), HasSubstr("the run starts from the beginning"));
}

TEST_F(DiskWriterTest, WhatCannotBeWrittenIsAWarning) {
  prepare("");
  const auto writer = start();
  consumed(100);
  std::filesystem::remove_all(folder.path());
  writer->finish();
  EXPECT_THAT(lines.lines, ElementsAre(testing::AllOf(testing::StartsWith("warning: "),
                                                      HasSubstr("No such file or directory"))));
}

TEST_F(DiskWriterTest, WhatIsInQuarantineIsListedOnceBeforeTheEnd) {
  prepare("");
  const std::string list = (folder.path() / "list.jsonl").string();
  auto writer = start(list, lines);
  for (const std::uint64_t number : {7u, 8u, 7u}) writer->quarantined("end", {number, 0, 0, 0, ""});
  writer.reset();
  std::ifstream listed(list);
  const std::string text(std::istreambuf_iterator<char>(listed), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(place(), HasSubstr("the run starts from the beginning"));
}

// The writer's thread stands still in the middle of its work, as on a disk that hangs.
TEST_F(DiskWriterTest, WhoTellsOfASampleWaitsForNoDisk) {
  prepare("");
  HeldUpLines held;
  auto writer = start("/nowhere/at/all.jsonl", held);
  writer->quarantined("end", {1, 0, 0, 0, ""});
  held.wait_for_a_line();
  for (const std::uint64_t number : {2u, 3u, 2u}) writer->quarantined("end", {number, 0, 0, 0, ""});
  held.let_go();
  writer.reset();
  EXPECT_EQ(held.count, 3);
}

TEST_F(DiskWriterTest, TheEndOfARunSaysWhichFileItWaitsFor) {
  prepare("");
  HeldUpLines held;
  auto writer = start("/nowhere/at/all.jsonl", held);
  writer->quarantined("end", {1, 0, 0, 0, ""});
  held.wait_for_a_line();
  writer->finish();
  EXPECT_THAT(held.last,
              HasSubstr("the disk did not finish writing /nowhere/at/all.jsonl within 2.0 s"));
  EXPECT_THAT(place(), HasSubstr("the run starts from the beginning"));
}

TEST_F(DiskWriterTest, SamplesForWhichThereIsNoRoomAreCounted) {
  prepare("");
  HeldUpLines held;
  auto writer = start("/nowhere/at/all.jsonl", held);
  writer->quarantined("end", {1, 0, 0, 0, ""});
  held.wait_for_a_line();
  for (std::uint64_t number = 2; number < kToListMax + 5; ++number)
    writer->quarantined("end", {number, 0, 0, 0, ""});
  held.let_go();
  writer.reset();
  EXPECT_THAT(held.last, HasSubstr("too slow for 3 samples in quarantine"));
}

class QuarantineFileTest : public testing::Test {
 protected:
  QuarantineFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~QuarantineFileTest() override { std::filesystem::remove_all(folder_); }
  std::string text() const {
    std::ifstream file(path());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string path() const { return folder_ + "/line.quarantine.jsonl"; }
  const std::string folder_ = testing::TempDir() + "brigade_quarantine_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(QuarantineFileTest, IsNotMadeBeforeThereIsASample) {
  QuarantineFile file(path());
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(QuarantineFileTest, HasOneLinePerSampleHoweverOftenItIsReported) {
  QuarantineFile file(path());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(file.add("decode", {812, 1, 12, 55, "dog/\"x\".jpg"}).ok());
    ASSERT_TRUE(file.add("augment", {812, 1, 12, 55, ""}).ok());
  }
  EXPECT_EQ(text(),
            "{\"stage\":\"decode\",\"number\":812,\"epoch\":1,\"index\":12,\"id\":55,"
            "\"source\":\"dog/\\\"x\\\".jpg\"}\n"
            "{\"stage\":\"augment\",\"number\":812,\"epoch\":1,\"index\":12,\"id\":55,"
            "\"source\":\"\"}\n");
}

TEST_F(QuarantineFileTest, AnotherRunAddsToIt) {
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(QuarantineFile(path()).add("decode", {1, 0, 1, 1, ""}).ok());
  }
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
}

TEST_F(QuarantineFileTest, SaysWhatCannotBeWritten) {
  QuarantineFile file("/nowhere/at/all.jsonl");
  EXPECT_EQ(message_of(file.add("decode", {1, 0, 1, 1, ""})),
            "the quarantine list: cannot write /nowhere/at/all.jsonl: No such file or directory");
}

TEST_F(QuarantineFileTest, WithoutAPathNothingIsWritten) {
  EXPECT_TRUE(QuarantineFile("").add("decode", {1, 0, 1, 1, ""}).ok());
}

TEST(QuarantineFileName, IsAFileInTheWorkingDirectory) {
  EXPECT_EQ(quarantine_file_name("photos"), "photos.quarantine.jsonl");
  EXPECT_EQ(quarantine_file_name("a/b"), "a_b.quarantine.jsonl");
  EXPECT_EQ(quarantine_file_name(""), "brigade.quarantine.jsonl");
}

}  // namespace
}  // namespace brigade
