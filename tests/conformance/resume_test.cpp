// Every shape of line, stopped again and again at some moment and resumed by another run: together
// the runs see what the plain loop says. After runs that ran dry exactly once and in order, and
// their books add up to its books; after runs that were ended at once, at least once.

#include <gtest/gtest.h>

#include <random>

#include "tests/conformance/line_run.h"
#include "tests/conformance/shapes.h"
#include "tests/conformance/shapes_of_unknown_length.h"

namespace brigade::conformance {
namespace {

constexpr int kPartsMax = 200;
constexpr std::uint64_t kTries = 50;
constexpr int kPartsOfMilliseconds = 4;  // then longer ones, so that it comes to an end

/// With consumers that take their time, so that there is a middle to stop in.
std::string with_checkpoint(const ShapeOfLine& shape, int replicas, int batch) {
  std::string yaml = shape_yaml(shape, replicas, batch);
  // The fewer calls, the longer each.
  const std::string slow = concat("{folder: \"${RECORDS}\", sleep_us: ", 40 * batch, "}");
  const std::string_view fast = "{folder: \"${RECORDS}\"}";
  for (auto at = yaml.find(fast); at != std::string::npos; at = yaml.find(fast, at + 1))
    yaml.replace(at, fast.size(), slow);
  return "checkpoint: {file: \"${RECORDS}/line.ckpt\"}\n" + yaml;
}

bool has(const ShapeOfLine& shape, const char* what) {
  return std::string_view(shape.stages).find(what) != std::string_view::npos;
}

/// Samples that are numbered anew get other numbers in a run that goes on: their places in the
/// epoch stay.
void forget_numbers(Event& event) {
  for (std::string& sample : event.samples) sample = sample.substr(sample.find(" epoch "));
  if (event.samples.empty()) return;
  const std::string& first = event.samples.front();
  event.number = std::stoull(first.substr(first.find(" index ") + 7));
}

class Parts {
 public:
  Parts(const ShapeOfLine& shape, bool at_once, bool in_process)
      : shape_(shape), at_once_(at_once), in_process_(in_process) {}

  /// What differs; empty: nothing. `replicas`: of the runs in turn.
  std::string run(const std::vector<int>& replicas, int batch, std::uint64_t seed) {
    std::mt19937_64 chance(seed);
    LineRun line;
    for (int part = 0; part < kPartsMax; ++part) {
      const int count = replicas[static_cast<std::size_t>(part) % replicas.size()];
      const std::string mistakes = line.prepare(with_checkpoint(shape_, count, batch));
      if (!mistakes.empty()) return mistakes;
      LineRun::Part one;
      one.resume = part > 0;
      one.in_process = in_process_;
      one.at_once = at_once_;
      one.stop_after =
          std::chrono::microseconds(part < kPartsOfMilliseconds ? chance() % 3000 : 50000 * part);
      line.run(one);
      const std::string& failure = line.outcome().failure;
      // Several readers of what is numbered anew that were ended in different epochs.
      if (at_once_ && failure.find("they can go on only together") != std::string::npos) return "";
      if (!failure.empty()) return failure;
      // One that was stopped before it had begun has no books that balance.
      if (line.outcome().ended_by_itself) add_books(line.outcome().summary.edges);
      if (line.outcome().signal == 0) return compare(line, replicas, batch);
      ++stops_;
    }
    return "it does not come to an end";
  }
  int stops() const { return stops_; }
  /// Nobody is ever called (every batch is short, and dropped): there is no middle to stop in.
  bool no_calls() const { return no_calls_; }

 private:
  void add_books(const std::vector<EdgeBook>& books) {
    if (books_.empty()) {
      books_ = books;
      return;
    }
    for (std::size_t i = 0; i < books.size(); ++i) {
      books_[i].audit.produced += books[i].audit.produced;
      books_[i].audit.delivered += books[i].audit.delivered;
      books_[i].audit.dropped += books[i].audit.dropped;
    }
  }

  /// `line` is the last run; with as many replicas as any.
  std::string compare(LineRun& line, const std::vector<int>& replicas, int batch) {
    const int most = *std::max_element(replicas.begin(), replicas.end());
    const std::string mistakes = line.prepare(with_checkpoint(shape_, most, batch));
    if (!mistakes.empty()) return mistakes;
    const PlainLoop plain(line.graph(), line.plan());
    no_calls_ = plain.consumers().size() == 1 && plain.consumers()[0].calls.empty();
    const bool anew = has(shape_, "repack");  // begins its epoch again
    const bool repeats = at_once_ || replicas.size() > 1 || anew;
    for (const Expected& consumer : plain.consumers()) {
      if (!consumer.recorded) {
        const std::uint64_t samples = line.reported(consumer.stage, "samples");
        // With several replicas it saves nothing, and counts what the last run has seen.
        if (consumer.replicas == 1 && samples != consumer.samples())
          return concat("consumer ", quote(consumer.stage), " counts ", samples, ", expected ",
                        consumer.samples());
        continue;
      }
      Expected expected = consumer;
      std::vector<Events> seen = line.records(consumer);
      for (Expected::Call& call : expected.calls)
        if (anew) forget_numbers(call.event);
      for (Events& events : seen)
        for (Event& event : events)
          if (anew) forget_numbers(event);
      const std::string wrong = difference(expected, seen, repeats);
      if (!wrong.empty()) return wrong;
    }
    if (repeats || has(shape_, "cache")) return "";
    return book_difference(plain.edges(), books_);
  }

  const ShapeOfLine& shape_;
  const bool at_once_;
  const bool in_process_;
  std::vector<EdgeBook> books_;
  int stops_ = 0;
  bool no_calls_ = false;
};

/// Until a run was stopped in the middle: on an idle machine a line may be done before.
std::string stopped_somewhere(const ShapeOfLine& shape, bool at_once, bool in_process,
                              const std::vector<int>& replicas, int batch) {
  for (std::uint64_t seed = 1; seed <= kTries; ++seed) {
    Parts parts(shape, at_once, in_process);
    const std::string wrong = parts.run(replicas, batch, seed);
    if (!wrong.empty() || parts.stops() > 0 || parts.no_calls()) return wrong;
  }
  return "no run was stopped before its end";
}

/// What several replicas have counted is in no single state that could be saved.
bool one_replica_saves(const ShapeOfLine& shape) {
  return std::string_view(shape.name) == "Epochs";
}

/// Shapes that can be resumed.
std::vector<ShapeOfLine> shapes() {
  std::vector<ShapeOfLine> all;
  for (const ShapeOfLine& shape : kShapes) all.push_back(shape);
  for (const ShapeOfLine& shape : kShapesOfUnknownLength)
    if (!has(shape, "drip") && !has(shape, "transform: merge")) all.push_back(shape);
  return all;
}

class Resumed : public testing::TestWithParam<ShapeOfLine> {};

TEST_P(Resumed, AfterRunsThatRanDryGivesEverySampleOnce) {
  for (const int replicas : {1, 2}) {
    if (replicas > 1 && one_replica_saves(GetParam())) continue;
    for (const int batch : {7, 64}) {
      if (kThreadsOnly && (replicas == 1 || batch == 64)) continue;
      EXPECT_EQ(stopped_somewhere(GetParam(), false, kThreadsOnly || (replicas == 2 && batch == 64),
                                  {replicas}, batch),
                "")
          << replicas << " replicas, batch " << batch << shape_yaml(GetParam(), replicas, batch);
    }
  }
}

TEST_P(Resumed, AfterRunsThatWereEndedMissesNothing) {
  if (kThreadsOnly) GTEST_SKIP() << "threads cannot be ended at once";
  const int replicas = one_replica_saves(GetParam()) ? 1 : 2;
  EXPECT_EQ(stopped_somewhere(GetParam(), true, false, {replicas}, 16), "")
      << shape_yaml(GetParam(), replicas, 16);
}

TEST_P(Resumed, WithOtherReplicasGivesTheSameSamples) {
  if (has(GetParam(), "fixed")) GTEST_SKIP() << "there the number of replicas is part of the order";
  if (one_replica_saves(GetParam())) GTEST_SKIP() << "only one replica can save what it counts";
  EXPECT_EQ(stopped_somewhere(GetParam(), false, kThreadsOnly, {4, 1, 2}, 16), "")
      << shape_yaml(GetParam(), 4, 16);
}

INSTANTIATE_TEST_SUITE_P(Lines, Resumed, testing::ValuesIn(shapes()),
                         [](const auto& one) { return std::string(one.param.name); });

// --- the tests of the test

/// The second run does not go on: what the first one had comes again.
TEST(ResumedWithoutAPosition, IsNoticed) {
  for (std::uint64_t tries = 1; tries <= kTries; ++tries) {
    LineRun line;
    const std::string yaml = with_checkpoint(kShapes[0], 1, 7);
    ASSERT_EQ(line.prepare(yaml), "");
    line.run(LineRun::Part{.stop_after = std::chrono::microseconds(100 * tries)});
    line.run(LineRun::Part{.stop_after = std::chrono::seconds(30)});  // from the beginning
    ASSERT_EQ(line.outcome().failure, "");
    const PlainLoop plain(line.graph(), line.plan());
    if (!difference(plain.consumers()[0], line.records(plain.consumers()[0])).empty()) return;
  }
  FAIL() << "nothing was noticed";
}

}  // namespace
}  // namespace brigade::conformance
