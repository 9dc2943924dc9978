// Who is waited for, and how long an epoch is: tests/golden/run/start_barrier.txt. `> zipped` and
// `> cached SLOTS LIMIT` begin with a graph, which other commands change; `> ready REPLICA...`
// asks, where `r=S` found S samples and `r=S/F` chose them from F.

#include "pipeline/run/supervisor/start_barrier.h"

#include <gtest/gtest.h>

#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

PlanStage barrier_stage(const std::string& name, int replicas, int first,
                        StageKind kind = StageKind::producer) {
  PlanStage stage;
  stage.name = name;
  stage.kind = kind;
  stage.replicas = replicas;
  stage.first_replica = first;
  return stage;
}

struct Barrier {
  Barrier() {
    plan.epochs = 3;
    plan.stages.resize(1);
  }

  std::string answer(std::string_view line) {
    const std::vector<std::string> words = pieces(std::string(line), " ");
    const auto number = [&](std::size_t word) { return std::stoull(words.at(word)); };
    if (words[0] == "ready" || words[0] == "gone") return ready(words);
    if (words[0] == "zipped") {  // two sources of two replicas each
      plan.stages = {barrier_stage("images", 2, 0), barrier_stage("masks", 2, 2),
                     barrier_stage("train", 1, 4, StageKind::consumer)};
      plan.index_spaces = {{{0, 1}, 64}};
    } else if (words[0] == "cached") {
      plan.stages = {barrier_stage("images", 2, 0), barrier_stage("kept", 1, 2),
                     barrier_stage("train", 1, 3, StageKind::consumer)};
      plan.stages[1].cache.slots = number(1);
      plan.stages[1].limit = number(2);
      plan.stages[1].queues.resize(2);
      plan.stages[1].queues[0].index_space = 1;
      plan.index_spaces = {{{0}, 64, -1, 1, 1}, {{1}, 50}};
    } else if (words[0] == "only") {
      plan.stages = {barrier_stage(words[1], static_cast<int>(number(2)), 0,
                                   words.size() > 3 ? StageKind::transform : StageKind::producer)};
    } else if (words[0] == "last_is") {
      PlanStage& last = plan.stages.back();
      last.kind = words[1] == "transform" ? StageKind::transform : StageKind::consumer;
      last.replicas = static_cast<int>(number(2));
    } else if (words[0] == "epochs") {
      plan.epochs = number(1);
    } else if (words[0] == "derived") {
      plan.index_spaces.push_back({{0, 1}, number(1), 0, number(2)});
    } else if (words[0] == "limit") {
      for (PlanStage& stage : plan.stages) stage.limit = number(1);
    } else if (words[0] == "take_first") {
      for (PlanStage& stage : plan.stages) stage.take = Take::first;
    } else if (words[0] == "split") {
      for (PlanStage& stage : plan.stages) stage.split.shares = {{"a", kWholeShare / 2}};
    } else {
      return unknown_command(line);
    }
    plan.replicas = plan.stages.back().first_replica + plan.stages.back().replicas;
    return "";
  }

  std::string ready(const std::vector<std::string>& words) const {
    StartBarrier barrier(plan);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto [replica, size] = parted(words[i], "=");
      const auto [samples, found] = parted(size, "/");
      if (words[i] == "ready" || words[i] == "gone") continue;
      if (size == "gone")
        barrier.gone(std::stoi(replica));
      else if (size.empty())
        barrier.ready(std::stoi(replica), std::nullopt);
      else
        barrier.ready(std::stoi(replica), std::stoull(samples),
                      found.empty() ? 0 : std::stoull(found));
    }
    std::string text;
    if (plan.index_spaces.size() > 1)
      if (const auto so_far = barrier.start_so_far(1)) text = concat("so far ", shown(*so_far));
    if (!barrier.complete()) return concat(text, "waits for ", barrier.waiting_for(), "\n");
    const auto starts = barrier.starts();
    if (!starts) return concat(text, "error: ", starts.error().message, "\n");
    for (const IndexSpaceStart& start : *starts) text += shown(start);
    return text.empty() ? "complete\n" : text;
  }
  std::string shown(const IndexSpaceStart& start) const {
    return concat("index space ", start.index_space.value(), ": ",
                  index_space_epochs(plan, start.index_space), " epochs of ", start.samples, " in ",
                  start.period, "\n");
  }

  Plan plan;
};

TEST(StartBarrier, SaysWordForWord) { expect_session<Barrier>("run/start_barrier.txt"); }

}  // namespace
}  // namespace brigade
