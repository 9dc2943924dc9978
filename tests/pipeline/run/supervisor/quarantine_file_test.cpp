#include "pipeline/run/supervisor/quarantine_file.h"
#include "pipeline/run/supervisor/source_counts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/keeping_lines.h"
#include "tests/support/message_of.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

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

const std::vector<SkippedInputs> kLimit{{SkipReason::limit, 5, "beyond `limit:`"}};
const std::vector<SkippedInputs> kFiles{{SkipReason::no_match, 2, "files that are not images"}};

/// Two replicas of `a`, one each of `b` and `sink`.
Plan two_sources() {
  GraphBuilder graph("two");
  graph.producer("a", {{"value", i64, {}}}).replicas = 2;
  graph.producer("b", {{"value", i64, {}}});
  graph.consumer("sink", {"a", "b"}, Join::zip);
  return plan_of(graph);
}

TEST(SourceCounts, AAuditForEachSource) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  counts.ready(1, 10, kLimit);  // the other replica has not come
  counts.ready(3, std::nullopt, {});
  EXPECT_EQ(counts.audits(),
            (std::vector<SourceAudit>{{"a", 10, kLimit}, {"b", std::nullopt, {}}}));
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, {});
  EXPECT_EQ(counts.audits(), (std::vector<SourceAudit>{{"a", 10, kLimit}, {"b", 10, {}}}));
}

TEST(SourceCounts, ALineWhereSomethingIsDropped) {
  const Plan plan = two_sources();
  SourceCounts counts(plan);
  KeepingLines lines;
  for (int replica = 0; replica < 3; ++replica) counts.ready(replica, 10, {});
  counts.say(lines);
  EXPECT_TRUE(lines.lines.empty());
  counts.ready(0, 10, kLimit);
  counts.ready(2, 10, kFiles);
  counts.say(lines);
  EXPECT_EQ(
      lines.lines,
      (std::vector<std::string>{
          "note: source a: found 15, outputs 10, skipped 5: 5 beyond `limit:`",
          "warning: source b: found 12, outputs 10, skipped 2: 2 files that are not images"}));
}

TEST(SourceCounts, ACacheWithALimitLeavesOutWhatIsBehindIt) {
  const Ports slot{{"value", i64, {}}};
  for (const std::uint64_t limit : {0, 30}) {
    GraphBuilder graph("cached");
    graph.producer("a", slot).samples = 50;
    graph.transform("twice", {"a"}, slot).outputs_per_input = 2;
    graph.type_of("twice").contract.numbering = Numbering::expand;
    graph.transform("kept", {"twice"}, slot).passed = {{"value", 0}};
    graph.type_of("kept").contract.cache = true;
    graph.stage("kept").limit = limit;
    graph.stage("kept").take = Take::first;  // as validation settles it
    graph.consumer("sink", {"kept"});
    const Plan plan = plan_of(graph);
    SourceCounts counts(plan);
    counts.ready(0, 50, {});
    counts.begin({{plan.stages[0].queues[0].index_space, 50, 64}});
    KeepingLines lines;
    counts.say(lines);
    if (limit == 0) {
      EXPECT_TRUE(lines.lines.empty());
      EXPECT_EQ(counts.audits(), (std::vector<SourceAudit>{{"a", 50, {}}}));
    } else {
      EXPECT_EQ(lines.lines,
                (std::vector<std::string>{
                    "note: source kept: found 100, outputs 30, skipped 70: 70 beyond `limit:`"}));
    }
  }
}

}  // namespace
}  // namespace brigade
