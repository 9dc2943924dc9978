// A step of a counterexample as a line: who, which step, and what it changed.

#include <array>
#include <string>

#include "tests/model/protocol.h"

namespace brigade::model {
namespace {

constexpr std::array kReplicaSteps = {"load repairs",
                                      "load the watermark for the cursor",
                                      "load stop",
                                      "store ack",
                                      "load end",
                                      "load own watermark",
                                      "load a reader's watermark",
                                      "load task word",
                                      "load an input's watermark",
                                      "claim (CAS)",
                                      "store ended",
                                      "wait for memory",
                                      "load quarantine",
                                      "begin to read and write slots",
                                      "slots written",
                                      "look at skips",
                                      "append to skips",
                                      "tally: slots",
                                      "tally: task",
                                      "tally: number",
                                      "DONE",
                                      "advance: load the watermark",
                                      "advance: load word",
                                      "advance: CAS the watermark",
                                      "wake: load waiters",
                                      "wake: clear a bit",
                                      "wake: ring",
                                      "wait: load doorbell",
                                      "wait: set bit",
                                      "woken",
                                      "wait: clear bit",
                                      "store end",
                                      "ring for the end",
                                      "stop at the end of data",
                                      "left",
                                      "dead",
                                      "reaped"};

constexpr std::array kSupervisorSteps = {"take up",
                                         "repair: settle tally",
                                         "repair: quarantine",
                                         "repair: reopen a task",
                                         "repair: load the watermark",
                                         "repair: load word",
                                         "repair: CAS the watermark",
                                         "repair: clear a bit",
                                         "repair: count",
                                         "repair: ring",
                                         "repair: over",
                                         "stop: ring",
                                         "stop = 2",
                                         "end: ring"};

void note(std::string& line, const std::string& name, int before, int after) {
  if (before == after) return;
  line += "; " + name + " " + std::to_string(before) + " -> " + std::to_string(after);
}

std::string text(const Word& word) {
  const char* const states[] = {"OPEN", "CLAIMED", "DONE"};
  std::string text = "{" + std::to_string(word.number) + ", " + states[word.tag % 4];
  if (word.tag % 4 != kOpen) text += ", by " + std::to_string(word.tag / 4);
  return text + "}";
}

void note_watermarks(std::string& line, const Graph& graph, const State& before,
                     const State& after) {
  for (int m = 0; m < graph.watermarks(); ++m) {
    const std::string of = "[" + graph.watermark_name(m) + "]";
    note(line, "level" + of, before.level[m], after.level[m]);
    note(line, "waiters" + of, before.waiters[m], after.waiters[m]);
    for (int w = 0; w < kRingMax; ++w) {
      const Word &was = before.word[m][w], &is = after.word[m][w];
      if (was.number == is.number && was.tag == is.tag) continue;
      line += "; word" + of + " " + text(was) + " -> " + text(is);
    }
  }
}

void note_replicas(std::string& line, const Graph& graph, const State& before, const State& after) {
  for (int r = 0; r < graph.replicas(); ++r) {
    const Replica &was = before.replica[r], &is = after.replica[r];
    const std::string name = graph.replica_name(r);
    if ((was.flags & kRung) == 0 && (is.flags & kRung) != 0) line += "; doorbell of " + name;
    if (was.at != At::kDead && is.at == At::kDead) line += "; " + name + " DIES";
    if (was.at == At::kReaped && is.at != At::kReaped) line += "; " + name + " STARTS AGAIN";
    if (was.at != At::kReaped && is.at == At::kReaped) line += "; " + name + " repaired";
    if (was.at != At::kSleep && is.at == At::kSleep) line += "; sleeps";
    if (was.at != At::kLeft && is.at == At::kLeft) line += "; leaves";
    note(line, "ack", was.ack, is.ack);
    for (int e = 0; e < 2; ++e) {
      note(line, "tally of " + name, was.tally[e].not_full, is.tally[e].not_full);
    }
  }
}

}  // namespace

std::string Protocol::describe(const State& before, Move move, const State& after) const {
  std::string line;
  if (move.actor == kReplicasMax) {
    line = "supervisor: ";
    line += kSupervisorSteps[static_cast<size_t>(before.supervisor.at)];
    if (before.supervisor.at == SupervisorAt::kIdle && after.stop[0] != before.stop[0]) {
      line += " stop = 1";
    }
  } else {
    const Replica& r = before.replica[move.actor];
    line = graph_.replica_name(move.actor) + ": ";
    line += kReplicaSteps[static_cast<size_t>(r.at)];
    line += " (task " + std::to_string(r.task) + ")";
    if (is_flush(move))
      line += ", the store before it becomes visible";
    else if (move.choice > 0 && !is_death(move))
      line += ", choice " + std::to_string(move.choice);
  }
  note_watermarks(line, graph_, before, after);
  for (int d = 0; d < graph_.index_spaces(); ++d) {
    note(line, "end", before.end[d], after.end[d]);
    note(line, "stop", before.stop[d], after.stop[d]);
  }
  for (int i = 0; i < kSkipsMax; ++i) note(line, "skips", before.skips[i], after.skips[i]);
  note(line, "quarantined", before.quarantined, after.quarantined);
  note_replicas(line, graph_, before, after);
  return line;
}

}  // namespace brigade::model
