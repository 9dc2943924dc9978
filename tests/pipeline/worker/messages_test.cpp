#include "pipeline/worker/messages.h"

#include <gtest/gtest.h>

#include <cmath>

namespace brigade {
namespace {

WorkerRole example_role() {
  WorkerRole role;
  role.name = "augment.1";
  role.stage = 1;
  role.replica = 1;
  role.number = 2;
  role.supervisor = 4711;
  role.control_fd = 5;
  role.plan_fd = 9;
  role.report_fd = 6;
  role.spins = 200;
  role.libraries = {"/plugins/jitter.so"};
  role.contract = ~0ull;
  role.rings = {{1, 7, true, 9}, {0, 8, false}};
  role.device = {{1, 10, true}, {0, 11, false}};
  role.memory_fd = 12;
  return role;
}

TEST(Messages, ARoleReadsBackAsItWasPrinted) {
  const auto role = parse_role(print_role(example_role()));
  ASSERT_TRUE(role.ok());
  EXPECT_EQ(*role, example_role());
}

TEST(Messages, ARoleThatIsNoneSaysWhatToDo) {
  for (const char* text : {"", "1", "{}", "{\"stage\":\"x\"}", "[1,2"}) {
    const auto role = parse_role(text);
    ASSERT_FALSE(role.ok()) << text;
    EXPECT_NE(role.error().message.find("BRIGADE_WORKER"), std::string::npos);
    EXPECT_NE(role.error().message.find("unset it"), std::string::npos);
  }
}

TEST(Messages, EveryReportReadsBackAsItWasPrinted) {
  const std::vector<ReportContent> reports = {
      Ready{std::nullopt},
      Ready{60'000},
      Ready{10, {{SkipReason::blank, 3, "blank lines"}, {SkipReason::limit, 1, "\xc3\xa9"}}},
      Failed{"cannot open \"x\":\nno such file"},
      Logged{"accuracy 0.9 \xc3\xa9"},
      Logged{"a.tif has 2 channels", "channels"},
      Reported{"loss", 0.1},
      Reported{"checksum", ~std::uint64_t{0}},
      Quarantined{{1, 2, 3, 4, "n01440764/x.JPEG"}},
      Done{},
  };
  for (const ReportContent& report : reports) {
    const auto read = parse_report(print_report(report));
    ASSERT_TRUE(read.ok()) << print_report(report);
    EXPECT_EQ(*read, report) << print_report(report);
  }
}

TEST(Messages, WhatIsDroppedFitsAPacketWhateverItSays) {
  Ready ready{10, {}};
  for (std::size_t i = 0; i < kSkipReasonsMax; ++i)
    ready.skipped.push_back({SkipReason::no_match, i, std::string(kSkipTextBytesMax, '\x01')});
  const std::string text = print_report(ready);
  EXPECT_LE(text.size(), kReportBytesMax);
  const auto read = parse_report(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<Ready>(*read).skipped.front(), ready.skipped.front());
}

TEST(Messages, NumbersThatAreNoneTravelToo) {
  for (double value : {HUGE_VAL, -HUGE_VAL}) {
    const ReportContent report = Reported{"loss", value};
    EXPECT_EQ(*parse_report(print_report(report)), report);
  }
  const auto read = parse_report(print_report(Reported{"loss", std::nan("")}));
  EXPECT_TRUE(std::isnan(std::get<double>(std::get<Reported>(*read).value)));
}

TEST(Messages, ALongTextIsCutToOnePacket) {
  for (const std::string& piece : {std::string("x"), std::string("\n"), std::string("\xff")}) {
    std::string message;
    while (message.size() < 100'000) message += piece;
    const std::string text = print_report(Failed{message});
    EXPECT_LE(text.size(), kReportBytesMax);
    EXPECT_GT(text.size(), kReportBytesMax / 2);
    const auto read = parse_report(text);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(std::get<Failed>(*read).message.ends_with("..."));
    EXPECT_LE(print_report(Logged{message, message}).size(), kReportBytesMax);
  }
}

TEST(Messages, BytesThatAreNoUtf8AreReplaced) {
  const auto read =
      parse_report(print_report(Logged{"a\xff"
                                       "b"}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<Logged>(*read).line,
            "a\xef\xbf\xbd"
            "b");
}

TEST(Messages, WhatIsNoReportIsAnError) {
  for (const char* text : {"", "{}", "[]", "{\"kind\":\"odd\"}", "\x80", "{\"kind\":\"done\""}) {
    EXPECT_FALSE(parse_report(text).ok()) << text;
  }
}

}  // namespace
}  // namespace brigade
