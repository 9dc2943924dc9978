#include "tests/weak_memory/memory.h"

#include <algorithm>

namespace brigade::weak_memory {
namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

int write_of(int slot) { return slot * (1 + kThreads); }
int read_of(int slot, int thread) { return write_of(slot) + 1 + thread; }

}  // namespace

int Memory::oldest(int thread, int word, std::memory_order order) const {
  const int allowed = views[thread].oldest[word];
  if (order != std::memory_order_seq_cst) return allowed;
  return std::max<int>(allowed, words[word].sc_oldest);
}

uint32_t Memory::load(int thread, int word, int entry, std::memory_order order) {
  WordHistory& history = words[word];
  View& view = views[thread];
  view.oldest[word] = std::max(view.oldest[word], static_cast<uint8_t>(entry));
  if (acquires(order)) view.join(history.entries[entry].released);
  if (order == std::memory_order_seq_cst) {
    history.sc_oldest = std::max(history.sc_oldest, static_cast<uint8_t>(entry));
  }
  return history.entries[entry].value;
}

void Memory::append(int word, const Entry& entry, std::memory_order order) {
  WordHistory& history = words[word];
  if (order == std::memory_order_seq_cst) history.sc_oldest = history.count;
  history.entries[history.count++] = entry;
}

void Memory::store(int thread, int word, uint32_t value, std::memory_order order) {
  views[thread].oldest[word] = words[word].count;
  Entry entry;
  entry.value = value;
  if (releases(order)) entry.released = views[thread];
  append(word, entry, order);
}

void Memory::modify(int thread, int word, uint32_t value, std::memory_order order) {
  const View handed_on = words[word].entries[newest(word)].released;
  if (acquires(order)) views[thread].join(handed_on);
  views[thread].oldest[word] = words[word].count;
  Entry entry;
  entry.value = value;
  entry.released = handed_on;
  if (releases(order)) entry.released.join(views[thread]);
  append(word, entry, order);
}

void Memory::barrier_everywhere() {
  for (View& view : views) {
    for (int w = 0; w < kWords; ++w) {
      if (words[w].count > 0) view.oldest[w] = static_cast<uint8_t>(newest(w));
    }
  }
}

// A new access: nobody else knows of it yet.
void Memory::happens(int thread, int access) {
  const uint32_t bit = uint32_t{1} << access;
  for (View& view : views) view.known &= ~bit;
  for (WordHistory& history : words) {
    for (int e = 0; e < history.count; ++e) history.entries[e].released.known &= ~bit;
  }
  views[thread].known |= bit;
}

const char* Memory::read_slot(int thread, int slot) {
  const bool knows = (views[thread].known >> write_of(slot) & 1) != 0;
  if (slots[slot].written != 0 && !knows) return "a race: a slot is read that may still be written";
  slots[slot].reads = static_cast<uint8_t>(slots[slot].reads | 1 << thread);
  happens(thread, read_of(slot, thread));
  return nullptr;
}

const char* Memory::write_slot(int thread, int slot, int number) {
  const uint32_t known = views[thread].known;
  if (slots[slot].written != 0 && (known >> write_of(slot) & 1) == 0) {
    return "a race: a slot is written twice";
  }
  for (int reader = 0; reader < kThreads; ++reader) {
    const bool has_read = (slots[slot].reads >> reader & 1) != 0;
    if (has_read && reader != thread && (known >> read_of(slot, reader) & 1) == 0) {
      return "a race: a slot is written that may still be read";
    }
  }
  slots[slot] = Slot{static_cast<uint8_t>(number), 0, 1, 0};
  for (int access = write_of(slot); access <= read_of(slot, kThreads - 1); ++access) {
    happens(thread, access);
  }
  return nullptr;
}

void Memory::undo(int word) {
  WordHistory& history = words[word];
  history.entries[--history.count] = Entry{};
  const auto newest_left = static_cast<uint8_t>(history.count - 1);
  const auto lower = [&](uint8_t& at) { at = std::min(at, newest_left); };
  lower(history.sc_oldest);
  for (View& view : views) lower(view.oldest[word]);
  for (WordHistory& other : words) {
    for (int e = 0; e < other.count; ++e) lower(other.entries[e].released.oldest[word]);
  }
}

void Memory::forget(const uint8_t (&readers)[kWords], uint16_t undoable) {
  for (int w = 0; w < kWords; ++w) {
    WordHistory& history = words[w];
    int drop = history.count - 1 - (undoable >> w & 1);
    for (int t = 0; t < kThreads; ++t) {
      if ((readers[w] >> t & 1) != 0) drop = std::min<int>(drop, views[t].oldest[w]);
    }
    if (drop <= 0) continue;
    std::move(history.entries + drop, history.entries + history.count, history.entries);
    std::fill(history.entries + history.count - drop, history.entries + history.count, Entry{});
    history.count = static_cast<uint8_t>(history.count - drop);
    const auto lower = [drop](uint8_t& at) { at = static_cast<uint8_t>(std::max(0, at - drop)); };
    lower(history.sc_oldest);
    for (View& view : views) lower(view.oldest[w]);
    for (WordHistory& other : words) {
      for (int e = 0; e < other.count; ++e) lower(other.entries[e].released.oldest[w]);
    }
  }
}

}  // namespace brigade::weak_memory
