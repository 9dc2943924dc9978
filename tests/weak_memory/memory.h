#pragma once

// C++20 shared memory as an operational model, small enough to copy: every store to a word stays in
// the word's history, and a load may read any entry that coherence and happens-before still allow.
//
// After the release/acquire part of Kang, Hur, Lahav, Vafeiadis and Dreyer, "A Promising Semantics
// for Relaxed-Memory Concurrency" (POPL 2017), without promises: a view says for every word the
// oldest entry that may still be read. A thread has one; a release store leaves a copy of it in its
// entry; an acquire load that reads the entry joins it to its own. A read-modify-write reads the
// newest entry, and hands on the view that it found there (a release sequence).
//
//   seq_cst   all such operations take effect in the order in which they are run; a seq_cst load
//             reads nothing older than what an earlier seq_cst operation on that word read or wrote
//             (as Relacy does; C++20 [atomics.order] 3-6 for orders that agree with happens-before)
//   barrier   of all threads at once (membarrier): each has it between two of its accesses; what
//             was stored before it in the run is read by all loads after it
//   plain     slots. A view also says which newest accesses to slots happen before: an access that
//             does not know of the one it conflicts with is a race
//
// Histories only grow at their newer end. That loses nothing where the stores to a word are ordered
// anyway: by one writer, or because each of them is a read-modify-write, as in the protocol. Loads
// read what was stored before them in the run, so load buffering does not occur.
//
// Entries that no thread can read any more are dropped and the rest is numbered from 0 again, so
// that two runs with the same future have the same bytes.

#include <atomic>
#include <cstdint>

namespace brigade::weak_memory {

inline constexpr int kThreads = 4;
inline constexpr int kWords = 16;
inline constexpr int kEntries = 14;
inline constexpr int kSlots = 5;

// Slot accesses whose latest one a view may know of: the newest write of a slot, and the newest
// read by each thread since.
inline constexpr int kSlotAccesses = kSlots * (1 + kThreads);
static_assert(kSlotAccesses <= 32);

inline bool releases(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_acquire;
}

struct View {
  uint8_t oldest[kWords] = {};  // the oldest entry that may be read
  uint32_t known = 0;           // slot accesses that happened before

  void join(const View& other) {
    for (int w = 0; w < kWords; ++w) {
      oldest[w] = other.oldest[w] > oldest[w] ? other.oldest[w] : oldest[w];
    }
    known |= other.known;
  }
};

struct Entry {
  uint32_t value = 0;
  View released;
};

struct WordHistory {
  Entry entries[kEntries];
  uint8_t count = 0;
  uint8_t sc_oldest = 0;  // the oldest entry that a seq_cst load may read
  uint8_t unused[2] = {};
};

struct Slot {
  uint8_t number = 0;
  uint8_t reads = 0;  // threads that have read it since it was written
  uint8_t written = 0;
  uint8_t unused = 0;
};

struct Memory {
  View views[kThreads];
  WordHistory words[kWords];
  Slot slots[kSlots];

  int oldest(int thread, int word, std::memory_order order) const;
  int newest(int word) const { return words[word].count - 1; }
  uint32_t newest_value(int word) const { return words[word].entries[newest(word)].value; }

  /// Reads entry `entry`, from oldest() to newest().
  uint32_t load(int thread, int word, int entry, std::memory_order order);
  void store(int thread, int word, uint32_t value, std::memory_order order);
  /// The half that stores `value`, of an operation that reads the newest entry.
  void modify(int thread, int word, uint32_t value, std::memory_order order);
  /// A full barrier in every thread at once: from here on everybody reads what has been stored so
  /// far, or newer. It orders no slots: nobody is to rely on it for them.
  void barrier_everywhere();
  /// False: the history is full.
  bool has_room(int word) const { return words[word].count < kEntries; }

  /// nullptr, or the race.
  const char* read_slot(int thread, int slot);
  const char* write_slot(int thread, int slot, int number);

  /// Takes back the newest entry of a word that only one thread uses.
  void undo(int word);
  /// As if `thread` had waited for all that `other` did, which has ended.
  void follow(int thread, int other) { views[thread].join(views[other]); }

  /// Drops what nobody can read any more: of each word, what none of its `readers` (bits) may. (Who
  /// only modifies it reads the newest.) Of words in `undoable` (bits) the newest may be undone.
  void forget(const uint8_t (&readers)[kWords], uint16_t undoable);

 private:
  void append(int word, const Entry& entry, std::memory_order order);
  void happens(int thread, int access);
};

}  // namespace brigade::weak_memory
