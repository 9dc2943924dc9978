#include "tests/model/shared_memory.h"

#include <algorithm>

namespace brigade::model {

int SharedMemory::bell_at(uint8_t bits, int choice) const {
  if (bits == 0) return -1;
  const int stage = graph.stage_of_replica(__builtin_ctz(bits));
  for (int r = __builtin_ctz(bits); r < graph.replicas(); ++r) {
    if (graph.stage_of_replica(r) != stage) return -1;
    if ((bits >> r & 1) == 0) continue;
    if (choice-- == 0) return r;
    if (graph.stage(stage).fixed) return -1;
  }
  return -1;
}

bool SharedMemory::committed(int mark, int sample) const {
  return (state.committed[mark] >> sample & 1) != 0;
}

bool SharedMemory::move_low(int mark, int from) {
  if (state.low[mark] != from) return false;
  for (int s = from; s < from + graph.mark(mark).task_size; ++s) {
    require(committed(mark, s), "low moved over a task that is not DONE");
  }
  state.low[mark] = static_cast<uint8_t>(from + graph.mark(mark).task_size);
  return true;
}

void SharedMemory::commit(int mark, int task, int holes) {
  const Mark& m = graph.mark(mark);
  for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
    require(s < state.end[m.domain] && s < kSamplesMax, "a number past the end was committed");
    require(!committed(mark, s), "a number was committed twice");
    state.committed[mark] = static_cast<uint16_t>(state.committed[mark] | 1u << s);
    if (m.rows == 0) continue;
    Row& r = row(mark, s);
    require(r.number == s && r.being_written == 0, "DONE, but the row was not written");
    r.committed = 1;
    if (r.kind == RowKind::kFull)
      state.kept[mark] = static_cast<uint16_t>(state.kept[mark] | 1u << s);
  }
  state.full[mark] = static_cast<uint8_t>(state.full[mark] + m.task_size - holes);
}

bool SharedMemory::all_acknowledged(int domain) const {
  for (int r = 0; r < graph.replicas(); ++r) {
    if ((graph.domain(domain).sources & bit(r)) != 0 && state.replica[r].ack == 0) return false;
  }
  return true;
}

bool SharedMemory::all_or_gone_acknowledged(int domain) const {
  for (int r = 0; r < graph.replicas(); ++r) {
    if ((graph.domain(domain).sources & bit(r)) == 0) continue;
    const Replica& source = state.replica[r];
    const bool gone = source.at == At::kLeft || source.at == At::kReaped;
    if (!gone && source.ack == 0) return false;
  }
  return true;
}

int SharedMemory::claimed_up_to(int domain) const {
  int highest = 0;
  for (const int m : graph.domain(domain).source_marks) {
    const Mark& mark = graph.mark(m);
    highest = std::max<int>(highest, state.low[m]);
    for (int w = 0; mark.words && w < mark.window; ++w) {
      const Word& word = state.word[m][w];
      if (word.number < 0 || word.tag % 4 == kOpen) continue;
      if (graph.faulty(Fault::kEndFromLow)) continue;
      highest = std::max(highest, (word.number + 1) * mark.task_size);
    }
  }
  if (graph.faulty(Fault::kEndNotRounded)) return highest;
  const int lcm = graph.domain(domain).lcm;
  return (highest + lcm - 1) / lcm * lcm;
}

int SharedMemory::newest_entry(int replica) const {
  const Newest newest = state.replica[replica].newest;
  if (newest == Newest::kEqual) return graph.faulty(Fault::kTallyTie) ? 0 : 1;
  return newest == Newest::kFirst ? 0 : 1;
}

bool SharedMemory::counts(int replica, const TallyEntry& entry) const {
  if (entry.task == kNeverWritten) return true;
  const Mark& mark = graph.mark(entry.mark);
  if (!mark.words) return (entry.task + 1) * mark.task_size <= state.low[entry.mark];
  const Word& word = this->word(entry.mark, entry.task);
  return !(word.number == entry.task && owned(word, replica));
}

int SharedMemory::counting_entry(int replica) const {
  const int newest = newest_entry(replica);
  return counts(replica, state.replica[replica].tally[newest]) ? newest : 1 - newest;
}

}  // namespace brigade::model
