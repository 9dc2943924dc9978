#include "pipeline/report/summary.h"
#include "pipeline/report/results.h"
#include "pipeline/report/source_audit.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "tests/support/golden.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

/// A small run that has ended.
RunSummary example_summary() {
  StageFigures images;
  images.name = "images";
  images.kind = StageKind::producer;
  images.replicas = 2;
  images.samples = 2000;
  images.busy_ns = 400'000'000;
  images.wait_out_ns = 3'600'000'000;
  images.skipped = 7;
  StageFigures train;
  train.name = "train";
  train.kind = StageKind::consumer;
  train.samples = 2000;
  train.busy_ns = 3'000'000'000;
  train.wait_in_ns = 1'000'000'000;
  train.restarts = 1;

  RunSummary summary;
  summary.figures.stages = {images, train};
  summary.figures.samples = 2000;
  summary.figures.epochs = 2;
  summary.start_seconds = 0.04;
  summary.seconds = 4;
  summary.first_sample_seconds = 0.05;
  summary.sources = {{"images",
                      1000,
                      {{SkipReason::limit, 200, "beyond `limit:`"},
                       {SkipReason::no_match, 3, "files that are not images"}}},
                     {"lines", std::nullopt, {}}};
  EdgeAudit audit;
  audit.produced = 2000;
  audit.delivered = 1990;
  audit.dropped = 7;
  audit.quarantined = 3;
  summary.edges = {{"images", "train", audit}};
  summary.results = {{"images", {}},
                     {"train",
                      {{"loss", 0.25, true},
                       {"checksum", std::nullopt, false},
                       {"set_checksum", std::uint64_t{0xbeef}, false}}}};
  return summary;
}

TEST(Summary, TellsPeopleWhatTheRunAmountedTo) {
  Plan plan;
  plan.name = "demo";
  EXPECT_EQ(summary_text(plan, example_summary()),
            "demo: 2,000 samples, 2 epochs in 4.0 s, 500 samples/s; the start took 40.0 ms, first "
            "sample after 50.0 ms\n"
            "  stage   replicas  samples  samples/s  busy  waits in  waits out\n"
            "  images         2    2,000        500  10 %       0 %       90 %\n"
            "  train          1    2,000        500  75 %      25 %        0 %\n"
            "  bottleneck: train (busy 75 %): the pipeline keeps up\n"
            "  source images: found 1,203, outputs 1,000, skipped 203: 200 beyond `limit:`, 3 "
            "files that are not images\n"
            "  edge images -> train: produced 2,000 = delivered 1,990 + dropped 7 + quarantined 3, "
            "leaked 0\n"
            "  train: loss 0.25, checksum -, set_checksum 000000000000beef\n");
}

TEST(Summary, ListsEdgesWhereSomethingWasNotDeliveredOrAllWhenAsked) {
  RunSummary summary = example_summary();
  EdgeAudit good;
  good.produced = good.delivered = 9;
  summary.edges.push_back({"train", "end", good});
  EXPECT_EQ(summary_text(Plan{}, summary).find("edge train"), std::string::npos);
  EXPECT_NE(summary_text(Plan{}, summary, SummaryDetail::edges).find("edge train"),
            std::string::npos);
  summary.edges.erase(summary.edges.begin());
  EXPECT_NE(summary_text(Plan{}, summary).find("  all samples were delivered\n"),
            std::string::npos);
  EXPECT_EQ(summary_text(Plan{}, summary, SummaryDetail::results),
            "  train: loss 0.25, checksum -, set_checksum 000000000000beef\n");
}

TEST(Summary, OfAMomentNamesNoBottleneck) {
  RunSummary summary = example_summary();
  summary.seconds = 0.04;
  EXPECT_EQ(summary_text(Plan{}, summary).find("bottleneck"), std::string::npos);
  summary.seconds = 0.06;  // the control
  EXPECT_NE(summary_text(Plan{}, summary).find("bottleneck"), std::string::npos);
}

TEST(Summary, OfARunThatNeverBeganDividesByNothing) {
  RunSummary summary;
  EXPECT_EQ(summary_text(Plan{}, summary),
            "run: 0 samples, 0 epochs in 0 ns, - samples/s; the start took 0 ns\n"
            "  stage  replicas  samples  samples/s  busy  waits in  waits out\n");
}

using nlohmann::json;

TEST(SummaryJson, HasWhatScriptsRelyOn) {
  expect_golden("process/summary.json", summary_json(example_summary(), "done", ""));
}

TEST(SummaryJson, SaysWhyARunFailed) {
  const json out = json::parse(summary_json({}, "failed", "train.1 was killed"));
  EXPECT_EQ(out["end"], "failed");
  EXPECT_EQ(out["failure"], "train.1 was killed");
  EXPECT_EQ(out["samples"], 0);
}

TEST(SummaryJson, WhatIsNoNumberIsNull) {
  RunSummary summary = example_summary();
  summary.results[1].second[0].value = std::nan("");
  summary.first_sample_seconds.reset();
  const json out = json::parse(summary_json(summary, "done", ""));
  EXPECT_TRUE(out["results"]["train"]["loss"].is_null());
  EXPECT_TRUE(out["first_sample_seconds"].is_null());
}

TEST(SummaryJson, BigWholeNumbersStayExact) {
  RunSummary summary = example_summary();
  summary.results[1].second[0] = {"samples", std::uint64_t{(1ull << 63) + 1}, false};
  EXPECT_NE(summary_json(summary, "done", "").find("9223372036854775809"), std::string::npos);
}

const SkippedInputs kRanks{SkipReason::ranks, 30, "for the other ranks"};
const SkippedInputs kKeys{SkipReason::no_match, 1234, "keys without an image"};

TEST(SourceAudit, WhatWasFoundIsGivenOrDropped) {
  const SourceAudit audit{"train", 10, {kRanks, kKeys}};
  EXPECT_EQ(found_by(audit), 1274u);
  EXPECT_EQ(source_text(audit),
            "source train: found 1,274, outputs 10, skipped 1,264: 30 for the other ranks, 1,234 "
            "keys without an image");
  EXPECT_EQ(source_text({"train", 10, {}}), "source train: found 10, outputs 10, skipped 0");
}

TEST(SourceAudit, TheGraphLeavesOutWhatIsBehindLimitsAndForOtherRanks) {
  const SkippedInputs limit{SkipReason::limit, 89, "omitted by `limit:`"};
  const SkippedInputs ranks{SkipReason::ranks, 6, "for the other ranks"};
  const SkippedInputs most{SkipReason::ranks, 7, "for the other ranks"};
  const SkippedInputs rest{SkipReason::uneven, 2,
                           "left over after division among the ranks (`uneven: drop`)"};
  EXPECT_TRUE(left_out({}, Subset({}, 7, 10), 10, {}).empty());
  StageKeys keys;
  keys.limit = 11;
  const Subset subset(keys, 7, 100);
  EXPECT_EQ(left_out(keys, subset, 3, {1, 3, Uneven::drop}),
            (std::vector<SkippedInputs>{limit, ranks, rest}));
  EXPECT_EQ(left_out(keys, subset, 4, {1, 3, Uneven::pad}),
            (std::vector<SkippedInputs>{limit, most}));
}

TEST(SourceAudit, SourcesAndCachesThatTellAreKnownBeforeTheRun) {
  const Ports slot{{"x", u8, {4}}};
  GraphBuilder graph("known");
  graph.producer("told", slot).samples = 100;
  graph.stage("told").limit = 40;
  graph.transform("twice", {"told"}, slot).outputs_per_input = 2;
  graph.type_of("twice").contract.numbering = Numbering::expand;
  graph.transform("kept", {"twice"}, slot).passed = {{"x", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.stage("kept").limit = 30;
  graph.stage("kept").take = Take::first;  // as validation settles it
  graph.producer("untold", slot);
  graph.consumer("end", {"kept"});
  graph.consumer("other", {"untold"});
  const SkippedInputs above{SkipReason::limit, 60, "omitted by `limit:`"};
  const SkippedInputs below{SkipReason::limit, 50, "beyond `limit:`"};
  EXPECT_EQ(
      planned_sources(graph.build(), plan_of(graph)),
      (std::vector<SourceAudit>{{"told", 40, {above}}, {"kept", 30, {below}}, {"untold", {}, {}}}));
}

TEST(SourceAudit, WhatTheSourceSkipsStandsBehindWhatTheGraphLeavesOut) {
  GraphBuilder graph("known");
  ValidStage& told = graph.producer("told", {{"x", u8, {4}}});
  told.samples = 100;
  told.limit = 40;
  told.skipped = {kKeys,
                  {SkipReason::hidden, 0, "hidden files"},
                  {SkipReason::no_match, 2, "\x1b[2J" + std::string(kSkipTextBytesMax, 'x')}};
  graph.consumer("end", {"told"});
  const std::string cut = "\\x1b[2J" + std::string(kSkipTextBytesMax - 4, 'x');
  EXPECT_EQ(planned_sources(graph.build(), plan_of(graph)),
            (std::vector<SourceAudit>{{"told",
                                       40,
                                       {{SkipReason::limit, 60, "omitted by `limit:`"},
                                        kKeys,
                                        {SkipReason::no_match, 2, cut}}}}));
}

TEST(SourceAudit, AStreamHasNoNumbers) {
  EXPECT_EQ(found_by({"lines", std::nullopt, {}}), std::nullopt);
  EXPECT_EQ(source_text({"lines", std::nullopt, {}}), "source lines: a stream");
}

TEST(SourceAudit, OnlyWhatNobodyAskedForIsSurprising) {
  EXPECT_FALSE(is_surprising(SourceAudit{"train", 10, {kRanks}}));
  EXPECT_TRUE(is_surprising(SourceAudit{"train", 10, {kRanks, kKeys}}));
}

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

TEST(Results, NamesThatNobodyReportedAreDropped) {
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
