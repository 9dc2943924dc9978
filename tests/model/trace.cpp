// A step of a counterexample as a line: who, which step, and what it changed.

#include <array>
#include <string>

#include "tests/model/protocol.h"

namespace brigade::model {
namespace {

constexpr std::array kReplicaSteps = {"load repairs",
                                      "load low for the cursor",
                                      "load stop",
                                      "store ack",
                                      "load end",
                                      "load own low",
                                      "load a reader's low",
                                      "load task word",
                                      "load an input's low",
                                      "claim (CAS)",
                                      "store ended",
                                      "wait for memory",
                                      "load quarantine",
                                      "begin to read and write rows",
                                      "rows written",
                                      "look at skips",
                                      "append to skips",
                                      "tally: rows",
                                      "tally: task",
                                      "tally: number",
                                      "DONE",
                                      "advance: load low",
                                      "advance: load word",
                                      "advance: CAS low",
                                      "wake: load waiters",
                                      "wake: ring",
                                      "wait: set bit",
                                      "wait: load bell",
                                      "woken",
                                      "wait: clear bit",
                                      "store end",
                                      "ring for the end",
                                      "stop at the end of data",
                                      "load the journal",
                                      "raise low_in",
                                      "load the end of an input",
                                      "record the end of an epoch",
                                      "load the mark of an input",
                                      "load a reader's low",
                                      "journal, input in work: first half",
                                      "journal, input in work: second half",
                                      "journal, input in work: index",
                                      "read an input",
                                      "begin an output row",
                                      "output row written",
                                      "tally of a lane: entry",
                                      "tally of a lane: number",
                                      "store low_out",
                                      "journal, input done: first half",
                                      "journal, input done: second half",
                                      "journal, input done: index",
                                      "store low_in",
                                      "left",
                                      "dead",
                                      "reaped"};

constexpr std::array kSupervisorSteps = {"take up",
                                         "repair: raise low_in",
                                         "repair: settle tally",
                                         "repair: quarantine",
                                         "repair: reopen a task",
                                         "repair: load low",
                                         "repair: load word",
                                         "repair: CAS low",
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

void note_marks(std::string& line, const Graph& graph, const State& before, const State& after) {
  for (int m = 0; m < graph.marks(); ++m) {
    const std::string of = "[" + graph.mark_name(m) + "]";
    note(line, "low" + of, before.low[m], after.low[m]);
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
    if ((was.flags & kRung) == 0 && (is.flags & kRung) != 0) line += "; bell of " + name;
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
    if (graph_.stage_of_replica(move.actor) == graph_.free_stage()) {
      line += r.port == kNoPort ? "" : " port " + std::to_string(r.port);
      line += " input " + std::to_string(r.input) + " made " + std::to_string(r.made);
    }
    if (is_flush(move))
      line += ", the store before it becomes visible";
    else if (move.choice > 0 && !is_death(move))
      line += ", choice " + std::to_string(move.choice);
  }
  note_marks(line, graph_, before, after);
  for (int d = 0; d < graph_.domains(); ++d) {
    note(line, "end", before.end[d], after.end[d]);
    note(line, "stop", before.stop[d], after.stop[d]);
  }
  for (int i = 0; i < kSkipsMax; ++i) note(line, "skips", before.skips[i], after.skips[i]);
  note(line, "quarantined", before.quarantined, after.quarantined);
  note_replicas(line, graph_, before, after);
  return line;
}

}  // namespace brigade::model
