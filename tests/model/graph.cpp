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
  add_marks();
  join_domains();
  add_domains();
  connect();
  set_windows();
  set_starts();
  see_whether_it_stops();
}

void Graph::add_marks() {
  int sources = 0;
  for (int s = 0; s < stages(); ++s) {
    const StageSpec& spec = stage(s);
    first_mark_.push_back(marks());
    if (spec.free) free_stage_ = s;
    const auto tables = static_cast<size_t>(this->tables(s));
    for (size_t table = 0; table < tables; ++table) {
      Mark mark;
      mark.stage = s;
      mark.task_size = spec.task_size;
      const bool input_lane = spec.free && table + 1 < tables;
      mark.rows = input_lane ? 0 : spec.rows;
      mark.words = spec.replicas > 1 || spec.words;
      if (spec.epochs || input_lane) {
        mark.inputs = {output_mark(spec.inputs[table])};
      } else if (!spec.free) {
        for (const int input : spec.inputs) mark.inputs.push_back(output_mark(input));
      }
      mark.domain = mark.inputs.empty() ? sources++ : this->mark(mark.inputs[0]).domain;
      marks_.push_back(mark);
    }
  }
  must(marks() <= kMarksMax, scenario_, "too many marks");
}

// A zip puts all stages above it into one domain; then domains are numbered without gaps.
void Graph::join_domains() {
  for (const Mark& zip : marks_) {
    for (const int input : zip.inputs) {
      const int from = mark(input).domain, to = mark(zip.inputs[0]).domain;
      for (Mark& mark : marks_) mark.domain = mark.domain == from ? to : mark.domain;
    }
  }
  std::map<int, int> numbers;
  for (Mark& mark : marks_) {
    mark.domain = numbers.emplace(mark.domain, static_cast<int>(numbers.size())).first->second;
  }
  must(numbers.size() <= kDomainsMax, scenario_, "too many domains");
  domains_.resize(numbers.size());
}

void Graph::add_domains() {
  for (int m = 0; m < marks(); ++m) {
    const Mark& mark = this->mark(m);
    const StageSpec& spec = stage_of(mark);
    Domain& domain = domains_[static_cast<size_t>(mark.domain)];
    domain.lcm = std::lcm(domain.lcm, spec.task_size);
    if (spec.fixed && !faulty(Fault::kRoundsNotInL)) {
      domain.lcm = std::lcm(domain.lcm, spec.task_size * spec.replicas);
    }
    domain.replicas |= replicas_of(mark.stage);
    if (mark.inputs.empty()) domain.source_marks.push_back(m);
    if (mark.inputs.empty()) domain.sources |= replicas_of(mark.stage);
    if (mark.inputs.empty() && spec.free) domain.of_free = true;
  }
  for (Domain& domain : domains_) {
    const StageSpec& source = stage_of(mark(domain.source_marks.front()));
    domain.period = round_up(source.size, domain.lcm);
    const bool unknown = source.stream || source.free;
    domain.end = unknown ? kUnknownEnd : domain.period * scenario_.epochs;
    const int numbers = domain.period * scenario_.epochs;
    must(numbers <= kSamplesMax, scenario_, "too many numbers");
    must(scenario_.tallies || source.size == domain.period, scenario_, "pads need tallies");
  }
}

void Graph::connect() {
  for (int m = 0; m < marks(); ++m) {
    for (const int input : mark(m).inputs) marks_[static_cast<size_t>(input)].readers.push_back(m);
  }
  for (int m = 0; m < marks(); ++m) {
    Mark& mark = marks_[static_cast<size_t>(m)];
    if (mark.words) mark.waits_on.push_back(m);
    for (const int input : mark.inputs) mark.waits_on.push_back(input);
    for (const int reader : mark.readers) mark.waits_on.push_back(reader);
    if (!is_lane_of_free(m) || mark.rows == 0) continue;
    for (const int input : stage_of(mark).inputs) mark.waits_on.push_back(output_mark(input));
  }
}

void Graph::set_windows() {
  for (Mark& mark : marks_) {
    int rows = mark.rows;
    // kClaimBeforeMemory claims as far ahead as the inputs reach.
    if (mark.readers.empty() || (faulty(Fault::kClaimBeforeMemory) && !mark.inputs.empty())) {
      rows = kRingMax * kSamplesMax;
      for (const int input : mark.inputs) rows = std::min(rows, this->mark(input).rows);
    }
    mark.window = rows / mark.task_size;
    must(mark.window >= 1 && mark.window <= kRingMax, scenario_, "task table size");
    must(rows % mark.task_size == 0, scenario_, "M is no multiple of g");
    must(mark.readers.empty() == (mark.rows == 0), scenario_, "rows and readers do not match");
  }
}

// Consumers start at their positions; every other stage at the minimum over what reads it, rounded
// down to its task size.
void Graph::set_starts() {
  for (int m = marks() - 1; m >= 0; --m) {
    Mark& mark = marks_[static_cast<size_t>(m)];
    mark.start = stage_of(mark).start;
    if (mark.readers.empty()) continue;
    int lowest = kSamplesMax, highest = 0;
    for (const int reader : mark.readers) {
      lowest = std::min(lowest, this->mark(reader).start);
      highest = std::max(highest, this->mark(reader).start);
    }
    mark.start = faulty(Fault::kResumeAtLastConsumer) ? highest : lowest;
    if (!faulty(Fault::kResumeNotRounded)) mark.start -= mark.start % mark.task_size;
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
  const int inputs = static_cast<int>(spec.inputs.size());
  if (spec.free) return inputs + 1;
  return spec.epochs ? inputs : 1;
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
    const Mark& mark = this->mark(first_mark(stage) + table);
    for (const int input : mark.inputs) bits |= replicas_of(this->mark(input).stage);
    for (const int reader : mark.readers) bits |= replicas_of(this->mark(reader).stage);
  }
  return bits;
}

uint8_t Graph::domain_mates(int stage) const {
  uint8_t bits = 0;
  for (int table = 0; table < tables(stage); ++table) {
    bits |= domain(mark(first_mark(stage) + table).domain).replicas;
  }
  return bits;
}

bool Graph::end_may_change(int domain) const {
  return stops() || this->domain(domain).end == kUnknownEnd;
}

std::string Graph::replica_name(int replica) const {
  const int s = stage_of_replica(replica);
  return std::string(stage(s).name) + "." + std::to_string(number_in_stage(replica));
}

std::string Graph::mark_name(int mark) const {
  const int s = this->mark(mark).stage;
  std::string name = stage(s).name;
  if (tables(s) > 1) name += "/" + std::to_string(mark - first_mark(s));
  return name;
}

}  // namespace brigade::model
