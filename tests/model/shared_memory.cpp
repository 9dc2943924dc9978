#include "tests/model/shared_memory.h"

#include <algorithm>

namespace brigade::model {

int SharedMemory::doorbell_at(uint8_t bits, int choice) const {
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

bool SharedMemory::committed(int watermark, int sample) const {
  return (state.committed[watermark] >> sample & 1) != 0;
}

bool SharedMemory::move_level(int watermark, int from) {
  if (state.level[watermark] != from) return false;
  for (int s = from; s < from + graph.watermark(watermark).task_size; ++s) {
    require(committed(watermark, s), "the watermark moved over a task that is not DONE");
  }
  state.level[watermark] = static_cast<uint8_t>(from + graph.watermark(watermark).task_size);
  return true;
}

void SharedMemory::commit(int watermark, int task, int empty_slots) {
  const Watermark& m = graph.watermark(watermark);
  for (int s = task * m.task_size; s < (task + 1) * m.task_size; ++s) {
    require(s < state.end[m.index_space] && s < kSamplesMax, "a number past the end was committed");
    require(!committed(watermark, s), "a number was committed twice");
    state.committed[watermark] = static_cast<uint16_t>(state.committed[watermark] | 1u << s);
    if (m.slots == 0) continue;
    Slot& r = slot(watermark, s);
    require(r.number == s && r.being_written == 0, "DONE, but the slot was not written");
    r.committed = 1;
  }
  state.full[watermark] = static_cast<uint8_t>(state.full[watermark] + m.task_size - empty_slots);
}

bool SharedMemory::all_acknowledged(int index_space) const {
  for (int r = 0; r < graph.replicas(); ++r) {
    if ((graph.index_space(index_space).sources & bit(r)) != 0 && state.replica[r].ack == 0)
      return false;
  }
  return true;
}

bool SharedMemory::all_or_gone_acknowledged(int index_space) const {
  for (int r = 0; r < graph.replicas(); ++r) {
    if ((graph.index_space(index_space).sources & bit(r)) == 0) continue;
    const Replica& source = state.replica[r];
    const bool gone = source.at == At::kLeft || source.at == At::kReaped;
    if (!gone && source.ack == 0) return false;
  }
  return true;
}

int SharedMemory::claimed_up_to(int index_space) const {
  int highest = 0;
  for (const int m : graph.index_space(index_space).source_marks) {
    const Watermark& watermark = graph.watermark(m);
    highest = std::max<int>(highest, state.level[m]);
    for (int w = 0; watermark.words && w < watermark.window; ++w) {
      const Word& word = state.word[m][w];
      if (word.number < 0 || word.tag % 4 == kOpen) continue;
      if (graph.faulty(Fault::kEndFromLevel)) continue;
      highest = std::max(highest, (word.number + 1) * watermark.task_size);
    }
  }
  if (graph.faulty(Fault::kEndNotRounded)) return highest;
  const int lcm = graph.index_space(index_space).lcm;
  return (highest + lcm - 1) / lcm * lcm;
}

int SharedMemory::newest_entry(int replica) const {
  const Newest newest = state.replica[replica].newest;
  if (newest == Newest::kEqual) return graph.faulty(Fault::kTallyTie) ? 0 : 1;
  return newest == Newest::kFirst ? 0 : 1;
}

bool SharedMemory::counts(int replica, const TallyEntry& entry) const {
  if (entry.task == kNeverWritten) return true;
  const Watermark& watermark = graph.watermark(entry.watermark);
  if (!watermark.words)
    return (entry.task + 1) * watermark.task_size <= state.level[entry.watermark];
  const Word& word = this->word(entry.watermark, entry.task);
  return !(word.number == entry.task && owned(word, replica));
}

int SharedMemory::counting_entry(int replica) const {
  const int newest = newest_entry(replica);
  return counts(replica, state.replica[replica].tally[newest]) ? newest : 1 - newest;
}

}  // namespace brigade::model
