// The plain loop against what a person works out with pencil and paper:
// tests/golden/plain_loop.txt.
// `> a: {...}` adds a stage, `> run` gives two epochs: the ids of every call, a bar before each and
// the replica behind it, the ports, and what went over each edge; `> samples` the first sample of
// each call.

#include "tests/conformance/plain/plain_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/line_run.h"
#include "tests/support/word_for_word.h"

namespace brigade::conformance {
namespace {

std::string ids(const Expected::Call& call) {
  std::string text = concat("|", call.replica, ":");
  for (const std::string& sample : call.event.samples) {
    const std::size_t at = sample.find(" id ") + 4;
    text += " " + sample.substr(at, sample.find(" |", at) - at);
  }
  return text + " ";
}

/// Without its number, which the plan's rings have a say in.
std::string first_of(const Expected::Call& call) {
  const std::string& sample = call.event.samples.at(0);
  return sample.substr(sample.find("epoch ")) + "\n";
}

struct ByHand {
  std::string stages = "epochs: 2\nstages:\n";

  std::string answer(std::string_view line) {
    if (line.find(':') != line.npos) {
      stages += concat("  ", line, "\n");
      return {};
    }
    LineRun run;
    if (const std::string error = run.prepare(stages); !error.empty()) return error + "\n";
    const PlainLoop plain(run.graph(), run.plan());
    std::string out;
    for (const Expected& consumer : plain.consumers()) {
      for (const Expected::Call& call : consumer.calls)
        out += line == "run" ? ids(call) : first_of(call);
      if (line == "run") out += concat("of ", join(consumer.ports, ", "), "\n");
    }
    for (const ExpectedEdge& edge : plain.edges())
      if (line == "run") out += concat(edge.produced, " -> ", edge.delivered, "\n");
    return out;
  }
};

TEST(ByHand, WhatThePlainLoopGives) { expect_session<ByHand>("plain_loop.txt"); }

TEST(ByHand, AFusedDrawsFromAStreamForEachLink) {
  LineRun line;
  ASSERT_EQ(line.prepare("epochs: 2\nstages:\n"
                         "  a: {producer: synthetic, params: {count: 2, dtype: u8}}\n"
                         "  b: {transform: [shift, shift], from: a}\n"
                         "  c: {consumer: record, from: b, params: {folder: /}}\n"),
            "");
  const PlainLoop plain(line.graph(), line.plan());
  Philox first(0, stream_id("b/shift"), 1, 1);
  Philox second(0, stream_id("b/shift#2"), 1, 1);
  const auto byte = static_cast<std::uint8_t>(1 ^ first.next() ^ second.next());
  const std::string hex{"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  EXPECT_THAT(plain.consumers()[0].calls[3].event.samples[0],
              testing::HasSubstr("id 1 | data u8[] " + hex));
}

}  // namespace
}  // namespace brigade::conformance
