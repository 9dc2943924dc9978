#include "pipeline/process/messages.h"

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
  role.report_fd = 6;
  role.spins = 200;
  role.libraries = {"/plugins/jitter.so"};
  role.contract = ~0ull;
  role.pools = {{1, 7, true, 9}, {0, 8, false}};
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
  const std::vector<Report> reports = {
      {0, Ready{std::nullopt}},
      {1, Ready{60'000}},
      {2, Failed{"cannot open \"x\":\nno such file"}},
      {3, Said{"accuracy 0.9 \xc3\xa9"}},
      {4, Reported{"loss", 0.1}},
      {5, Reported{"checksum", ~std::uint64_t{0}}},
      {255, Done{}},
  };
  for (const Report& report : reports) {
    const auto read = parse_report(print_report(report));
    ASSERT_TRUE(read.ok()) << print_report(report);
    EXPECT_EQ(*read, report) << print_report(report);
  }
}

TEST(Messages, NumbersThatAreNoneTravelToo) {
  for (double value : {HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(*parse_report(print_report({0, Reported{"loss", value}})),
              (Report{0, Reported{"loss", value}}));
  }
  const auto read = parse_report(print_report({0, Reported{"loss", std::nan("")}}));
  EXPECT_TRUE(std::isnan(std::get<double>(std::get<Reported>(read->what).value)));
}

TEST(Messages, ALongTextIsCutToOnePacket) {
  for (const std::string& piece : {std::string("x"), std::string("\n"), std::string("\xff")}) {
    std::string message;
    while (message.size() < 100'000) message += piece;
    const std::string text = print_report({7, Failed{message}});
    EXPECT_LE(text.size(), kReportBytesMax);
    EXPECT_GT(text.size(), kReportBytesMax / 2);
    const auto read = parse_report(text);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(std::get<Failed>(read->what).message.ends_with("..."));
  }
}

TEST(Messages, BytesThatAreNoUtf8AreReplaced) {
  const auto read = parse_report(print_report({0, Said{"a\xff"
                                                       "b"}}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<Said>(read->what).line,
            "a\xef\xbf\xbd"
            "b");
}

TEST(Messages, WhatIsNoReportIsAnError) {
  for (const char* text :
       {"", "{}", "{\"replica\":0,\"kind\":\"odd\"}", "\x80", "{\"replica\":0"}) {
    EXPECT_FALSE(parse_report(text).ok()) << text;
  }
}

}  // namespace
}  // namespace brigade
