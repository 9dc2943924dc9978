#pragma once

// A child of this process that is run one machine instruction at a time. x86-64 Linux; the
// marks of its region are breakpoint instructions. An instruction that enters the kernel is
// one step, and a child that sleeps there says so.

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace brigade::stress {

/// False where a process may not trace its own child (some containers), on other machines than
/// x86-64, and under a sanitizer, whose instructions are not the product's.
bool can_step();

class SteppedProcess {
 public:
  enum class State : std::uint8_t {
    stopped,  ///< before its next instruction
    asleep,   ///< in the kernel, until somebody wakes it
    ended,    ///< at the end of its region
    broken    ///< it crashed, or left by itself
  };

  /// Forks; `body` prepares itself, calls mark() before and after the region, and returns the
  /// code to leave with. Afterwards the child stands before the first instruction of its region.
  explicit SteppedProcess(const std::function<int()>& body);
  ~SteppedProcess() { kill(); }
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  static void mark();

  /// From `stopped`: one instruction. From `asleep`, after it was woken: the rest of that one.
  State step();
  State state() const { return state_; }
  /// The futex at which the last instruction woke somebody; null: it did not.
  const void* woken() const { return woken_; }
  /// The last instruction was a fence of stores.
  bool fenced() const { return fenced_; }
  /// What the child has in a word of its private memory.
  std::uint64_t peek(const void* word) const;
  /// SIGKILL, and reaped.
  void kill();
  /// From `ended`: lets it leave; the code of its body.
  int leave();

 private:
  bool is_asleep() const;
  State look(bool may_sleep);

  pid_t pid_ = -1;
  State state_ = State::stopped;
  const void* woken_ = nullptr;
  bool fenced_ = false;
};

}  // namespace brigade::stress
