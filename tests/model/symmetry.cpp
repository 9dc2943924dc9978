// The replicas of a stage (without assign: fixed) are alike: states that differ only in which of
// them is which lead to the same futures, and are counted as one state.

#include <array>
#include <cstring>
#include <utility>

#include "tests/model/protocol.h"
#include "tests/model/shared_memory.h"

namespace brigade::model {
namespace {

// order[i]: the replica that comes to place i.
using Order = std::array<uint8_t, kReplicasMax>;

uint8_t renumber_bits(uint8_t bits, const Order& order) {
  uint8_t renumbered = 0;
  for (size_t i = 0; bits != 0 && i < order.size(); ++i) {
    renumbered = static_cast<uint8_t>(renumbered | (bits >> order[i] & 1) << i);
  }
  return renumbered;
}

int place_of(int replica, const Order& order) {
  int place = 0;
  while (order[static_cast<size_t>(place)] != replica) ++place;
  return place;
}

// Sorts alike replicas by their own bytes. Equal ones stay as they are, which only costs states.
bool sort_replicas(const Graph& graph, const State& state, Order& order) {
  bool moved = false;
  for (int r = 1; r < graph.replicas(); ++r) {
    const int stage = graph.stage_of_replica(r);
    if (graph.stage(stage).fixed) continue;
    for (int at = r; at > 0 && graph.stage_of_replica(at - 1) == stage; --at) {
      uint8_t& left = order[static_cast<size_t>(at - 1)];
      uint8_t& right = order[static_cast<size_t>(at)];
      const Replica *one = &state.replica[left], *other = &state.replica[right];
      if (std::memcmp(one, other, sizeof(Replica)) <= 0) break;
      std::swap(left, right);
      moved = true;
    }
  }
  return moved;
}

}  // namespace

uint64_t Protocol::print(const State& state) const {
  Order order;
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint8_t>(i);
  if (search_ == Search::kFull || !sort_replicas(graph_, state, order)) {
    return fingerprint(state);
  }
  State sorted = state;
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.replica[i] = state.replica[order[i]];
    sorted.replica[i].bits = renumber_bits(sorted.replica[i].bits, order);
    sorted.replica[i].ringing = renumber_bits(sorted.replica[i].ringing, order);
  }
  for (uint8_t& bits : sorted.waiters) bits = renumber_bits(bits, order);
  sorted.supervisor.bits = renumber_bits(sorted.supervisor.bits, order);
  sorted.supervisor.victim = static_cast<uint8_t>(place_of(state.supervisor.victim, order));
  for (auto& table : sorted.word) {
    for (Word& word : table) {
      if (word.tag % 4 == kClaimed) word.tag = tag(kClaimed, place_of(word.tag / 4, order));
    }
  }
  // What was loaded from a word before a compare-and-swap.
  for (Replica& r : sorted.replica) {
    if (r.seen_tag % 4 == kClaimed) r.seen_tag = tag(kClaimed, place_of(r.seen_tag / 4, order));
  }
  return fingerprint(sorted);
}

}  // namespace brigade::model
