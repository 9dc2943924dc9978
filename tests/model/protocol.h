#pragma once

// The protocol as a transition system for the explorer: replicas, the supervisor, and death.

#include <string>
#include <vector>

#include "tests/model/explorer.h"
#include "tests/model/graph.h"
#include "tests/model/protocol_state.h"

namespace brigade::model {

class Protocol {
 public:
  using State = model::State;

  // kReduced: where a replica's next step is private, no other order is looked at (see moves()),
  // and states that differ only in which of a stage's replicas is which count as one.
  enum class Search : uint8_t { kReduced, kFull };

  explicit Protocol(const Scenario& scenario, Search search = Search::kReduced);

  State initial() const;
  // False: nothing is bound to happen. Deaths and stops may still come, but nobody may need them.
  bool moves(const State& state, std::vector<Move>& moves) const;
  const char* apply(State& state, Move move) const;
  uint64_t print(const State& state) const;  // the same for states that differ by symmetry
  const char* at_rest(const State& state) const;
  std::string describe(const State& before, Move move, const State& after) const;

 private:
  static constexpr uint8_t kDie = 200;
  static constexpr uint8_t kFlush = 201;
  static bool is_death(Move move) { return move.choice == kDie; }
  static bool is_flush(Move move) { return move.choice == kFlush; }

  bool add_replica_moves(const State& state, int replica, std::vector<Move>& moves) const;
  bool add_supervisor_moves(const State& state, std::vector<Move>& moves) const;

  Graph graph_;
  Search search_;
};

// Explores every reachable state of a scenario. `states_max` bounds memory: 11 to 32 bytes each.
Report check(const Scenario& scenario, uint64_t states_max, Trace trace,
             Protocol::Search search = Protocol::Search::kReduced);

}  // namespace brigade::model
