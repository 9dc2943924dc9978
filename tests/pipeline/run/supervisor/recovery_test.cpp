// What is done about deaths: tests/golden/run/recovery.txt, of the graph numbers (replica 0) -> two
// sinks (1 and 2). `> begin POLICY` comes after what changes the plan. `> killed SIGNAL` and
// `> exited` are deaths of sink.0, with what is said of them behind `| `.

#include "pipeline/run/supervisor/recovery.h"

#include <gtest/gtest.h>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/tasks/replica_context.h"
#include "tests/support/small_plan.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

struct Recovering {
  std::string answer(std::string_view line) {
    const std::vector<std::string> parts = pieces(std::string(line));
    const auto [verb, rest] = parted(parts[0], " ");
    if (verb == "killed") return died({Ending::Kind::killed, std::stoi(rest)}, parts);
    if (verb == "exited") return died({Ending::Kind::exited, 0}, parts);
    if (verb == "not_started") return decided(recovery->not_started(sink(0), rest, 1'000));
    if (verb == "words") return words();
    text.clear();
    if (verb == "begin") return begin(rest);
    if (verb == "next_run")
      recovery.emplace(plan, control, *tallies);
    else if (verb == "degrades")
      plan.stages[1].restart.degrade = true;
    else if (verb == "saves")
      plan.stages[1].saves = plan.stages[1].stateful = true;
    else if (verb == "forgets")
      plan.stages[0].stateful = true;
    else if (verb == "fixed")
      plan.stages[1].queues[0].fixed = true;
    else if (verb == "burst")
      plan.stages[1].restart.burst = std::stoi(rest);
    else if (verb == "claims")
      table().word(0) = table().claimed(0, 1);
    else if (verb == "waits")
      live_counters(control, 1).waiting = static_cast<std::uint64_t>(Waiting::input);
    else if (verb == "fills_quarantine")
      for (std::uint64_t i = 0; i < quarantine().capacity(); ++i) quarantine().append(1000 + i);
    else
      return unknown_command(line);
    return text;
  }

  std::string begin(const std::string& policy) {
    for (PlanStage& stage : plan.stages)
      stage.restart.policy = policy == "never"    ? RestartSpec::Policy::never
                             : policy == "always" ? RestartSpec::Policy::always
                                                  : RestartSpec::Policy::on_failure;
    tallies.emplace(plan, MemoryKills([this] {
                      text += concat("(counts kills, after ", repairs(), " repairs)\n");
                      return memory_kills;
                    }));
    recovery.emplace(plan, control, *tallies);
    return std::exchange(text, "");
  }

  std::string died(const Ending& ending, const std::vector<std::string>& parts) {
    FailureReport death;
    death.stage = "sink";
    death.ending = ending;
    DeadReplica dead = sink(0);
    std::int64_t now_ns = 0;
    int times = 1;
    std::optional<std::uint64_t> sample;
    for (const std::string& part : parts) {
      const auto [verb, rest] = parted(part, " ");
      if (verb == "sink.1") dead = sink(1);
      if (verb == "is_last") dead.others_left = false;
      if (verb == "opens") dead.was_ready = false;
      if (verb == "at") now_ns = std::stoll(rest);
      if (verb == "sample") sample = std::stoull(rest);
      if (verb == "out_of_memory") ++memory_kills;
      if (verb == "times") times = std::stoi(rest);
    }
    death.replica = dead.replica;
    std::string last;
    for (int i = 0; i < times; ++i) {
      if (sample) control.replicas[dead.number].in_flight.value = *sample;
      last = decided(recovery->died(dead, death, now_ns));
    }
    return last;
  }

  std::string decided(const Recovery::Decision& decision) {
    static const char* const kNext[] = {"nothing", "restart", "resume", "carry_on", "fail"};
    std::string all = std::exchange(text, "") + kNext[static_cast<int>(decision.next)];
    if (decision.restart_ns != 0) all += concat(" at ", decision.restart_ns);
    if (quarantine().size() != 0) all += concat(", quarantined ", quarantine().size());
    return concat(all, ": ", event_text(decision.event), "\n");
  }

  std::string words() const {
    const auto waiting = static_cast<Waiting>(live_counters(control, 1).waiting.load());
    const auto& replicas = control.replicas;
    return concat(
        "task ", table().read(table().word(0), 0).state == TaskState::open ? "open" : "claimed",
        ", repairs ", repairs(), ", waiting ", waiting == Waiting::no ? "no" : "yes",
        ", acknowledged ", replicas[1].ack.value.load(), " ", replicas[2].ack.value.load(),
        replicas[1].in_flight.value == kNever ? "" : ", in flight",
        quarantine().contains(7) ? ", 7 is quarantined" : "", "\n");
  }

  static DeadReplica sink(int replica) { return {1 + replica, 1, replica, true, true}; }
  TaskTable<SystemPolicy>& table() const { return control.stages[1].queues[0].table; }
  NumberList<SystemPolicy>& quarantine() const { return control.stages[1].quarantine; }
  std::uint64_t repairs() const { return control.stages[1].repairs->value; }

  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();
  std::uint64_t memory_kills = 5;
  std::string text;
  std::optional<RecoveryTallies> tallies;
  std::optional<Recovery> recovery;
};

TEST(Recovery, DecidesWordForWord) { expect_session<Recovering>("run/recovery.txt"); }

}  // namespace
}  // namespace brigade
