#pragma once

// The threads of a small line: each is a replica that claims or waits, reads and writes rows, and
// finishes, by the templates of transports/ (Channel, advance, claim_or_wait, WakeDebt, bells).
// Nobody dies, and the end is known: repairs, stops and ends are not looked at here.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/line.h"
#include "tests/weak_memory/recorded_policy.h"
#include "transports/wait.h"

namespace brigade::weak_memory {

class LineProgram : public Program {
 public:
  LineProgram(const std::vector<support::StageSpec>& stages, std::uint64_t samples);
  ~LineProgram() override;
  LineProgram(const LineProgram&) = delete;

  int threads() const override { return shape_.replicas; }
  bool turn(int thread, uint16_t& from) override;
  Access name(int thread, const Operation& operation, FaultPoint after) const override;
  void prepare(State& state) const override;
  const char* at_end(const State& state) const override;
  std::string word_name(int word) const override;
  std::string thread_name(int thread) const override;

 private:
  using P = RecordedPolicy;
  using Replica = Channel<P>;
  struct Word {
    Role role;
    int stage;
    uint32_t first;
    std::string name;
  };
  // Zeroed before a channel is made in it, so that equal channels have equal bytes.
  struct Room {
    alignas(Replica) std::byte bytes[sizeof(Replica)];
    Replica* channel() { return reinterpret_cast<Replica*>(bytes); }
  };

  template <class T>
  void number(RecordedPolicy::Atomic<T>& word, Role role, int stage, const std::string& name);
  void set_first_values();
  void number_words();
  uint16_t keep(const Replica& channel);
  void work(int stage, std::uint64_t task);
  int stage_of(int thread) const;
  int row_of(int stage, std::uint64_t sample) const;

  const GraphShape shape_;
  const std::uint64_t samples_;
  support::LineMemory memory_;
  Control<P> control_;
  std::vector<Word> words_;
  std::vector<std::unique_ptr<Room>> kept_;  // private memories of threads, each once
  std::unordered_map<std::string, uint16_t> kept_by_content_;
  std::vector<uint16_t> first_;
  Room working_;
  bool working_in_use_ = false;
};

}  // namespace brigade::weak_memory
