// The plain loop against what a person works out with pencil and paper.

#include "tests/conformance/plain/plain_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/line_run.h"

namespace brigade::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct ByHand : testing::Test {
  LineRun line;
  std::vector<Expected> consumers;
  std::vector<ExpectedEdge> edges;

  void load(const std::string& stages) {
    ASSERT_EQ(line.prepare("epochs: 2\nstages:\n" + stages), "");
    const PlainLoop plain(line.graph(), line.plan());
    consumers = plain.consumers();
    edges = plain.edges();
  }

  /// The ids of every call, a space after each, a bar before each call.
  std::string ids(std::size_t consumer) const {
    std::string text;
    for (const Expected::Call& call : consumers.at(consumer).calls) {
      text += "|";
      for (const std::string& sample : call.event.samples) {
        const std::size_t at = sample.find(" id ") + 4;
        text += sample.substr(at, sample.find(" |", at) - at) + " ";
      }
    }
    return text;
  }
};

constexpr const char* kEnd = "params: {folder: /}}\n";

TEST_F(ByHand, ShortBatchesEndEpochs) {
  load(concat("  a: {producer: synthetic, params: {count: 5}}\n",
              "  b: {consumer: record, from: {stage: a, batch: 2}, ", kEnd,
              "  c: {consumer: record, from: {stage: a, batch: 2}, drop_last: true, ", kEnd,
              "  d: {consumer: record, from: a, ", kEnd));
  EXPECT_EQ(ids(0), "|0 1 |2 3 |4 |0 1 |2 3 |4 ");
  EXPECT_EQ(ids(1), "|0 1 |2 3 |0 1 |2 3 ");
  EXPECT_EQ(ids(2), "|0 |1 |2 |3 |4 |0 |1 |2 |3 |4 ");
  EXPECT_EQ(edges[1].delivered, 8u);
}

TEST_F(ByHand, EmptySlotsMakeBatchesSmaller) {
  load(concat("  a: {producer: synthetic, params: {count: 6}}\n",
              "  b: {transform: sift, from: a, params: {every: 3, rest: 1}}\n",
              "  c: {consumer: record, from: {stage: b, batch: 2}, ", kEnd));
  EXPECT_EQ(ids(0), "|0 |2 3 |5 |0 |2 3 |5 ");
  EXPECT_EQ(edges[0].produced, 12u);
  EXPECT_EQ(edges[0].delivered, 8u);
  EXPECT_EQ(edges[1].produced, 8u);
}

TEST_F(ByHand, AEmptyInOneSourceIsAEmptyInTheZip) {
  load(concat("  a: {producer: synthetic, params: {count: 4}}\n",
              "  b: {transform: sift, from: a, params: {every: 2, rest: 1}}\n",
              "  c: {consumer: record, from: [a, b], join: zip, ", kEnd));
  EXPECT_EQ(ids(0), "|0 |2 |0 |2 ");
  EXPECT_THAT(consumers[0].calls[1].event.samples[0],
              HasSubstr("id 2 | a.data i64[] 0200000000000000 | b.data i64[] 0200000000000000"));
}

TEST_F(ByHand, EpochsTakeTurns) {
  load(concat("  a: {producer: synthetic, params: {count: 3}}\n",
              "  b: {producer: synthetic, params: {count: 2}}\n",
              "  c: {consumer: record, from: {x: {stage: a, batch: 2}, y: {stage: b, batch: 4}}, ",
              "join: epochs, ", kEnd));
  EXPECT_EQ(ids(0), "|0 1 |2 |0 1 |0 1 |2 |0 1 ");
  EXPECT_THAT(consumers[0].ports, ElementsAre("x", "y"));
}

TEST_F(ByHand, FixedReplicasTakeTurnsAndEqualCounts) {
  load(concat("  a: {producer: synthetic, params: {count: 5}}\n",
              "  b: {consumer: record, from: {stage: a, batch: 2}, replicas: 2, assign: fixed, ",
              kEnd,
              "  c: {consumer: record, from: {stage: a, batch: 2}, replicas: 2, assign: fixed, ",
              "drop_last: true, ", kEnd));
  EXPECT_EQ(ids(0), "|0 1 |2 3 |4 ||0 1 |2 3 |4 |");
  EXPECT_EQ(consumers[0].calls[3].replica, 1);
  EXPECT_EQ(ids(1), "|0 1 |2 3 |0 1 |2 3 ");
}

TEST_F(ByHand, FailedSamplesAndBatchesDroppedAreEmptySlots) {
  load(concat("  a: {producer: synthetic, params: {count: 6}}\n",
              "  b: {transform: delay, from: a, params: {fail_at: [4]}, on_error: {skip: 1}}\n",
              "  c: {transform: toss, from: {stage: b, batch: 2}, params: {every: 4}}\n",
              "  d: {consumer: record, from: c, ", kEnd));
  EXPECT_EQ(ids(0), "|2 |3 |5 |2 |3 |5 ");
}

TEST_F(ByHand, KeepAndDropChooseWhatTravelsOn) {
  load(concat("  a: {producer: synthetic, params: {count: 1, shape: [2], dtype: u8}}\n",
              "  b: {transform: split, from: a}\n",
              "  c: {transform: digest, from: b, keep: low}\n", "  d: {consumer: record, from: c, ",
              kEnd, "  e: {transform: passthrough, from: b, drop: [low]}\n",
              "  f: {consumer: record, from: e, ", kEnd, "  g: {consumer: record, from: b.high, ",
              kEnd));
  const auto first = [&](std::size_t consumer) {
    return consumers[consumer].calls[0].event.samples[0];
  };
  EXPECT_THAT(first(0), HasSubstr("id 0 | digest i64[2] "));
  EXPECT_THAT(first(0), HasSubstr(" | low u8[3] "));
  EXPECT_THAT(first(0), Not(HasSubstr("words")));
  EXPECT_THAT(first(1), HasSubstr("id 0 | high f32[2, 2] 000000000000003e0000803e0000c03e"));
  EXPECT_THAT(first(1), HasSubstr(" | words i32["));
  EXPECT_THAT(first(2), HasSubstr("id 0 | high f32[2, 2] "));
  EXPECT_THAT(first(2), Not(HasSubstr("words")));
}

TEST_F(ByHand, AFusedDrawsFromAStreamForEachLink) {
  load(concat("  a: {producer: synthetic, params: {count: 2, dtype: u8}}\n",
              "  b: {transform: [shift, shift], from: a}\n", "  c: {consumer: record, from: b, ",
              kEnd));
  Philox first(0, stream_id("b/shift"), 1, 1);
  Philox second(0, stream_id("b/shift#2"), 1, 1);
  const auto byte = static_cast<std::uint8_t>(1 ^ first.next() ^ second.next());
  const std::string hex{"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  EXPECT_THAT(consumers[0].calls[3].event.samples[0], HasSubstr("id 1 | data u8[] " + hex));
}

}  // namespace
}  // namespace brigade::conformance
