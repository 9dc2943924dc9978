// A free stage (merge, repack): any number of outputs per input, one replica, a mark per input and
// one for its output, and the journal that says which input is in work. docs/PROTOCOL.md "Numbering
// anew".

#include <algorithm>

#include "tests/model/replica_steps.h"

namespace brigade::model {

int ReplicaSteps::ports() const { return static_cast<int>(stage_.inputs.size()); }
int ReplicaSteps::lane(int port) const { return graph_.first_mark(stage_number_) + port; }
uint8_t& ReplicaSteps::low_in(int port) { return state_.low[lane(port)]; }
uint8_t& ReplicaSteps::low_out() { return state_.low[lane(ports())]; }

void ReplicaSteps::run_free(int choice) {
  switch (r_.at) {
    case At::kFreeEntry:
      return free_load_journal();
    case At::kFreeRaise:
      return free_raise();
    case At::kFreeEnd:
      return free_load_end();
    case At::kFreeRecord:
      return free_record_epoch();
    case At::kFreeReadable:
      return free_load_input(choice);
    case At::kFreeMemory:
      return free_load_memory();
    case At::kFreeRead:
      return free_read();
    case At::kFreeRowBegin:
      return free_begin_row();
    case At::kFreeRowEnd:
      return free_end_row();
    case At::kFreeTally:
      return free_store_tally();
    case At::kFreeTallyNumber:
      return free_store_tally_number();
    case At::kFreeLowOut:
      return free_store_low_out();
    case At::kFreeLowIn:
      return free_store_low_in();
    default:
      return free_journal_step();
  }
}

// Journal, tallies and rows that are not committed are read by nobody else while it lives.
bool ReplicaSteps::is_private_free() const {
  const bool journal = (r_.at >= At::kOpenEntry && r_.at <= At::kOpenIndex) ||
                       (r_.at >= At::kCloseEntry && r_.at <= At::kCloseIndex);
  return journal || (r_.at >= At::kFreeRead && r_.at <= At::kFreeTallyNumber);
}

bool ReplicaSteps::is_private_load_of_free() const {
  if (r_.at == At::kFreeEntry) return true;
  if (r_.at == At::kFreeEnd) return free_closed(r_.index);
  return r_.at == At::kFreeMemory && free_writable(r_.index);
}

// --- a restart -----------------------------------------------------------------------------------

void ReplicaSteps::free_load_journal() {
  r_.table = static_cast<uint8_t>(ports());
  r_.owes = 0;
  if (faulty(Fault::kRaiseAfterSettle) || faulty(Fault::kRaiseWithoutWake)) {
    return go(At::kFreeRaise);
  }
  free_resume();
}

// Only where the repair has not done it.
void ReplicaSteps::free_raise() {
  const int port = shared_.port_to_raise();
  if (port < 0) return free_resume();
  shared_.raise_low_in(port);
  if (faulty(Fault::kRaiseAfterSettle)) r_.owes = static_cast<uint8_t>(r_.owes | bit(port));
  if (shared_.port_to_raise() < 0) free_resume();
}

void ReplicaSteps::free_resume() {
  const FreeWords& words = state_.free;
  const JournalEntry& entry = words.entry[words.index];
  r_.port = kNoPort;
  if (entry.port == kNoPort) return claim_next();
  r_.port = entry.port;
  r_.input = entry.low_in[entry.port];
  r_.made = static_cast<uint8_t>(faulty(Fault::kNoDiscard) ? 0 : low_out() - entry.t_out);
  set(kHolds);
  go(At::kFreeRead);
}

// --- what to do next -----------------------------------------------------------------------------

// Everything that can change is looked at: the ends of all inputs, then their marks.
void ReplicaSteps::free_look() {
  r_.table = static_cast<uint8_t>(ports());
  if (has(kHolds)) return free_output();  // it waited for memory with an input in work
  r_.port = kNoPort;
  r_.input = r_.made = r_.closed = r_.index = 0;
  if (faulty(Fault::kFreeObeysStop)) {
    const int stop = state_.stop[mark().domain];
    if (stop == 1) r_.ack = 1;
    if (stop == 1) return must_wait(kNoMark);
    if (stop == 2) return has(kLooksAgain) ? stop_waiting() : leave();
  }
  free_look_at_end();
}

bool ReplicaSteps::free_closed(int port) const {
  return state_.low[lane(port)] == state_.end[graph_.mark(lane(port)).domain];
}

void ReplicaSteps::free_look_at_end() {
  const int d = graph_.mark(lane(r_.index)).domain;
  if (graph_.end_may_change(d)) return go(At::kFreeEnd, r_.index);
  free_load_end();
}

void ReplicaSteps::free_load_end() {
  if (free_closed(r_.index)) r_.closed = static_cast<uint8_t>(r_.closed | bit(r_.index));
  if (++r_.index < ports()) return free_look_at_end();
  free_choose();
}

int ReplicaSteps::free_period(int port) const {
  const Domain& d = graph_.domain(graph_.mark(lane(port)).domain);
  return d.end == kUnknownEnd ? kSamplesMax : d.period;
}

// Has this input reached the end of the epoch in work, or its own end before that?
bool ReplicaSteps::free_epoch_done(int port) const {
  const bool closed = (r_.closed & bit(port)) != 0;
  return closed || state_.low[lane(port)] >= (state_.free.epochs + 1) * free_period(port);
}

// An epoch is over when all inputs have ended theirs: its end is recorded, then its pads are
// published, and only then do the inputs of the next one count as there. So a successor finds its
// place from the list, the marks and the ends alone.
void ReplicaSteps::free_choose() {
  const int epoch = state_.free.epochs;
  const int recorded = epoch > 0 ? state_.free.ends[epoch - 1] : 0;
  if (low_out() < recorded) {
    r_.port = kNoPort;
    return go(At::kFreeMemory, 0);
  }
  bool begun = epoch == 0, done = true;
  for (int p = 0; p < ports(); ++p) {
    begun |= state_.low[lane(p)] > epoch * free_period(p);
    done &= free_epoch_done(p);
  }
  const bool all_closed = r_.closed == bit(ports()) - 1;
  if (all_closed && !begun) return free_end();
  if (!done) return go(At::kFreeReadable, 0);
  if (has(kLooksAgain)) return stop_waiting();
  go(At::kFreeRecord);
}

void ReplicaSteps::free_record_epoch() {
  const int lcm = domain().lcm;
  const bool all_closed = r_.closed == bit(ports()) - 1;
  const bool rounds = all_closed || !faulty(Fault::kNoPadsAtEpoch);
  const int end = rounds ? (low_out() + lcm - 1) / lcm * lcm : low_out();
  shared_.require(state_.free.epochs < kEpochsMax, "more epochs than there are");
  state_.free.ends[state_.free.epochs++] = static_cast<uint8_t>(end);
  claim_next();
}

void ReplicaSteps::free_end() {
  const bool stored = state_.end[mark().domain] != kUnknownEnd;
  if (has(kLooksAgain)) return stop_waiting();
  if (stored) return leave();
  go(At::kEndStore);
}

// `choice`: the port that it looks at first. index counts the ports looked at.
void ReplicaSteps::free_load_input(int choice) {
  if (r_.index == 0) r_.port = static_cast<uint8_t>(choice);
  const int p = r_.port;
  const int input = graph_.mark(lane(p)).inputs[0];
  if (!free_epoch_done(p) && state_.low[input] > low_in(p)) return free_take();
  r_.port = static_cast<uint8_t>((p + 1) % ports());
  if (r_.index + 1 < ports()) return go(At::kFreeReadable, r_.index + 1);
  must_wait(kNoMark);
}

void ReplicaSteps::free_take() {
  r_.input = low_in(r_.port);
  r_.made = 0;
  if (has(kLooksAgain)) return stop_waiting();
  free_begin();
}

bool ReplicaSteps::free_writable(int reader) const {
  const int low = state_.low[mark().readers[static_cast<size_t>(reader)]];
  return state_.low[lane(ports())] < low + mark().rows;
}

void ReplicaSteps::free_load_memory() {
  if (!free_writable(r_.index)) return must_wait(mark().readers[r_.index]);
  if (r_.index + 1 < static_cast<int>(mark().readers.size())) {
    return go(At::kFreeMemory, r_.index + 1);
  }
  if (has(kLooksAgain)) return stop_waiting();
  if (r_.port == kNoPort) return go(At::kFreeTally);
  if (has(kHolds)) return go(At::kFreeRowBegin);
  free_begin();
}

// Nothing is noted for an input without outputs: its successor may as well begin with another.
void ReplicaSteps::free_begin() {
  set(kHolds);
  const bool late = faulty(Fault::kJournalAfterFirstOutput);
  go(free_outputs() == 0 || late ? At::kFreeRead : At::kOpenEntry);
}

// --- the journal ---------------------------------------------------------------------------------

JournalEntry& ReplicaSteps::free_next_entry() {
  FreeWords& words = state_.free;
  const bool flipped = faulty(Fault::kJournalIndexFirst);
  return words.entry[faulty(Fault::kJournalInPlace) || flipped ? words.index : 1 - words.index];
}

void ReplicaSteps::free_flip() { state_.free.index = static_cast<uint8_t>(1 - state_.free.index); }

// Of an entry: the first half, the second half, the index. `closing`: no port in work any more.
void ReplicaSteps::free_journal_step() {
  const bool closing = r_.at >= At::kCloseEntry;
  const At entry = closing ? At::kCloseEntry : At::kOpenEntry;
  const At lows = closing ? At::kCloseLows : At::kOpenLows;
  const At index = closing ? At::kCloseIndex : At::kOpenIndex;
  if (r_.at == entry) {
    if (faulty(Fault::kJournalIndexFirst)) free_flip();
    JournalEntry& next = free_next_entry();
    const bool later = faulty(Fault::kJournalIndexFirst);
    if (later) return go(lows);
    next.t_out = low_out();
    next.port = closing ? kNoPort : r_.port;
    return go(lows);
  }
  if (r_.at == lows) {
    JournalEntry& next = free_next_entry();
    next.t_out = low_out();
    next.port = closing ? kNoPort : r_.port;
    for (int p = 0; p < ports(); ++p) next.low_in[p] = low_in(p);
    if (closing) next.low_in[r_.port] = static_cast<uint8_t>(r_.input + 1);
    const bool no_index = faulty(Fault::kJournalInPlace) || faulty(Fault::kJournalIndexFirst);
    if (!no_index) return go(index);
  } else {
    free_flip();
  }
  if (closing) return faulty(Fault::kLowInBeforeJournal) ? free_done() : go(At::kFreeLowIn);
  if (faulty(Fault::kJournalAfterFirstOutput)) return free_output();
  go(At::kFreeRead);
}

// --- an input and its outputs --------------------------------------------------------------------

int ReplicaSteps::free_outputs() const {
  const int writer = graph_.mark(lane(r_.port)).inputs[0];
  return shared_.outputs_of(stage_number_, shared_.row(writer, r_.input).kind, r_.input);
}

void ReplicaSteps::free_read() {
  shared_.check_inputs(lane(r_.port), r_.input);
  free_output();
}

// The next output of the input in hand, or what comes after the last.
void ReplicaSteps::free_output() {
  const bool all_made = r_.made >= free_outputs();
  if (has(kLooksAgain) && all_made) return stop_waiting();
  if (all_made) return free_after();
  go(At::kFreeMemory, 0);
}

// The number that the row in hand gets.
int ReplicaSteps::free_number() const { return state_.low[lane(ports())]; }

void ReplicaSteps::free_begin_row() {
  const int number = free_number();
  if (r_.port != kNoPort) shared_.check_inputs(lane(r_.port), r_.input);
  shared_.check_output(lane(ports()), number);
  shared_.row(lane(ports()), number) = Row{static_cast<int8_t>(number), 1, 0, RowKind::kFull, 0};
  go(At::kFreeRowEnd);
}

void ReplicaSteps::free_end_row() {
  Row& row = shared_.row(lane(ports()), free_number());
  const bool pad = r_.port == kNoPort;
  if (!pad) shared_.check_inputs(lane(r_.port), r_.input);
  row.being_written = 0;
  row.kind = pad ? RowKind::kPad : RowKind::kFull;
  row.content = pad ? 0 : SharedMemory::content(r_.port, r_.input, r_.made);
  go(At::kFreeLowOut);
}

void ReplicaSteps::free_store_low_out() {
  const bool pad = r_.port == kNoPort;
  shared_.check_content(low_out());
  shared_.commit(lane(ports()), low_out(), pad ? 1 : 0);
  low_out() = static_cast<uint8_t>(low_out() + 1);
  owe();
  if (pad) return claim_next();
  ++r_.made;
  if (faulty(Fault::kJournalAfterFirstOutput) && r_.made == 1) return go(At::kOpenEntry);
  free_output();
}

// All outputs are committed. A tally entry where the input was no FULL row.
void ReplicaSteps::free_after() {
  const int writer = graph_.mark(lane(r_.port)).inputs[0];
  const bool full = shared_.row(writer, r_.input).kind == RowKind::kFull;
  if (!full) return go(At::kFreeTally);
  free_consume();
}

void ReplicaSteps::free_consume() {
  if (faulty(Fault::kLowInBeforeJournal)) return go(At::kFreeLowIn);
  go(At::kCloseEntry);
}

LaneTally& ReplicaSteps::free_tally() {
  return state_.free.tally[r_.port == kNoPort ? ports() : r_.port];
}

void ReplicaSteps::free_store_tally() {
  const bool pad = r_.port == kNoPort;
  LaneTally& tally = free_tally();
  const int next = tally.newest == Newest::kFirst ? 1 : 0;
  tally.entry[next].not_full = static_cast<uint8_t>(tally.entry[1 - next].not_full + 1);
  tally.entry[next].task = pad ? low_out() : r_.input;
  go(At::kFreeTallyNumber);
}

void ReplicaSteps::free_store_tally_number() {
  LaneTally& tally = free_tally();
  tally.newest = tally.newest == Newest::kFirst ? Newest::kSecond : Newest::kFirst;
  if (r_.port == kNoPort) return go(At::kFreeRowBegin);
  free_consume();
}

void ReplicaSteps::free_store_low_in() {
  shared_.consume(r_.port, r_.input);
  r_.owes = static_cast<uint8_t>(r_.owes | bit(r_.port));
  if (faulty(Fault::kLowInBeforeJournal)) return go(At::kCloseEntry);
  free_done();
}

void ReplicaSteps::free_done() {
  clear(kHolds);
  r_.port = kNoPort;
  r_.input = r_.made = 0;
  claim_next();
}

}  // namespace brigade::model
