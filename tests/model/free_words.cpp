// The shared words of a free stage: what a repair does with its journal, and what must hold of its
// outputs.

#include "tests/model/shared_memory.h"

namespace brigade::model {

int SharedMemory::outputs_of(int stage, RowKind kind, int sample) const {
  if (kind != RowKind::kFull) return 0;
  return (graph.stage(stage).doubled >> sample & 1) != 0 ? 2 : 1;
}

int SharedMemory::port_to_raise() const {
  const int stage = graph.free_stage();
  const JournalEntry& entry = state.free.entry[state.free.index];
  for (int p = 0; p + 1 < graph.tables(stage); ++p) {
    if (state.low[graph.first_mark(stage) + p] < entry.low_in[p]) return p;
  }
  return -1;
}

void SharedMemory::raise_low_in(int port) {
  consume(port, state.low[graph.first_mark(graph.free_stage()) + port]);
}

// low_in moves over an input: all its outputs are committed, each once.
void SharedMemory::consume(int port, int sample) {
  const int lane = graph.first_mark(graph.free_stage()) + port;
  const bool full = (state.kept[graph.mark(lane).inputs[0]] >> sample & 1) != 0;
  const int outputs =
      outputs_of(graph.free_stage(), full ? RowKind::kFull : RowKind::kHole, sample);
  require(state.low[lane] == sample, "low_in moved by other than the input in work");
  require(state.free.fed[port] >= outputs, "an input was consumed, an output of it is missing");
  commit(lane, sample, full ? 0 : 1);
  state.free.fed[port] = 0;
  state.low[lane] = static_cast<uint8_t>(sample + 1);
}

// An output is about to be committed: is it the one that comes next?
void SharedMemory::check_content(int number) {
  const int stage = graph.free_stage();
  const int out = graph.output_mark(stage);
  const Row& row = this->row(out, number);
  const int lcm = graph.domain(graph.mark(out).domain).lcm;
  FreeWords& words = state.free;
  if (row.kind == RowKind::kPad) {
    for (const uint8_t fed : words.fed) require(fed == 0, "a pad between the outputs of an input");
    require(number % lcm != 0, "a buffer of nothing but pads");
    words.padded = 1;
    return;
  }
  const int port = row.content >> 6, sample = row.content >> 1 & 31, output = row.content & 1;
  const int lane = graph.first_mark(stage) + port;
  const int writer = graph.mark(lane).inputs[0];
  require(sample == state.low[lane], "an output of another input than the one in work");
  require((state.kept[writer] >> sample & 1) != 0, "an output of a sample that is not FULL");
  require(output == words.fed[port], "an output was committed twice, or one is missing");
  require(words.fed[1 - port] == 0, "the outputs of two inputs are mixed");
  ++words.fed[port];
  const Domain& domain = graph.domain(graph.mark(lane).domain);
  const int epoch = domain.end == kUnknownEnd ? 0 : sample / domain.period;
  const bool same = epoch == words.epoch;
  require(same || epoch > words.epoch, "an epoch after a later one");
  require(same ? words.padded == 0 : number % lcm == 0, "a buffer with samples of two epochs");
  words.epoch = static_cast<uint8_t>(epoch);
  words.padded = 0;
}

// The repair's first lines: what the tallies of the dead count, by lane.
void SharedMemory::settle_lanes() {
  const int stage = graph.free_stage();
  for (int t = 0; t < graph.tables(stage); ++t) {
    LaneTally& tally = state.free.tally[t];
    if (tally.newest == Newest::kEqual) continue;
    const int newest = tally.newest == Newest::kFirst ? 0 : 1;
    const TallyEntry& entry = tally.entry[newest];
    const bool counts = entry.task < state.low[graph.first_mark(stage) + t];
    tally.entry[counts ? 1 - newest : newest] = tally.entry[counts ? newest : 1 - newest];
    tally.newest = Newest::kEqual;
  }
}

}  // namespace brigade::model
