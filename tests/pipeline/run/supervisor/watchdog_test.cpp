// Who is slow or stuck: tests/golden/run/watchdog.txt, of the graph numbers (replica 0) -> two
// sinks (1 and 2), whose stalls are 10 s; the clock begins at 100 s. `> until SECOND` looks every
// second and says what it finds; other commands are in Watched.

#include "pipeline/run/supervisor/watchdog.h"

#include <gtest/gtest.h>

#include <map>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/report/counters.h"
#include "tests/support/small_plan.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
const std::map<std::string, ProcessCondition> kConditions = {{"runs", ProcessCondition::runs},
                                                             {"stopped", ProcessCondition::stopped},
                                                             {"traced", ProcessCondition::traced},
                                                             {"gone", ProcessCondition::gone}};

struct Watched {
  Watched() {
    for (PlanStage& stage : plan.stages) stage.stall.after_ns = 10 * kSecondNs;
    control.index_spaces[0]->end.value = 128;
    for (int r = 0; r < 3; ++r) stand(r, Waiting::input);
    watch.emplace(plan, control);
  }

  std::string answer(std::string_view line) {
    const std::vector<std::string> words = pieces(std::string(line), " ");
    const auto number = [&](std::size_t word) { return std::stoi(words.at(word)); };
    if (words[0] == "until") return until(number(1));
    if (words[0] == "every") {
      plan.stages[0].stall.after_ns = std::stoll(words[1]);
      return concat(Watchdog(plan, control).every_ns(), "\n");
    }
    if (words[0] == "aborts")
      for (PlanStage& stage : plan.stages) stage.stall.abort = true;
    else if (words[0] == "type")
      plan.stages[1].type = words[1], plan.stages[1].exec = {"/bin/sleep", "1000"};
    else if (words[0] == "works")
      stand(number(1), Waiting::no, words.size() > 2 ? std::stoull(words[2]) : kNever);
    else if (words[0] == "takes_task")
      live_counters(control, number(1)).since_ns = 1 + live_counters(control, number(1)).since_ns;
    else if (words[0] == "level")
      control.stages[0].queues[0].watermark->level.value = std::stoull(words[1]);
    else if (words[0] == "starts")
      watch->starts(number(1), now * kSecondNs);
    else if (words[0] == "ready")
      watch->ready(number(1));
    else if (const auto condition = kConditions.find(words[0]); condition != kConditions.end())
      conditions[number(1)] = condition->second;
    else
      return unknown_command(line);
    return "";
  }

  std::string until(std::int64_t second) {
    static const char* const kActs[] = {"say", "abort", "kill"};
    std::string found;
    for (; now <= second; ++now)
      for (const auto& one :
           watch->look(now * kSecondNs, [this](int number) { return conditions[number]; }))
        found += concat(now, " s: ", kActs[static_cast<int>(one.act)], " ", one.number, ": ",
                        one.text, "\n");
    return found.empty() ? "nothing\n" : found;
  }
  void stand(int number, Waiting waiting, std::uint64_t at = kNever) {
    live_counters(control, number).since_ns = 1;
    live_counters(control, number).waiting = static_cast<std::uint64_t>(waiting);
    control.replicas[number].in_flight.value = at;
  }

  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();
  std::optional<Watchdog> watch;
  std::vector<ProcessCondition> conditions{3, ProcessCondition::runs};
  std::int64_t now = 100;
};

TEST(Watchdog, FindsWordForWord) { expect_session<Watched>("run/watchdog.txt"); }

}  // namespace
}  // namespace brigade
