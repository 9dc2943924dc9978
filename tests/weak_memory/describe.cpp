// A step as a line of text.

#include <array>

#include <brigade/text.h>
#include "tests/weak_memory/machine.h"

namespace brigade::weak_memory {
namespace {

const char* text(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    default:
      return "seq_cst";
  }
}

constexpr std::array kKinds = {"load", "store", "exchange", "CAS",     "add",  "or",
                               "and",  "sleep", "wake",     "barrier", "reap", "await"};

}  // namespace

const char* name_of(Access access) {
  static constexpr std::array kNames = {
      "other",        "reached",       "own_level",     "claim_look",     "claim_cas",
      "finish_level", "finish_done",   "advance_level", "advance_word",   "advance_cas",
      "set_waiter",   "clear_waiter",  "doorbell_look", "say_until",      "barrier",
      "glance",       "keep_order",    "wake_look",     "read_until",     "ring",
      "repairs_look", "reopen",        "count_repair",  "stop_look",      "acknowledge",
      "ask_stop",     "ack_look",      "end_look",      "lower_end",      "end_is_set",
      "record_end",   "recorded_look", "tally_commit",  "journal_commit", "word_look",
      "done_above"};
  return kNames[static_cast<size_t>(access)];
}

std::string Machine::describe(const State& before, Move move, const State& after) const {
  if (move.choice >= kDies)
    return concat(program_.thread_name(move.actor),
                  ": dies; stores missing: ", int{move.choice} - kDies);
  const Operation& operation = before.threads[move.actor].next;
  const Memory& memory = before.memory;
  std::string line =
      concat(program_.thread_name(move.actor), ": ", name_of(operation.access), " ",
             kKinds[static_cast<size_t>(operation.kind)], " ", program_.word_name(operation.word),
             " (", text(operation.memory_order()), ")");
  const int entry = memory.newest(operation.word) - move.choice;
  if (operation.kind < Kind::kSleep && operation.kind != Kind::kStore) {
    line += concat(" reads ", memory.words[operation.word].entries[entry].value);
    if (move.choice > 0) line += concat(", ", int{move.choice}, " behind the newest");
  }
  if (operation.writes()) line += concat(" -> ", after.memory.newest_value(operation.word));
  if (after.threads[move.actor].doing == Doing::kAsleep) line += "; sleeps";
  if (after.threads[move.actor].doing == Doing::kFinished) line += "; finished";
  return line;
}

}  // namespace brigade::weak_memory
