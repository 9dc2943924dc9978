#pragma once

// A small explicit-state model checker.
//
// A Model is a transition system whose states are plain bytes:
//   using State                       trivially copyable, no padding, a multiple of 8 bytes
//   State initial() const
//   bool moves(const State&, std::vector<Move>&) const      what may happen next; false: nothing
//                                                           of it is bound to happen
//   const char* apply(State&, Move) const                   nullptr, or the property that broke
//   const char* at_rest(const State&) const                 the same, asked where nothing must
//   uint64_t print(const State&) const       fingerprint() of the state, or of one just like it
//   std::string describe(const State& before, Move, const State& after) const
//
// explore() visits every reachable state depth first. It keeps the states of the current path
// and a 64-bit fingerprint of every state seen: with n states the chance that two of them share
// one is below n^2 / 2^64 (for 10 million: 1 in 180,000). Fingerprints on the path are marked,
// so a cycle, that is a run that never ends, is found as well: a protocol in which everybody
// either makes progress or sleeps has none.
// A violation is searched again breadth first, which gives a shortest sequence of steps.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace brigade::weak_memory {

// One thing that can happen: who acts, and which of its possibilities it takes.
struct Move {
  uint8_t actor;
  uint8_t choice;
};

// How a violation is told: as it was found, or by a shortest sequence of steps (takes longer).
enum class Trace : uint8_t { kAsFound, kShortest };

struct Report {
  uint64_t states = 0;
  uint64_t transitions = 0;
  uint64_t endings = 0;  // states in which nothing is left to do
  uint64_t depth = 0;    // the longest path
  double seconds = 0;
  std::string violation;           // empty: every property holds in every reachable state
  std::vector<std::string> trace;  // the steps that lead to the violation
};

inline uint64_t mix(uint64_t value) {
  const auto product = static_cast<unsigned __int128>(value) * 0xD6E8FEB86659FD93u;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ value << 7;
}

template <class State>
uint64_t fingerprint(const State& state) {
  static_assert(std::has_unique_object_representations_v<State> && sizeof(State) % 8 == 0);
  uint64_t words[sizeof(State) / 8 + 1] = {};
  std::memcpy(words, &state, sizeof(State));
  uint64_t even = 0x9E3779B97F4A7C15u,
           odd = 0xC2B2AE3D27D4EB4Fu;  // two sequences of multiplications
  for (size_t i = 0; i < sizeof(State) / 8; i += 2) {
    even = mix(even ^ words[i]);
    odd = mix(odd ^ words[i + 1]);
  }
  return mix(even ^ (odd >> 32 | odd << 32));
}

// Open addressing; bit 0 of an entry says whether the state is on the current path.
class SeenStates {
 public:
  enum class Found { kNew, kOnPath, kSeen };

  Found insert(uint64_t print) {
    if (4 * count_ > 3 * table_.size()) grow();
    uint64_t& entry = slot(print | 1);
    if (entry != 0) return (entry & 1) != 0 ? Found::kOnPath : Found::kSeen;
    entry = print | 1;
    ++count_;
    return Found::kNew;
  }
  void leave_path(uint64_t print) { slot(print | 1) &= ~uint64_t{1}; }
  uint64_t count() const { return count_; }

 private:
  // Entries are compared without bit 0; 0 and 1 stand for "empty", whichever print they had.
  uint64_t& slot(uint64_t print) {
    const uint64_t mask = table_.size() - 1;
    uint64_t at = (print >> 1) & mask;
    while (table_[at] != 0 && (table_[at] | 1) != print) at = (at + 1) & mask;
    return table_[at];
  }
  void grow() {
    std::vector<uint64_t> old(table_.size() * 2);
    old.swap(table_);
    for (uint64_t entry : old) {
      if (entry != 0) slot(entry | 1) = entry;
    }
  }

  std::vector<uint64_t> table_ = std::vector<uint64_t>(1 << 16);
  uint64_t count_ = 0;
};

template <class Model>
class Explorer {
 public:
  using State = typename Model::State;

  Explorer(const Model& model, uint64_t states_max, Trace trace = Trace::kShortest)
      : model_(model), states_max_(states_max), trace_(trace) {}

  Report explore() {
    const auto start = std::chrono::steady_clock::now();
    search();
    report_.states = seen_.count();
    if (!report_.violation.empty() && trace_ == Trace::kShortest) shorten();
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report_;
  }

 private:
  struct Frame {
    State state;
    uint64_t print;
    std::vector<Move> moves;
    size_t next;
  };

  void search() {
    const State first = model_.initial();
    push(first, model_.print(first));
    while (depth_ > 0 && report_.violation.empty()) {
      Frame& top = frames_[depth_ - 1];
      if (top.next == top.moves.size()) {
        seen_.leave_path(top.print);
        --depth_;
      } else {
        follow(top, top.moves[top.next++]);
      }
    }
  }

  void follow(const Frame& from, Move move) {
    State state = from.state;
    ++report_.transitions;
    if (const char* broken = model_.apply(state, move)) return stop(broken);
    push(state, model_.print(state));
  }

  void push(const State& state, uint64_t print) {
    const SeenStates::Found found = seen_.insert(print);
    if (found == SeenStates::Found::kOnPath) return stop("a cycle: this run never ends");
    if (found == SeenStates::Found::kSeen) return;
    if (seen_.count() > states_max_) return stop(kTooMany);
    if (depth_ == frames_.size()) frames_.emplace_back();
    Frame& frame = frames_[depth_++];
    report_.depth = depth_ > report_.depth ? depth_ : report_.depth;
    frame.state = state;
    frame.print = print;
    frame.next = 0;
    frame.moves.clear();
    if (model_.moves(state, frame.moves)) return;
    ++report_.endings;
    if (const char* broken = model_.at_rest(state)) stop(broken);
  }

  // The steps that led here are the moves last taken from the frames of the path.
  void stop(const char* broken) {
    report_.violation = broken;
    std::vector<Move> path;
    for (size_t i = 0; i < depth_; ++i) {
      if (frames_[i].next > 0) path.push_back(frames_[i].moves[frames_[i].next - 1]);
    }
    report_.trace = replay(path);
  }

  std::vector<std::string> replay(const std::vector<Move>& path) const {
    std::vector<std::string> lines;
    State state = model_.initial();
    for (const Move move : path) {
      const State before = state;
      model_.apply(state, move);
      lines.push_back(model_.describe(before, move, state));
    }
    return lines;
  }

  // Breadth first, with a parent per state: only run when something is known to be wrong.
  void shorten() {
    struct Step {
      uint32_t parent;
      Move move;
    };
    if (report_.violation == kTooMany) return;
    std::vector<Step> steps = {{0, {}}};
    std::unordered_map<uint64_t, bool> known;
    std::vector<std::pair<State, uint32_t>> level = {{model_.initial(), 0}}, below;
    std::vector<Move> moves;
    const auto path_to = [&](uint32_t at) {
      std::vector<Move> path;
      for (; at != 0; at = steps[at].parent) path.insert(path.begin(), steps[at].move);
      return path;
    };
    while (!level.empty() && steps.size() < kShortenStatesMax) {
      below.clear();
      for (const auto& [state, at] : level) {
        moves.clear();
        const char* broken = model_.moves(state, moves) ? nullptr : model_.at_rest(state);
        if (broken != nullptr) return accept(broken, path_to(at));
        for (const Move move : moves) {
          State next = state;
          broken = model_.apply(next, move);
          if (broken == nullptr && !known.emplace(model_.print(next), true).second) continue;
          steps.push_back({at, move});
          const auto added = static_cast<uint32_t>(steps.size() - 1);
          if (broken != nullptr) return accept(broken, path_to(added));
          below.emplace_back(next, added);
        }
      }
      level.swap(below);
    }
  }

  void accept(const char* broken, const std::vector<Move>& path) {
    report_.violation = broken;
    report_.trace = replay(path);
  }

  static constexpr const char* kTooMany = "more states than the scenario's limit";
  static constexpr size_t kShortenStatesMax = 4'000'000;

  const Model& model_;
  uint64_t states_max_;
  Trace trace_;
  SeenStates seen_;
  std::vector<Frame> frames_;
  size_t depth_ = 0;
  Report report_;
};

}  // namespace brigade::weak_memory
