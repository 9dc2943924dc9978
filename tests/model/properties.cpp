// What must hold. Replicas and the supervisor never look at the fields used here "for the
// properties only", so a property cannot be true because the protocol reads it.

#include "tests/model/shared_memory.h"

namespace brigade::model {
namespace {

const char* check_replicas(const Graph& graph, const State& state) {
  for (int r = 0; r < graph.replicas(); ++r) {
    const Replica& replica = state.replica[r];
    if (!is_gone(replica.at)) return "deadlock: a replica sleeps and nobody will wake it";
    if (replica.at == At::kDead) return "deadlock: a dead replica is never repaired";
    const StageSpec& stage = graph.stage(graph.stage_of_replica(r));
    if (!stage.fixed || graph.number_in_stage(r) == 0) continue;
    const bool equal = replica.tasks_done == state.replica[r - 1].tasks_done;
    if (!equal) return "assign: fixed: replicas have done different numbers of tasks";
  }
  return nullptr;
}

const char* check_mark(const Graph& graph, const State& state, int m) {
  const Mark& mark = graph.mark(m);
  const int end = state.end[mark.domain];
  if (state.low[m] != end) return "the run is over, but a mark is not at the end";
  if (end != kUnknownEnd && state.committed[m] != (1u << end) - 1) {
    return "a number was never committed";
  }
  for (int w = 0; mark.words && w < mark.window; ++w) {
    if (state.word[m][w].tag % 4 == kClaimed) return "leak: a task word is still CLAIMED";
  }
  if (state.waiters[m] != 0) return "leak: a bit is left in waiters";
  return nullptr;
}

const char* check_audit(const Graph& graph, const SharedMemory& shared, int stage) {
  const State& state = shared.state;
  int produced = 0, full = 0;
  for (int m = graph.first_mark(stage); m < graph.first_mark(stage) + graph.tables(stage); ++m) {
    produced += state.low[m];
    full += state.full[m];
  }
  for (int r = 0; r < graph.replicas(); ++r) {
    if (graph.stage_of_replica(r) != stage) continue;
    produced -= state.replica[r].tally[shared.counting_entry(r)].not_full;
  }
  return produced == full ? nullptr : "audit: FULL rows are not low minus the tallies";
}

// Lane by lane: a free stage's inputs have tallies of their own.
const char* check_audit_of_free(const Graph& graph, const State& state) {
  const int stage = graph.free_stage();
  for (int t = 0; t < graph.tables(stage); ++t) {
    const LaneTally& tally = state.free.tally[t];
    const int newest = tally.newest == Newest::kFirst ? 0 : 1;
    const int m = graph.first_mark(stage) + t;
    const int full = state.low[m] - tally.entry[newest].not_full;
    if (full != state.full[m])
      return "audit: FULL rows of a free stage are not low minus its tally";
  }
  for (const uint8_t fed : state.free.fed) {
    if (fed != 0) return "outputs of an input that was never consumed";
  }
  return nullptr;
}

const char* check_skips(const Graph& graph, const State& state, int stage) {
  unsigned listed = 0;
  int entries = 0;
  for (const uint8_t entry : state.skips) {
    if (entry == 0) continue;
    listed |= 1u << (entry - 1);
    ++entries;
  }
  const unsigned skipped =
      graph.stage(stage).failing & static_cast<unsigned>(state.committed[graph.first_mark(stage)]);
  if (entries != __builtin_popcount(skipped)) return "skips: missing or listed twice";
  return listed == skipped ? nullptr : "skips: a sample that was not skipped is listed";
}

}  // namespace

void SharedMemory::check_claim(int replica, int mark, int task) {
  const Mark& m = graph.mark(mark);
  require(!committed(mark, task * m.task_size), "a task that is DONE was claimed again");
  for (int other = 0; other < graph.replicas(); ++other) {
    const Replica& r = state.replica[other];
    if (other == replica || (r.flags & kHolds) == 0 || r.task != task) continue;
    const int held = graph.first_mark(graph.stage_of_replica(other)) + r.table;
    require(held != mark, "two living replicas hold one task");
  }
  if (!graph.stage_of(m).epochs) return;
  const Replica& me = state.replica[replica];
  const int tables = graph.tables(m.stage);
  require(me.ended == me.epoch * tables + me.table, "epoch_end was not called before this task");
  for (int t = 0; t < tables; ++t) {
    const int at = graph.first_mark(m.stage) + t;
    const Domain& domain = graph.domain(graph.mark(at).domain);
    const int epochs_before = me.epoch + (t < me.table ? 1 : 0);
    const int passed = epochs_before * domain.period;
    const int end = state.end[graph.mark(at).domain];
    require(state.low[at] >= (passed < end ? passed : end),
            "join: epochs: a task was claimed before the input before it had ended");
  }
}

void SharedMemory::check_inputs(int mark, int task) {
  const Mark& m = graph.mark(mark);
  for (const int input : m.inputs) {
    for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
      const Row& r = row(input, s);
      require(r.number == s, "a row was read that holds another number");
      require(r.committed != 0 && r.being_written == 0, "a row was read that is not committed");
    }
  }
}

void SharedMemory::check_output(int mark, int task) {
  const Mark& m = graph.mark(mark);
  if (m.rows == 0) return;
  for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
    const Row& r = row(mark, s);
    if (r.number == s) require(r.committed == 0, "a committed row was written again");
    if (r.number < 0 || r.number == s) continue;
    require(r.number < s && r.committed != 0, "a row was written that another writer holds");
    for (const int reader : m.readers) {
      require(committed(reader, r.number), "a row was written that a reader may read");
    }
  }
}

void SharedMemory::check_lowered_end(int domain, int end) {
  require(end % graph.domain(domain).lcm == 0, "the end is no multiple of L");
  for (int m = 0; m < graph.marks(); ++m) {
    if (graph.mark(m).domain != domain) continue;
    require(state.committed[m] >> end == 0, "the end was lowered below a task that is DONE");
  }
}

const char* check_at_rest(const SharedMemory& shared) {
  const Graph& graph = shared.graph;
  const State& state = shared.state;
  if (state.supervisor.at != SupervisorAt::kIdle) return "deadlock: the supervisor waits";
  if (const char* broken = check_replicas(graph, state)) return broken;
  for (int m = 0; m < graph.marks(); ++m) {
    if (const char* broken = check_mark(graph, state, m)) return broken;
  }
  if (graph.free_stage() >= 0) {
    if (const char* broken = check_audit_of_free(graph, state)) return broken;
  }
  for (int s = 0; s < graph.stages(); ++s) {
    if (s == graph.free_stage()) continue;
    if (const char* broken = check_audit(graph, shared, s)) return broken;
    if (graph.stage(s).failing == 0) continue;
    if (const char* broken = check_skips(graph, state, s)) return broken;
  }
  return nullptr;
}

}  // namespace brigade::model
