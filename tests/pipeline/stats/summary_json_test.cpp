#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/stats/summary.h"
#include "tests/support/example_summary.h"

namespace brigade {
namespace {

using nlohmann::json;

json written() { return json::parse(summary_json(example_summary())); }

TEST(SummaryJson, HasTheFieldsThatScriptsRelyOn) {
  const json out = written();
  EXPECT_EQ(out["samples"], 2000);
  EXPECT_EQ(out["seconds"], 4.0);
  EXPECT_EQ(out["samples_per_second"], 500.0);
  EXPECT_EQ(out["first_sample_seconds"], 0.05);
  EXPECT_EQ(out["epochs"], 2);
  EXPECT_EQ(out.size(), 9u);
}

TEST(SummaryJson, SaysWhatSourcesLeaveOut) {
  const json limit = {{"count", 200}, {"why", "limit"}, {"text", "behind `limit:`"}};
  const json others = {{"count", 3}, {"why", "no_match"}, {"text", "files that are no images"}};
  EXPECT_EQ(written()["sources"], json::array({{{"name", "images"},
                                                {"found", 1203},
                                                {"gives", 1000},
                                                {"left_out", json::array({limit, others})}},
                                               {{"name", "lines"},
                                                {"found", nullptr},
                                                {"gives", nullptr},
                                                {"left_out", json::array()}}}));
}

TEST(SummaryJson, ListsStagesInSeconds) {
  EXPECT_EQ(written()["stages"][1], json({{"name", "train"},
                                          {"samples", 2000},
                                          {"busy", 3.0},
                                          {"wait_in", 1.0},
                                          {"wait_out", 0.0},
                                          {"restarts", 1},
                                          {"skipped", 0}}));
  EXPECT_EQ(written()["stages"][0]["skipped"], 7);
}

TEST(SummaryJson, ListsTheBooksOfEveryEdge) {
  EXPECT_EQ(written()["edges"], json::array({{{"from", "images"},
                                              {"to", "train"},
                                              {"produced", 2000},
                                              {"delivered", 1990},
                                              {"dropped", 7},
                                              {"quarantined", 3},
                                              {"leaked", 0}}}));
}

TEST(SummaryJson, NamesResultsByStage) {
  EXPECT_EQ(written()["results"]["train"],
            json({{"loss", 0.25}, {"checksum", nullptr}, {"set_checksum", "000000000000beef"}}));
  EXPECT_EQ(written()["results"]["images"], json::object());
}

TEST(SummaryJson, WhatIsNoNumberIsNull) {
  RunSummary summary = example_summary();
  summary.results[1].second[0].value = std::nan("");
  summary.first_sample_seconds.reset();
  const json out = json::parse(summary_json(summary));
  EXPECT_TRUE(out["results"]["train"]["loss"].is_null());
  EXPECT_TRUE(out["first_sample_seconds"].is_null());
}

TEST(SummaryJson, BigWholeNumbersStayExact) {
  RunSummary summary = example_summary();
  summary.results[1].second[0] = {"samples", std::uint64_t{(1ull << 63) + 1}, false};
  EXPECT_NE(summary_json(summary).find("9223372036854775809"), std::string::npos);
}

}  // namespace
}  // namespace brigade
