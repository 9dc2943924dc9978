#include "tests/model/graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

namespace brigade::model {
namespace {

void must(bool holds, const Scenario& scenario, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "scenario \"%s\" is not well formed: %s\n", scenario.name, what);
  std::abort();
}

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

Graph::Graph(const Scenario& scenario) : scenario_(scenario) {
  for (int s = 0; s < stages(); ++s) {
    for (int r = 0; r < stage(s).replicas; ++r) stage_of_replica_.push_back(s);
  }
  must(replicas() <= kReplicasMax, scenario_, "too many replicas");
  add_watermarks();
  join_index_spaces();
  add_index_spaces();
  connect();
  set_windows();
  see_whether_it_stops();
}

void Graph::add_watermarks() {
  int sources = 0;
  for (int s = 0; s < stages(); ++s) {
    const StageSpec& spec = stage(s);
    first_watermark_.push_back(watermarks());
    const auto tables = static_cast<size_t>(this->tables(s));
    for (size_t table = 0; table < tables; ++table) {
      Watermark watermark;
      watermark.stage = s;
      watermark.task_size = spec.task_size;
      watermark.slots = spec.slots;
      watermark.words = spec.replicas > 1 || spec.words;
      if (spec.epochs) {
        watermark.inputs = {output_watermark(spec.inputs[table])};
      } else {
        for (const int input : spec.inputs) watermark.inputs.push_back(output_watermark(input));
      }
      watermark.index_space =
          watermark.inputs.empty() ? sources++ : this->watermark(watermark.inputs[0]).index_space;
      watermarks_.push_back(watermark);
    }
  }
  must(watermarks() <= kWatermarksMax, scenario_, "too many watermarks");
}

// A zip puts all stages above it into one index space; then index spaces are numbered without gaps.
void Graph::join_index_spaces() {
  for (const Watermark& zip : watermarks_) {
    for (const int input : zip.inputs) {
      const int from = watermark(input).index_space, to = watermark(zip.inputs[0]).index_space;
      for (Watermark& watermark : watermarks_)
        watermark.index_space = watermark.index_space == from ? to : watermark.index_space;
    }
  }
  std::map<int, int> numbers;
  for (Watermark& watermark : watermarks_) {
    watermark.index_space =
        numbers.emplace(watermark.index_space, static_cast<int>(numbers.size())).first->second;
  }
  must(numbers.size() <= kIndexSpacesMax, scenario_, "too many index spaces");
  index_spaces_.resize(numbers.size());
}

void Graph::add_index_spaces() {
  for (int m = 0; m < watermarks(); ++m) {
    const Watermark& watermark = this->watermark(m);
    const StageSpec& spec = stage_of(watermark);
    IndexSpace& index_space = index_spaces_[static_cast<size_t>(watermark.index_space)];
    index_space.lcm = std::lcm(index_space.lcm, spec.task_size);
    if (spec.fixed && !faulty(Fault::kRoundsNotInL)) {
      index_space.lcm = std::lcm(index_space.lcm, spec.task_size * spec.replicas);
    }
    index_space.replicas |= replicas_of(watermark.stage);
    if (watermark.inputs.empty()) index_space.source_marks.push_back(m);
    if (watermark.inputs.empty()) index_space.sources |= replicas_of(watermark.stage);
  }
  for (IndexSpace& index_space : index_spaces_) {
    const StageSpec& source = stage_of(watermark(index_space.source_marks.front()));
    index_space.period = round_up(source.size, index_space.lcm);
    index_space.end = source.stream ? kUnknownEnd : index_space.period * scenario_.epochs;
    const int numbers = index_space.period * scenario_.epochs;
    must(numbers <= kSamplesMax, scenario_, "too many numbers");
    must(scenario_.tallies || source.size == index_space.period, scenario_, "pads need tallies");
  }
}

void Graph::connect() {
  for (int m = 0; m < watermarks(); ++m) {
    for (const int input : watermark(m).inputs)
      watermarks_[static_cast<size_t>(input)].readers.push_back(m);
  }
  for (int m = 0; m < watermarks(); ++m) {
    Watermark& watermark = watermarks_[static_cast<size_t>(m)];
    if (watermark.words) watermark.waits_on.push_back(m);
    for (const int input : watermark.inputs) watermark.waits_on.push_back(input);
    for (const int reader : watermark.readers) watermark.waits_on.push_back(reader);
  }
}

void Graph::set_windows() {
  for (Watermark& watermark : watermarks_) {
    int slots = watermark.slots;
    // kClaimBeforeMemory claims as far ahead as the inputs reach.
    if (watermark.readers.empty() ||
        (faulty(Fault::kClaimBeforeMemory) && !watermark.inputs.empty())) {
      slots = kRingMax * kSamplesMax;
      for (const int input : watermark.inputs)
        slots = std::min(slots, this->watermark(input).slots);
    }
    watermark.window = slots / watermark.task_size;
    must(watermark.window >= 1 && watermark.window <= kRingMax, scenario_, "task table size");
    must(slots % watermark.task_size == 0, scenario_, "M is no multiple of g");
    must(watermark.readers.empty() == (watermark.slots == 0), scenario_,
         "slots and readers do not match");
  }
}

void Graph::see_whether_it_stops() {
  const auto ends_by_stop = [](const StageSpec& stage) {
    return stage.stream && stage.replicas > 1;
  };
  const auto& stages = scenario_.stages;
  stops_ = scenario_.stop || std::any_of(stages.begin(), stages.end(), ends_by_stop);
}

int Graph::tables(int stage) const {
  const StageSpec& spec = this->stage(stage);
  return spec.epochs ? static_cast<int>(spec.inputs.size()) : 1;
}

uint8_t Graph::replicas_of(int stage) const {
  uint8_t bits = 0;
  for (int r = 0; r < replicas(); ++r) {
    if (stage_of_replica(r) == stage) bits |= static_cast<uint8_t>(1 << r);
  }
  return bits;
}

int Graph::number_in_stage(int replica) const {
  int first = replica;
  while (first > 0 && stage_of_replica(first - 1) == stage_of_replica(replica)) --first;
  return replica - first;
}

uint8_t Graph::neighbourhood(int stage) const {
  uint8_t bits = replicas_of(stage);
  for (int table = 0; table < tables(stage); ++table) {
    const Watermark& watermark = this->watermark(first_watermark(stage) + table);
    for (const int input : watermark.inputs) bits |= replicas_of(this->watermark(input).stage);
    for (const int reader : watermark.readers) bits |= replicas_of(this->watermark(reader).stage);
  }
  return bits;
}

uint8_t Graph::index_space_mates(int stage) const {
  uint8_t bits = 0;
  for (int table = 0; table < tables(stage); ++table) {
    bits |= index_space(watermark(first_watermark(stage) + table).index_space).replicas;
  }
  return bits;
}

bool Graph::end_may_change(int index_space) const {
  return stops() || this->index_space(index_space).end == kUnknownEnd;
}

std::string Graph::replica_name(int replica) const {
  const int s = stage_of_replica(replica);
  return std::string(stage(s).name) + "." + std::to_string(number_in_stage(replica));
}

std::string Graph::watermark_name(int watermark) const {
  const int s = this->watermark(watermark).stage;
  std::string name = stage(s).name;
  if (tables(s) > 1) name += "/" + std::to_string(watermark - first_watermark(s));
  return name;
}

}  // namespace brigade::model
