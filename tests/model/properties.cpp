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

const char* check_watermark(const Graph& graph, const State& state, int m) {
  const Watermark& watermark = graph.watermark(m);
  const int end = state.end[watermark.index_space];
  if (state.level[m] != end) return "the run is over, but a watermark is not at the end";
  if (end != kUnknownEnd && state.committed[m] != (1u << end) - 1) {
    return "a number was never committed";
  }
  for (int w = 0; watermark.words && w < watermark.window; ++w) {
    if (state.word[m][w].tag % 4 == kClaimed) return "leak: a task word is still CLAIMED";
  }
  if (state.waiters[m] != 0) return "leak: a bit is left in waiters";
  return nullptr;
}

const char* check_audit(const Graph& graph, const SharedMemory& shared, int stage) {
  const State& state = shared.state;
  int produced = 0, full = 0;
  for (int m = graph.first_watermark(stage); m < graph.first_watermark(stage) + graph.tables(stage);
       ++m) {
    produced += state.level[m];
    full += state.full[m];
  }
  for (int r = 0; r < graph.replicas(); ++r) {
    if (graph.stage_of_replica(r) != stage) continue;
    produced -= state.replica[r].tally[shared.counting_entry(r)].not_full;
  }
  return produced == full ? nullptr : "audit: FULL slots are not the watermark minus the tallies";
}

const char* check_skips(const Graph& graph, const State& state, int stage) {
  unsigned listed = 0;
  int entries = 0;
  for (const uint8_t entry : state.skips) {
    if (entry == 0) continue;
    listed |= 1u << (entry - 1);
    ++entries;
  }
  const unsigned skipped = graph.stage(stage).failing &
                           static_cast<unsigned>(state.committed[graph.first_watermark(stage)]);
  if (entries != __builtin_popcount(skipped)) return "skips: missing or listed twice";
  return listed == skipped ? nullptr : "skips: a sample that was not skipped is listed";
}

}  // namespace

void SharedMemory::check_claim(int replica, int watermark, int task) {
  const Watermark& m = graph.watermark(watermark);
  require(!committed(watermark, task * m.task_size), "a task that is DONE was claimed again");
  for (int other = 0; other < graph.replicas(); ++other) {
    const Replica& r = state.replica[other];
    if (other == replica || (r.flags & kHolds) == 0 || r.task != task) continue;
    const int held = graph.first_watermark(graph.stage_of_replica(other)) + r.table;
    require(held != watermark, "two living replicas hold one task");
  }
  if (!graph.stage_of(m).epochs) return;
  const Replica& me = state.replica[replica];
  const int tables = graph.tables(m.stage);
  require(me.ended == me.epoch * tables + me.table, "epoch_end was not called before this task");
  for (int t = 0; t < tables; ++t) {
    const int at = graph.first_watermark(m.stage) + t;
    const IndexSpace& index_space = graph.index_space(graph.watermark(at).index_space);
    const int epochs_before = me.epoch + (t < me.table ? 1 : 0);
    const int passed = epochs_before * index_space.period;
    const int end = state.end[graph.watermark(at).index_space];
    require(state.level[at] >= (passed < end ? passed : end),
            "join: epochs: a task was claimed before the input before it had ended");
  }
}

void SharedMemory::check_inputs(int watermark, int task) {
  const Watermark& m = graph.watermark(watermark);
  for (const int input : m.inputs) {
    for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
      const Slot& r = slot(input, s);
      require(r.number == s, "a slot was read that holds another number");
      require(r.committed != 0 && r.being_written == 0, "a slot was read that is not committed");
    }
  }
}

void SharedMemory::check_output(int watermark, int task) {
  const Watermark& m = graph.watermark(watermark);
  if (m.slots == 0) return;
  for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
    const Slot& r = slot(watermark, s);
    if (r.number == s) require(r.committed == 0, "a committed slot was written again");
    if (r.number < 0 || r.number == s) continue;
    require(r.number < s && r.committed != 0, "a slot was written that another writer holds");
    for (const int reader : m.readers) {
      require(committed(reader, r.number), "a slot was written that a reader may read");
    }
  }
}

void SharedMemory::check_lowered_end(int index_space, int end) {
  require(end % graph.index_space(index_space).lcm == 0, "the end is no multiple of L");
  for (int m = 0; m < graph.watermarks(); ++m) {
    if (graph.watermark(m).index_space != index_space) continue;
    require(state.committed[m] >> end == 0, "the end was lowered below a task that is DONE");
  }
}

const char* check_at_rest(const SharedMemory& shared) {
  const Graph& graph = shared.graph;
  const State& state = shared.state;
  if (state.supervisor.at != SupervisorAt::kIdle) return "deadlock: the supervisor waits";
  if (const char* broken = check_replicas(graph, state)) return broken;
  for (int m = 0; m < graph.watermarks(); ++m) {
    if (const char* broken = check_watermark(graph, state, m)) return broken;
  }
  for (int s = 0; s < graph.stages(); ++s) {
    if (const char* broken = check_audit(graph, shared, s)) return broken;
    if (graph.stage(s).failing == 0) continue;
    if (const char* broken = check_skips(graph, state, s)) return broken;
  }
  return nullptr;
}

}  // namespace brigade::model
