// A program keeps the state of its run, and another run goes on there: in processes and in threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "pipeline/state/run_state.h"
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Of a batch: its epoch and the ids of its samples.
std::string text_of_batch(const Batch& batch) {
  std::string text = concat(batch.source(), batch.epoch(), ':');
  for (std::int64_t i = 0; i < batch.size(); ++i) text += concat(' ', batch.sample(i).id);
  return text;
}

class States : public testing::TestWithParam<bool> {
 protected:
  Result<std::unique_ptr<brigade::Run>> try_start(const std::string& yaml,
                                                  std::optional<std::string> state = {}) {
    return program_.try_start(yaml, GetParam(), [&](Pipeline& pipeline) {
      if (state) pipeline.state(std::move(*state));
    });
  }
  std::unique_ptr<brigade::Run> start(const std::string& yaml,
                                      std::optional<std::string> state = {}) {
    auto run = try_start(yaml, std::move(state));
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run ? std::move(*run) : nullptr;
  }
  std::string refusal(const std::string& yaml, const std::string& state) {
    const auto run = try_start(yaml, state);
    EXPECT_FALSE(run.ok());
    return run ? "" : run.error().message;
  }
  static std::string state_of(const brigade::Run& run) {
    const auto state = run.state();
    EXPECT_TRUE(state.ok()) << state.error().message;
    return state ? *state : "";
  }
  /// At most `batches`.
  static std::vector<std::string> read(Output& output, std::size_t batches) {
    std::vector<std::string> seen;
    while (seen.size() < batches) {
      auto batch = output.next();
      EXPECT_TRUE(batch.ok()) << batch.error().message;
      if (!batch || !*batch) break;
      seen.push_back(text_of_batch(**batch));
    }
    return seen;
  }
  std::vector<std::string> whole(const std::string& yaml, const std::string& name = "train") {
    auto run = start(yaml);
    Output output = run->output(name);
    std::vector<std::string> seen = read(output, kAll);
    EXPECT_TRUE(run->wait().ok());
    return seen;
  }

  static constexpr std::size_t kAll = 1'000'000;
  const Program program_{};
};

/// 100 samples an epoch, batches of 16: 7 of them, the last of 4.
std::string delayed(const std::string& top = "epochs: 2\n", const std::string& work = "") {
  return concat(top,
                "stages:\n"
                "  numbers: {producer: synthetic, params: {count: 100}, shuffle: true}\n"
                "  work: {transform: delay, from: numbers, replicas: 2, ",
                work,
                "}\n"
                "  train: {consumer: application, from: {stage: work, batch: 16}, hold: 4}\n");
}

TEST_P(States, NameWhatIsInQuarantine) {
  if (GetParam()) GTEST_SKIP() << "a crash of a thread ends the program";
  const std::string yaml =
      delayed("epochs: 2\n", "params: {crash_at: [50]}, on_error: {skip: 2}, poison_after: 2");
  const auto restarts = [](brigade::Run& run) {
    const auto summary = nlohmann::json::parse(*run.summary_json());
    for (const auto& stage : summary["stages"])
      if (stage["name"] == "work") return stage["restarts"].get<int>();
    return -1;
  };
  const std::vector<std::string> all = whole(yaml);
  auto run = start(yaml);
  Output train = run->output("train");
  std::vector<std::string> seen = read(train, 7);  // an epoch
  const std::string state = state_of(*run);
  EXPECT_THAT(state, HasSubstr(R"("quarantined":[{"stage":"work")"));
  for (const bool known : {true, false}) {
    run = start(yaml, known ? std::optional(state) : std::nullopt);
    train = run->output("train");
    const std::vector<std::string> rest = read(train, kAll);
    if (known) seen.insert(seen.end(), rest.begin(), rest.end());
    EXPECT_TRUE(run->wait().ok());
    EXPECT_EQ(restarts(*run) == 0, known);
  }
  EXPECT_EQ(seen, all);
}

TEST_P(States, AreGivenByRunsThatHaveFailed) {
  auto run = start(delayed("", "params: {fail_at: [50]}"));
  Output train = run->output("train");
  std::vector<std::string> seen = read(train, kAll);
  EXPECT_FALSE(run->wait().ok());
  const std::string state = state_of(*run);
  run.reset();
  // The reason is gone: what samples are does not change by it, but by other parameters.
  EXPECT_THAT(refusal(delayed(""), state), HasSubstr("work.params.fail_at"));
  run = start(delayed("", "params: {fail_at: [50]}"), state);
  train = run->output("train");
  read(train, kAll);
  EXPECT_THAT(run->wait().error().message, HasSubstr("50"));
}

INSTANTIATE_TEST_SUITE_P(All, States, testing::Bool(), threads_or_processes);

struct StateRefusals : States {};

TEST_P(StateRefusals, AStateOfAnotherGraphIsNamed) {
  const std::string state = state_of(*start(delayed()));
  std::string other = delayed();
  other.replace(other.find("batch: 16"), 9, "batch: 32");
  EXPECT_EQ(refusal(other, state),
            "cannot resume from the given state: the samples or their order would differ: "
            "train.batch was 16, is 32; pass a state of this graph, or start without one");
  EXPECT_THAT(refusal(delayed("seed: 8\n"), state), HasSubstr("numbers.seed was 0, is 8"));
}

TEST_P(StateRefusals, ASourceThatHasOtherSamplesIsNamed) {
  const std::string list = program_.folder().write("list.csv", "a\n1\n2\n3\n4\n");
  const std::string yaml =
      concat("stages:\n  numbers: {producer: csv, params: {file: ", list,
             ", columns: {value: a}}}\n"
             "  train: {consumer: application, from: {stage: numbers, batch: 1}}\n");
  auto run = start(yaml);
  ASSERT_NE(run, nullptr);
  Output train = run->output("train");
  read(train, 2);
  const std::string state = state_of(*run);
  run.reset();
  program_.folder().write("list.csv", "a\n1\n2\n3\n4\n5\n");
  run = start(yaml, state);
  train = run->output("train");
  read(train, kAll);
  EXPECT_THAT(run->wait().error().message,
              AllOf(HasSubstr("has 5 samples, but had 4 at the checkpoint"),
                    HasSubstr("restart from scratch")));
}

TEST_P(StateRefusals, DamagedBytesAreOneLine) {
  const std::string state = state_of(*start(delayed()));
  EXPECT_THAT(refusal(delayed(), ""), HasSubstr("the given state: it is empty; pass"));
  EXPECT_THAT(refusal(delayed(), "{}"), HasSubstr("it does not begin like a state"));
  for (std::size_t at = 0; at < state.size(); at += 11) {
    std::string damaged = state;
    damaged[at] ^= 1;
    EXPECT_FALSE(state_from_bytes(damaged).ok()) << at;
    EXPECT_FALSE(state_from_bytes(state.substr(0, at)).ok()) << at;
    if (at % 7 != 0) continue;
    EXPECT_THAT(refusal(delayed(), damaged), Not(HasSubstr("\n"))) << at;
  }
  EXPECT_THAT(refusal(delayed(), state.substr(0, state.size() / 2)),
              HasSubstr("it is damaged or truncated: expected \""));
}

TEST_P(StateRefusals, GraphsThatCannotBeResumedHaveNone) {
  const std::string text = program_.folder().write("text", "a\nb\n");
  const std::string stream =
      concat("stages:\n  text: {producer: lines, params: {file: ", text,
             "}}\n  train: {consumer: application, from: {stage: text, batch: 1}}\n");
  EXPECT_EQ(start(stream)->state().error().message,
            "a run of this graph has no state: the source \"text\" is a stream, which cannot be "
            "read again");
  const std::string merged =
      "stages:\n"
      "  few: {producer: synthetic, params: {count: 5}}\n"
      "  many: {producer: synthetic, params: {count: 50}}\n"
      "  all: {transform: merge, from: [few, many], join: merge}\n"
      "  train: {consumer: application, from: {stage: all, batch: 1}}\n";
  EXPECT_THAT(start(merged)->state().error().message,
              HasSubstr("takes samples of several sources"));
  const std::string fed =
      "stages:\n"
      "  tasks: {producer: application, tensors: {x: {dtype: u8, shape: [2]}}}\n"
      "  train: {consumer: application, from: {stage: tasks, batch: 1}}\n";
  EXPECT_THAT(start(fed)->state().error().message,
              HasSubstr("the source \"tasks\" is a stream, which cannot be read again"));
  const std::string counted =
      "stages:\n  few: {producer: synthetic, params: {count: 5}}\n"
      "  end: {consumer: count, from: few}\n";
  EXPECT_THAT(start(counted)->state().error().message,
              HasSubstr("the graph has no `consumer: application`"));
}

TEST_P(StateRefusals, AStateAndACheckpointDoNotBothSayWhereToBegin) {
  const std::string state = state_of(*start(delayed()));
  auto pipeline = Pipeline::from_file(program_.folder().write("graph.yaml", delayed()));
  EXPECT_THAT(pipeline->quiet().state(state).resume().start(program_.app()).error().message,
              HasSubstr("a state and a checkpoint both set the start of the run"));
  std::string counted = delayed();
  counted.replace(counted.find("application"), 11, "count");
  counted.erase(counted.find(", hold: 4"), 9);
  EXPECT_THAT(refusal(concat("checkpoint: {file: ", program_.folder().path().string(), "/a.ckpt}\n",
                             counted),
                      state),
              HasSubstr("a state and a checkpoint both set the start of the run"));
}

INSTANTIATE_TEST_SUITE_P(All, StateRefusals, testing::Values(true));

}  // namespace
}  // namespace brigade
