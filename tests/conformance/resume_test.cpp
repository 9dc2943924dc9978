// Every shape of line, stopped again and again at some moment and resumed by another run: together
// the runs see what the plain loop says. After runs that drained exactly once and in order, and
// their audit add up to its audit; after runs that were ended at once, at least once.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "pipeline/state/checkpoint_files.h"
#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"

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
      if (!failure.empty()) return failure;
      // One that was stopped before it had begun has no audit that balance.
      if (line.outcome().ended_by_itself()) add_audit(line.outcome().summary.edges);
      if (line.outcome().signal == 0) return compare(line, replicas, batch);
      ++stops_;
    }
    return "it does not come to an end";
  }
  int stops() const { return stops_; }
  /// Nobody is ever called (every batch is short, and dropped): there is no middle to stop in.
  bool no_calls() const { return no_calls_; }

 private:
  void add_audit(const std::vector<NamedEdgeAudit>& audits) {
    if (tallies_.empty()) {
      tallies_ = audits;
      return;
    }
    for (std::size_t i = 0; i < audits.size(); ++i) {
      tallies_[i].audit.produced += audits[i].audit.produced;
      tallies_[i].audit.delivered += audits[i].audit.delivered;
      tallies_[i].audit.dropped += audits[i].audit.dropped;
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
    return audit_difference(plain.edges(), tallies_);
  }

  const ShapeOfLine& shape_;
  const bool at_once_;
  const bool in_process_;
  std::vector<NamedEdgeAudit> tallies_;
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
bool one_replica_saves(const ShapeOfLine& shape) { return shape.name == "Epochs"; }

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

INSTANTIATE_TEST_SUITE_P(Lines, Resumed, testing::ValuesIn(shapes_that_resume()), kNameOfShape);

// --- consumers that stood anywhere

constexpr std::uint64_t kEpochs = 4;

/// Where one consumer stands, by chance.
Position any_position(const Plan& plan, const PlanStage& stage, std::mt19937_64& chance) {
  Position position;
  const std::uint64_t queues = stage.queues.size();
  const std::uint64_t turns = chance() % (kEpochs * queues + 1);
  for (std::uint64_t l = 0; l < queues; ++l) {
    const PlanQueue& queue = stage.queues[QueueNumber(static_cast<int>(l))];
    const std::uint64_t epoch = turns / queues + (l < turns % queues ? 1 : 0);
    const bool in_turn = l == turns % queues && turns < kEpochs * queues;
    const StageNumber source = plan.index_spaces[queue.index_space].sources.front();
    const bool indexed = plan.stages[source].indexed;
    const std::uint64_t tasks = in_turn && indexed ? 10 / queue.task + 1 : 1;
    position.queues.push_back({epoch, chance() % tasks * queue.task});
  }
  // The call at the end of an epoch may have been cut short: then it is made again.
  position.epoch_ends_told = turns > 0 && chance() % 3 == 0 ? turns - 1 : turns;
  return position;
}

/// A resumed run with every consumer somewhere: each sees what it has not had, and the audit
/// balances.
class FromAnywhere {
 public:
  explicit FromAnywhere(const std::string& stages)
      : yaml_(concat("seed: 7\nepochs: ", kEpochs,
                     "\ncheckpoint: {file: \"${RECORDS}/line.ckpt\"}\nstages:", stages)) {}

  /// What differs; empty: nothing.
  std::string run(std::uint64_t seed, bool in_process) {
    LineRun whole;
    std::string wrong = whole.prepare(yaml_);
    if (wrong.empty()) wrong = go(whole, false, in_process);
    if (!wrong.empty()) return wrong;
    LineRun line;
    wrong = line.prepare(yaml_);
    std::mt19937_64 chance(seed);
    std::map<std::string, Position> from;
    std::string text;
    for (const StageNumber s : line.plan().stages.numbers()) {
      const PlanStage& stage = line.plan().stages[s];
      if (!wrong.empty()) break;
      if (stage.kind != StageKind::consumer) continue;
      auto file = read_checkpoint("", whole.plan().stages[s].position_file);
      if (!file.ok() || file->entries.empty()) return "no position of " + stage.name;
      Position& position = from[stage.name] = any_position(line.plan(), stage, chance);
      position.sources = file->entries.front().sources;
      for (const SamplePosition& at : position.queues)
        text += concat(stage.name, " {", at.epoch, ", ", at.index, "} ");
      file->entries = {position};
      std::ofstream(stage.position_file) << position_to_bytes(*file);
    }
    if (wrong.empty()) wrong = go(line, true, in_process);
    if (wrong.empty()) wrong = compare(line, from);
    return wrong.empty() ? "" : concat("from ", text, ": ", wrong);
  }

 private:
  static std::string go(LineRun& line, bool resume, bool in_process) {
    LineRun::Part part;
    part.resume = resume;
    part.in_process = in_process;
    part.stop_after = std::chrono::minutes(5);
    line.run(part);
    return line.outcome().failure;
  }

  std::string compare(LineRun& line, std::map<std::string, Position>& from) const {
    const PlainLoop plain(line.graph(), line.plan());
    for (Expected expected : plain.consumers()) {
      const Position& position = from[expected.stage];
      std::erase_if(expected.calls, [&](const Expected::Call& call) {
        const SamplePosition& at = position.queues[QueueNumber(call.queue)];
        if (call.event.epoch != at.epoch) return call.event.epoch < at.epoch;
        return at.index > 0 && index_of(call.event) < at.index;
      });
      std::vector<Events> seen = line.records(expected);
      for (Expected::Call& call : expected.calls) number_by_place(call.event);
      for (Events& events : seen) {
        for (Event& event : events) number_by_place(event);
        const Events told = ends(expected, position.epoch_ends_told);
        events.insert(events.begin(), told.begin(), told.end());
      }
      const std::string wrong = difference(expected, seen);
      if (!wrong.empty()) return wrong;
      std::uint64_t delivered = 0;
      for (const NamedEdgeAudit& edge : line.outcome().summary.edges) {
        if (edge.to != expected.stage) continue;
        delivered += edge.audit.delivered;
        if (edge.audit.leaked != 0 || (edge.audit.dropped != 0 && edge.from != "sifted"))
          return audit_text(edge);
      }
      const std::uint64_t times = expected.join == Join::zip ? 2 : 1;
      if (delivered != times * expected.samples())
        return concat(quote(expected.stage), " had ", delivered, " samples by its audit, expected ",
                      times * expected.samples());
    }
    return "";
  }

  static void number_by_place(Event& event) {
    forget_numbers(event);
    event.number += event.epoch * 1'000'000ull;
  }

  /// Of a call's first sample in its epoch.
  static std::uint64_t index_of(const Event& call) {
    if (call.samples.empty()) return kNever;
    const std::string& first = call.samples.front();
    return std::stoull(first.substr(first.find(" index ") + 7));
  }

  /// That were told before.
  static Events ends(const Expected& expected, std::uint64_t told) {
    Events events;
    for (std::uint64_t i = 0; i < told; ++i) {
      Event end;
      end.kind = Event::Kind::epoch_end;
      end.port = expected.ports[i % expected.ports.size()];
      end.epoch = static_cast<std::uint32_t>(i / expected.ports.size());
      events.push_back(end);
    }
    return events;
  }

  const std::string yaml_;
};

class ResumedInDifferentEpochs : public testing::TestWithParam<ShapeOfLine> {};

TEST_P(ResumedInDifferentEpochs, EveryConsumerGetsWhatItHasNotHad) {
  const std::uint64_t draws = kThreadsOnly ? 4 : 16;
  for (std::uint64_t seed = 1; seed <= draws; ++seed)
    EXPECT_EQ(FromAnywhere(GetParam().stages).run(seed, kThreadsOnly || seed % 4 != 0), "") << seed;
}

INSTANTIATE_TEST_SUITE_P(Lines, ResumedInDifferentEpochs,
                         testing::ValuesIn(read_shapes("flat_mapped")), kNameOfShape);

// --- the tests of the test

/// The second run does not go on: what the first one had comes again.
TEST(ResumedWithoutAPosition, IsNoticed) {
  for (std::uint64_t tries = 1; tries <= kTries; ++tries) {
    LineRun line;
    const std::string yaml = with_checkpoint(shapes()[0], 1, 7);
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
