#include "pipeline/worker/throttled_reporter.h"
#include "pipeline/worker/replica_main.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include <brigade/text.h>
#include "tests/support/fake_clock.h"
#include "tests/support/session.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// Keeps the reports of a replica.
struct KeepingSink final : ReportSink {
  std::vector<Report> reports;
  bool full = false;

  void send(const Report& report) override { reports.push_back(report); }
  bool try_send(const Report& report) override {
    if (!full) send(report);
    return !full;
  }
};

struct Throttling : testing::Test {
  KeepingSink sink;
  FakeClock clock;
  ThrottledReporter reporter{3, sink, clock};

  void after_ms(int milliseconds) { clock.advance(std::chrono::milliseconds(milliseconds)); }
};

TEST_F(Throttling, TheFirstValueGoesAtOnce) {
  reporter.report("loss", 0.5);
  ASSERT_EQ(sink.reports.size(), 1u);
  EXPECT_EQ(sink.reports[0], (Report{3, Reported{"loss", 0.5}}));
}

TEST_F(Throttling, OneValuePerNameAndTenthOfASecond) {
  for (int i = 0; i < 100; ++i) {
    reporter.report("loss", 0.1 * i);
    reporter.report("samples", std::uint64_t{7});
    after_ms(10);
  }
  EXPECT_EQ(sink.reports.size(), 20u);
}

TEST_F(Throttling, TheLastValueAlwaysArrives) {
  reporter.report("loss", 0.5);
  reporter.report("loss", 0.4);
  reporter.flush();
  ASSERT_EQ(sink.reports.size(), 2u);
  EXPECT_EQ(sink.reports[1], (Report{3, Reported{"loss", 0.4}}));
  reporter.flush();
  EXPECT_EQ(sink.reports.size(), 2u);
}

TEST_F(Throttling, AFullPipeCostsNumbersNotTheLastOne) {
  sink.full = true;
  reporter.report("loss", 0.5);
  EXPECT_TRUE(sink.reports.empty());
  reporter.flush();
  EXPECT_EQ(sink.reports.size(), 1u);
}

TEST_F(Throttling, LinesArriveOneByOne) {
  sink.full = true;  // does not matter to lines
  reporter.log("one\ntwo\n\n");
  ASSERT_EQ(sink.reports.size(), 2u);
  EXPECT_EQ(sink.reports[1], (Report{3, Logged{"two"}}));
}

TEST_F(Throttling, TheSubjectOfALineGoesWithIt) {
  reporter.log_once("channels", "one\ntwo");
  ASSERT_EQ(sink.reports.size(), 2u);
  EXPECT_EQ(sink.reports[1], (Report{3, Logged{"two", "channels"}}));
}

/// A pipe of packets; what comes out of it is a report each.
struct PacketPipe {
  int ends[2] = {-1, -1};
  PacketPipe() { EXPECT_EQ(pipe2(ends, O_DIRECT), 0); }
  ~PacketPipe() {
    close(ends[0]);
    close(ends[1]);
  }
  ReportContent next() const {
    char packet[kReportBytesMax];
    const ssize_t bytes = read(ends[0], packet, sizeof packet);
    return parse_report({packet, static_cast<std::size_t>(bytes)}).value();
  }
};

TEST(PipeSink, APacketIsAReport) {
  const PacketPipe pipe;
  PipeSink sink(pipe.ends[1]);
  sink.send({1, Logged{"one"}});
  sink.send({2, Done{}});
  EXPECT_EQ(pipe.next(), ReportContent(Logged{"one"}));
  EXPECT_EQ(pipe.next(), ReportContent(Done{}));
}

TEST(PipeSink, DoesNotWaitForRoomWhereItNeedNot) {
  const PacketPipe pipe;
  PipeSink sink(pipe.ends[1]);
  int sent = 0;
  while (sink.try_send({0, Reported{"loss", 0.1}})) ++sent;
  EXPECT_GT(sent, 1);
}

TEST(PipeSink, ReportsOfSeveralWritersDoNotMix) {
  const PacketPipe pipe;
  constexpr int kWriters = 4;
  constexpr int kEach = 500;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      PipeSink sink(pipe.ends[1]);
      for (int i = 0; i < kEach; ++i)
        sink.send({w, Logged{concat(w, ' ', std::string(1 + (i * 37) % 3000, 'x'))}});
    });
  }
  int count[kWriters] = {};
  for (int i = 0; i < kWriters * kEach; ++i)
    ++count[std::get<Logged>(pipe.next()).line.front() - '0'];
  for (int each : count) EXPECT_EQ(each, kEach);
  for (std::thread& writer : writers) writer.join();
}

struct ReplicaMain : testing::Test {
  KeepingSink sink;

  std::string failure(const std::function<Result<void>()>& work) {
    EXPECT_FALSE(replica_main(3, sink, work));
    if (sink.reports.size() != 1) return concat(sink.reports.size(), " reports");
    EXPECT_EQ(sink.reports[0].replica, 3);
    return std::get<Failed>(sink.reports[0].what).message;
  }
};

TEST_F(ReplicaMain, WorkThatReturnsSaysNothingMore) {
  EXPECT_TRUE(replica_main(3, sink, [] { return Result<void>(); }));
  EXPECT_TRUE(sink.reports.empty());
}

TEST_F(ReplicaMain, AnErrorIsReported) {
  EXPECT_EQ(failure([]() -> Result<void> { return Error{"no more disk"}; }), "no more disk");
}

TEST_F(ReplicaMain, AnExceptionIsReportedAsOneLine) {
  EXPECT_EQ(failure([]() -> Result<void> { throw std::runtime_error("no more disk\nframe 1"); }),
            "no more disk");
}

TEST_F(ReplicaMain, AnythingElseThatIsThrownIsReportedToo) {
  EXPECT_EQ(failure([]() -> Result<void> { throw 17; }),
            "an exception that is not a std::exception");
}

TEST(ReplicaMainOfProcesses, AConstructorThatThrowsAnythingEndsTheRunWithItsName) {
  Session session;
  const RunOutcome outcome = session.run(line_yaml("consumer: throws_when_made"));
  EXPECT_THAT(outcome.failure, HasSubstr("stage \"end\" replica 0 (pid "));
  EXPECT_THAT(outcome.failure, HasSubstr("an exception that is not a std::exception"));
}

}  // namespace
}  // namespace brigade
