#include "pipeline/process/reporting.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "tests/support/fake_clock.h"
#include "tests/support/keeping_sink.h"

namespace brigade {
namespace {

struct Thinning : testing::Test {
  KeepingSink sink;
  FakeClock clock;
  ThinningReporter reporter{3, sink, clock};

  void after_ms(int milliseconds) { clock.advance(std::chrono::milliseconds(milliseconds)); }
};

TEST_F(Thinning, TheFirstValueGoesAtOnce) {
  reporter.report("loss", 0.5);
  ASSERT_EQ(sink.reports.size(), 1u);
  EXPECT_EQ(sink.reports[0], (Report{3, Reported{"loss", 0.5}}));
}

TEST_F(Thinning, OneValuePerNameAndTenthOfASecond) {
  for (int i = 0; i < 100; ++i) {
    reporter.report("loss", 0.1 * i);
    reporter.report("samples", std::uint64_t{7});
    after_ms(10);
  }
  EXPECT_EQ(sink.reports.size(), 20u);
}

TEST_F(Thinning, TheLastValueAlwaysArrives) {
  reporter.report("loss", 0.5);
  reporter.report("loss", 0.4);
  reporter.flush();
  ASSERT_EQ(sink.reports.size(), 2u);
  EXPECT_EQ(sink.reports[1], (Report{3, Reported{"loss", 0.4}}));
  reporter.flush();
  EXPECT_EQ(sink.reports.size(), 2u);
}

TEST_F(Thinning, AFullPipeCostsNumbersNotTheLastOne) {
  sink.full = true;
  reporter.report("loss", 0.5);
  EXPECT_TRUE(sink.reports.empty());
  reporter.flush();
  EXPECT_EQ(sink.reports.size(), 1u);
}

TEST_F(Thinning, LinesArriveOneByOne) {
  sink.full = true;  // does not matter to lines
  reporter.say("one\ntwo\n\n");
  ASSERT_EQ(sink.reports.size(), 2u);
  EXPECT_EQ(sink.reports[1], (Report{3, Said{"two"}}));
}

TEST(PipeSink, APacketIsAReport) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_DIRECT), 0);
  PipeSink sink(ends[1]);
  sink.send({1, Said{"one"}});
  sink.send({2, Done{}});
  char packet[kReportBytesMax];
  const ssize_t first = read(ends[0], packet, sizeof packet);
  EXPECT_EQ(*parse_report({packet, static_cast<std::size_t>(first)}), ReportContent(Said{"one"}));
  const ssize_t second = read(ends[0], packet, sizeof packet);
  EXPECT_EQ(*parse_report({packet, static_cast<std::size_t>(second)}), ReportContent(Done{}));
  close(ends[0]);
  close(ends[1]);
}

TEST(PipeSink, DoesNotWaitForRoomWhereItNeedNot) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_DIRECT), 0);
  PipeSink sink(ends[1]);
  int sent = 0;
  while (sink.try_send({0, Reported{"loss", 0.1}})) ++sent;
  EXPECT_GT(sent, 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(PipeSink, ReportsOfSeveralWritersDoNotMix) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_DIRECT), 0);
  constexpr int kWriters = 4;
  constexpr int kEach = 500;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      PipeSink sink(ends[1]);
      for (int i = 0; i < kEach; ++i)
        sink.send({w, Said{concat(w, ' ', std::string(1 + (i * 37) % 3000, 'x'))}});
    });
  }
  int count[kWriters] = {};
  for (int i = 0; i < kWriters * kEach; ++i) {
    char packet[kReportBytesMax];
    const ssize_t bytes = read(ends[0], packet, sizeof packet);
    const auto report = parse_report({packet, static_cast<std::size_t>(bytes)});
    ASSERT_TRUE(report.ok()) << report.error().message;
    ++count[std::get<Said>(*report).line.front() - '0'];
  }
  for (int each : count) EXPECT_EQ(each, kEach);
  for (std::thread& writer : writers) writer.join();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace brigade
