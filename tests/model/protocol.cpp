#include "tests/model/protocol.h"

#include "tests/model/replica_steps.h"
#include "tests/model/supervisor_steps.h"

namespace brigade::model {

Protocol::Protocol(const Scenario& scenario, Search search) : graph_(scenario), search_(search) {}

State Protocol::initial() const {
  State state;
  for (int m = 0; m < graph_.watermarks(); ++m) {
    const Watermark& watermark = graph_.watermark(m);
    for (int task = -watermark.window; watermark.words && task < 0; ++task) {
      const int entry = (task + watermark.window) % watermark.window;
      state.word[m][entry] = {static_cast<int8_t>(task), tag(kDone, 0)};
    }
  }
  for (int d = 0; d < graph_.index_spaces(); ++d) {
    state.end[d] = static_cast<uint8_t>(graph_.index_space(d).end);
  }
  for (Replica& r : state.replica) r.at = At::kLeft;
  for (int r = 0; r < graph_.replicas(); ++r) {
    Replica& replica = state.replica[r];
    const StageSpec& stage = graph_.stage(graph_.stage_of_replica(r));
    replica.at = At::kCursor;
    replica.task = static_cast<uint8_t>(stage.fixed ? graph_.number_in_stage(r) : 0);
  }
  state.deaths_left = static_cast<uint8_t>(graph_.scenario().deaths);
  return state;
}

// Where a step is private to a replica, exploring it first loses nothing: it commutes with
// whatever the others do, they cannot see it, and it can always be taken. The same holds for the
// replica's death before that step, so both are explored; after a load they come to the same.
bool Protocol::moves(const State& state, std::vector<Move>& moves) const {
  State& looked_at = const_cast<State&>(state);  // steps are asked, not run
  SharedMemory shared{graph_, looked_at};
  for (int r = 0; search_ == Search::kReduced && r < graph_.replicas(); ++r) {
    const ReplicaSteps steps(shared, r);
    if (!steps.is_private()) continue;
    add_replica_moves(state, r, moves);
    if (steps.is_private_load()) moves.resize(1);
    return true;
  }
  bool bound = false;
  for (int r = 0; r < graph_.replicas(); ++r) bound |= add_replica_moves(state, r, moves);
  return add_supervisor_moves(state, moves) || bound;
}

bool Protocol::add_replica_moves(const State& state, int replica, std::vector<Move>& moves) const {
  SharedMemory shared{graph_, const_cast<State&>(state)};
  const ReplicaSteps steps(shared, replica);
  const auto me = static_cast<uint8_t>(replica);
  const size_t before = moves.size();
  for (int choice = 0; choice < ReplicaSteps::kChoices; ++choice) {
    if (steps.may(choice)) moves.push_back({me, static_cast<uint8_t>(choice)});
  }
  if (steps.may_flush()) moves.push_back({me, kFlush});
  const bool bound = moves.size() > before;
  if (steps.may_die()) moves.push_back({me, kDie});
  return bound;
}

bool Protocol::add_supervisor_moves(const State& state, std::vector<Move>& moves) const {
  SharedMemory shared{graph_, const_cast<State&>(state)};
  const SupervisorSteps steps(shared);
  SupervisorSteps::Choices open;
  steps.choices(open);
  bool bound = false;
  for (const uint8_t choice : open) {
    moves.push_back({static_cast<uint8_t>(kReplicasMax), choice});
    bound |= !SupervisorSteps::is_optional(choice);
  }
  return bound;
}

const char* Protocol::apply(State& state, Move move) const {
  SharedMemory shared{graph_, state};
  if (move.actor == kReplicasMax) {
    SupervisorSteps(shared).run(move.choice);
    return shared.broken;
  }
  ReplicaSteps steps(shared, move.actor);
  if (is_death(move)) {
    --state.deaths_left;
    steps.die();
  } else if (is_flush(move)) {
    steps.flush();
  } else {
    steps.run(move.choice);
  }
  return shared.broken;
}

const char* Protocol::at_rest(const State& state) const {
  return check_at_rest(SharedMemory{graph_, const_cast<State&>(state)});
}

Report check(const Scenario& scenario, uint64_t states_max, Trace trace, Protocol::Search search) {
  const Protocol protocol(scenario, search);
  return Explorer<Protocol>(protocol, states_max, trace).explore();
}

}  // namespace brigade::model
