#include "pipeline/stats/results.h"

#include <gtest/gtest.h>

#include <cmath>

namespace brigade {
namespace {

using U = std::uint64_t;

ReplicaResults replica(std::map<std::string, ReportedValue, std::less<>> values, U samples = 1) {
  return {std::move(values), samples};
}

std::optional<ReportedValue> combined(Combine rule, const std::vector<ReplicaResults>& replicas) {
  return combine_results({{"x", rule, false, ""}}, replicas).at(0).value;
}

TEST(Results, OfOneReplicaAreWhatItReported) {
  const auto one = {replica({{"x", 0.5}})};
  for (Combine rule : {Combine::sum, Combine::mean, Combine::exclusive_or, Combine::only}) {
    EXPECT_EQ(combined(rule, one), ReportedValue(0.5));
  }
}

TEST(Results, SumsStayWholeWhereAllAreWhole) {
  EXPECT_EQ(combined(Combine::sum, {replica({{"x", U{3}}}), replica({{"x", U{4}}})}),
            ReportedValue(U{7}));
  EXPECT_EQ(combined(Combine::sum, {replica({{"x", U{3}}}), replica({{"x", 0.5}})}),
            ReportedValue(3.5));
}

TEST(Results, AMeanIsWeightedBySamples) {
  EXPECT_EQ(combined(Combine::mean, {replica({{"x", 1.0}}, 30), replica({{"x", 0.0}}, 10)}),
            ReportedValue(0.75));
}

TEST(Results, AMeanIgnoresReplicasWithoutSamples) {
  EXPECT_EQ(combined(Combine::mean, {replica({{"x", 1.0}}, 5), replica({{"x", 9.0}}, 0)}),
            ReportedValue(1.0));
  EXPECT_EQ(combined(Combine::mean, {replica({{"x", 1.0}}, 0), replica({{"x", 9.0}}, 0)}),
            std::nullopt);
}

TEST(Results, ChecksumsAreCombinedByExclusiveOr) {
  EXPECT_EQ(combined(Combine::exclusive_or, {replica({{"x", U{12}}}), replica({{"x", U{10}}})}),
            ReportedValue(U{6}));
}

TEST(Results, WhatDependsOnTheOrderIsNothingForSeveralReplicas) {
  EXPECT_EQ(combined(Combine::only, {replica({{"x", U{12}}}), replica({})}), std::nullopt);
}

TEST(Results, NamesKeepTheContractsOrderAndOthersFollow) {
  const auto results =
      combine_results({{"loss", Combine::mean, true, ""}, {"accuracy", Combine::mean, false, ""}},
                      {replica({{"accuracy", 0.9}, {"loss", 0.1}, {"b", 1.0}, {"a", 2.0}})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].name, "loss");
  EXPECT_TRUE(results[0].progress);
  EXPECT_EQ(results[1].name, "accuracy");
  EXPECT_EQ(results[2].name, "a");
  EXPECT_EQ(results[3].name, "b");
}

TEST(Results, NamesThatNobodyReportedAreLeftOut) {
  EXPECT_TRUE(combine_results({{"loss", Combine::mean, true, ""}}, {replica({})}).empty());
}

TEST(Results, AreShownForPeople) {
  EXPECT_EQ(format_result({"samples", U{60000}, false}), "60,000");
  EXPECT_EQ(format_result({"accuracy", 0.891234, false}), "0.8912");
  EXPECT_EQ(format_result({"set_checksum", U{255}, false}), "00000000000000ff");
  EXPECT_EQ(format_result({"checksum", std::nullopt, false}), "-");
  EXPECT_EQ(format_result({"loss", std::nan(""), false}), "nan");
  EXPECT_EQ(format_result({"loss", -HUGE_VAL, false}), "-inf");
}

}  // namespace
}  // namespace brigade
