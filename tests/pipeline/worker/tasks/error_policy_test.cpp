#include "pipeline/worker/tasks/error_policy.h"

#include <gtest/gtest.h>

#include <array>

#include <brigade/text.h>
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

/// numbers (100 samples, P = 128) -> mix, of two replicas and the policy under test -> sink:
/// tests/golden/worker/errors.txt. `> skip COUNT PERCENT` and `> stop` begin, after what changes
/// the graph; `> fails REPLICA NUMBER` is a call of that replica, `again N` is the number in epoch
/// 1 of the sample that has number N in epoch 0. What a policy has read it keeps: `> restarts
/// REPLICA`.
struct FailingCalls {
  std::string answer(std::string_view line) {
    const std::vector<std::string> words = pieces(std::string(line), " ");
    const auto number = [&](std::size_t word) {
      return words.at(word) == "again" ? again(std::stoull(words.at(word + 1)))
                                       : std::stoull(words.at(word));
    };
    if (words[0] == "fails") return fails(number(1), number(2));
    if (words[0] == "listed") return concat(run->context("mix").words().skips.size(), "\n");
    if (words[0] == "batch") return batch();
    if (words[0] == "stop")
      begin({});
    else if (words[0] == "skip")
      begin({true, std::stoull(words[1]), std::stod(words[2])});
    else if (words[0] == "epochs")
      epochs = number(1);
    else if (words[0] == "stream")
      is_stream = true;
    else if (words[0] == "earlier")
      earlier.push_back({0, static_cast<std::uint32_t>(number(1)), number(2)});
    else if (words[0] == "level")
      run->context("mix").words().queues[0].watermark->level.value = number(1);
    else if (words[0] == "restarts")
      policies[number(1)].emplace(run->context("mix"));
    else if (words[0] == "fills_list")
      for (std::uint64_t i = 0; i < run->stage("mix").skips_max; ++i)
        run->context("mix").words().skips.append(1000 + i);
    else
      return unknown_command(line);
    return "";
  }

  void begin(const OnError& policy) {
    support::NumberLine line;
    line.samples = 100;
    line.epochs = epochs;
    line.batch = 64;
    GraphBuilder graph = support::number_graph(line);
    graph.stage("mix").on_error = policy;
    graph.stage("mix").replicas = 2;
    run.emplace(graph, nullptr,
                [this](const Plan&, ResumePoint& resume) { resume.stages[1].skipped = earlier; });
    if (!is_stream) set_end(run->control(), 0, 100, 128, epochs);
    for (int r = 0; r < 2; ++r) policies[r].emplace(run->context("mix", r));
  }
  std::string fails(std::uint64_t replica, std::uint64_t number) {
    const auto epoch = static_cast<std::uint32_t>(number / 128);
    const SampleInfo sample{number, number % 128, Permutation(100, 7, epoch)(number % 128), epoch};
    const std::size_t before = run->reporter.lines().size();
    const auto failed = policies[replica]->failed(0, {&sample, 1}, Error{"bad"});
    if (!failed) return concat("error: ", failed.error().message, "\n");
    std::string text = concat("skipped ", run->context("mix").counters().skipped.load(), "\n");
    for (std::size_t i = before; i < run->reporter.lines().size(); ++i)
      text += concat("  ", run->reporter.lines()[i], "\n");
    return text;
  }
  std::string batch() const {
    const SampleInfo samples[] = {{64, 64, 1, 0}, {65, 65, 2, 0}, {66, 66, 3, 0}};
    const auto producer = support::make_numbers(100);
    const SampleInfo one{130, 2, 55, 1};
    return concat(policies[0]->describe(0, samples), "\n",
                  ErrorPolicy(run->context("numbers"), producer.get()).describe(0, {&one, 1}),
                  "\n");
  }
  static std::uint64_t again(std::uint64_t number) {
    std::uint64_t index = 0;
    while (Permutation(100, 7, 1)(index) != Permutation(100, 7, 0)(number)) ++index;
    return 128 + index;
  }

  std::uint64_t epochs = 2;
  bool is_stream = false;  // nobody knows how many samples there will be
  std::vector<SampleInQueue> earlier;
  mutable std::optional<support::RunLine> run;
  std::array<std::optional<ErrorPolicy>, 2> policies;
};

TEST(Errors, AreAllowedWordForWord) { expect_session<FailingCalls>("worker/errors.txt"); }

/// numbers -> kept, a cache -> sink; what the sink calls the sample in slot 3 of the cache.
std::string called(const Split& split) {
  GraphBuilder graph;
  ValidStage& numbers = graph.producer("numbers", {{"value", i64, {}}});
  numbers.samples = 100;
  numbers.split = split;
  numbers.part = "a";
  graph.transform("kept", {"numbers"}, {{"value", i64, {}}}).passed = {{"value", 0}};
  graph.type_of("kept").contract.cache = true;
  graph.consumer("sink", {"kept"});
  support::RunLine run(graph);
  run.control().stages[run.index("numbers")].source_samples->value = 100;
  SourceNames names([](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    return std::shared_ptr<Producer>(support::make_numbers(100));
  });
  ReplicaContext context = run.context("sink");
  context.source_names = &names;
  const SampleInfo sample{3, 3, 3, 0};
  return ErrorPolicy(context).describe(0, {&sample, 1});
}

TEST(ErrorsBelowACache, NameTheSampleOfThePartThatIsKept) {
  EXPECT_EQ(called({}), "sample 3 (id 3 of epoch 0: \"file_3\")");
  const Split split{{{"a", kWholeShare / 10}}, 1};
  StageKeys keys;
  keys.split = split;
  keys.part = "a";
  const std::uint64_t index = Subset(keys, 0, 100)(3);
  ASSERT_NE(index, 3u);
  EXPECT_EQ(called(split), concat("sample 3 (id 3 of epoch 0: \"file_", index, "\")"));
}

/// numbers -> full (flat_map) -> picky -> sink: number 7 has another place in every epoch.
TEST(FlatMappedSamples, ThatFailInEveryEpochCountOnce) {
  GraphBuilder graph;
  graph.graph().epochs = 3;
  graph.producer("numbers", {support::kValue}).shuffle = true;
  graph.transform("full", {"numbers"}, {support::kValue});
  graph.type_of("full").contract.numbering = Numbering::flat_map;
  graph.transform("picky", {"full"}, {support::kValue}).on_error = {true, 1, 0};
  graph.consumer("sink", {"picky"});
  support::RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(20); };
  const auto copy = [](std::int64_t refused) {
    return [refused](int) {
      return std::make_unique<support::LambdaStage>(
          [refused](const Inputs& in, Outputs& out) -> Result<Next> {
            const std::int64_t value = in["value"].as<std::int64_t>()[0];
            if (value == refused) return Error{"bad"};
            out["value"].as<std::int64_t>()[0] = value;
            return Next::emit;
          });
    };
  };
  run.stages["full"] = copy(-1);
  run.stages["picky"] = copy(7);
  run.stages["sink"] = [](int) {
    return std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  };
  EXPECT_EQ(message_of(run.run()), "no error");
  EXPECT_EQ(run.audit("picky", "sink").delivered, 57u);
}

}  // namespace
}  // namespace brigade
