#include "tests/conformance/record.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include <brigade/text.h>

namespace brigade::conformance {
namespace {

std::string call_text(const Event& call) {
  return concat("a call of ", call.samples.size(), " samples from ", quote(call.port),
                call.samples.empty() ? "" : concat(" (", call.samples.front(), ")"));
}

std::string call_difference(const Event& expected, const Event& seen) {
  for (std::size_t i = 0; i < std::min(expected.samples.size(), seen.samples.size()); ++i)
    if (expected.samples[i] != seen.samples[i])
      return concat("sample ", i, " of a call: expected\n  ", expected.samples[i], "\nfound\n  ",
                    seen.samples[i]);
  if (expected.samples.size() == seen.samples.size() && expected.port == seen.port) return "";
  return concat("expected ", call_text(expected), ", found ", call_text(seen));
}

class Comparison {
 public:
  Comparison(const Expected& expected, const std::vector<Events>& seen, bool repeats)
      : expected_(expected), seen_(seen), repeats_(repeats) {}

  std::string run() const {
    if (seen_.size() != static_cast<std::size_t>(expected_.replicas))
      return concat("expected ", expected_.replicas, " records, found ", seen_.size());
    for (std::size_t replica = 0; !repeats_ && replica < seen_.size(); ++replica) {
      std::string wrong = order_of(seen_[replica]);
      if (wrong.empty()) wrong = ends_of(seen_[replica]);
      if (!wrong.empty()) return concat("replica ", replica, ": ", wrong);
    }
    if (!expected_.fixed) return compare(wanted(-1), together());
    for (int replica = 0; replica < expected_.replicas; ++replica) {
      const std::string wrong = compare(wanted(replica), sorted_calls(seen_[replica]));
      if (!wrong.empty()) return concat("replica ", replica, ": ", wrong);
    }
    return "";
  }

 private:
  using Key = std::tuple<std::uint64_t, int, std::uint64_t>;

  int queue(const std::string& port) const {
    const auto& ports = expected_.ports;
    return static_cast<int>(std::find(ports.begin(), ports.end(), port) - ports.begin());
  }
  // Under `merge` only the order of each source is promised.
  Key key(const Event& call) const {
    return {expected_.join == Join::merge ? 0 : call.epoch, queue(call.port), call.number};
  }
  Events sorted_calls(const Events& events) const {
    Events all = calls(events);
    if (expected_.join == Join::merge || repeats_) sort(all);
    return all;
  }
  static Events calls(const Events& events) {
    Events calls;
    for (const Event& event : events)
      if (event.kind == Event::Kind::call) calls.push_back(event);
    return calls;
  }

  std::string order_of(const Events& events) const {
    std::map<int, Key> last;
    for (const Event& call : calls(events)) {
      if (call.samples.empty()) continue;
      const int fused = expected_.join == Join::merge ? queue(call.port) : 0;
      const auto [before, first] = last.emplace(fused, key(call));
      if (!first && key(call) <= before->second) return concat("out of order: ", call_text(call));
      before->second = key(call);
    }
    return "";
  }

  std::string ends_of(const Events& events) const {
    std::map<std::string, std::uint32_t> ended;
    for (const Event& event : events) {
      std::uint32_t& ends = ended[event.port];
      if (event.kind == Event::Kind::epoch_end) {
        if (event.epoch != ends++)
          return concat("end of epoch ", event.epoch, " of ", quote(event.port), " out of turn");
      } else if (!event.samples.empty()) {
        const bool strict = expected_.replicas == 1 && expected_.join != Join::merge;
        if (event.epoch < ends || (strict && event.epoch > ends))
          return concat(ends, " ends of epochs of ", quote(event.port), " before ",
                        call_text(event));
      }
    }
    for (std::size_t i = 0; i < expected_.ports.size(); ++i) {
      const std::uint32_t epochs = i < expected_.ends.size() ? expected_.ends[i] : expected_.epochs;
      const std::string& port = expected_.ports[i];
      if (ended[port] != epochs)
        return concat(ended[port], " ends of epochs of ", quote(port), ", expected ", epochs);
    }
    return ended.size() == expected_.ports.size() ? "" : "a port that nobody named";
  }

  Events wanted(int replica) const {
    Events events;
    for (const Expected::Call& call : expected_.calls)
      if (replica < 0 || call.replica == replica) events.push_back(call.event);
    if (expected_.join == Join::merge || repeats_) sort(events);
    return events;
  }

  Events together() const {
    Events all;
    for (const Events& events : seen_)
      for (Event& call : calls(events)) all.push_back(std::move(call));
    sort(all);
    return all;
  }

  void sort(Events& events) const {
    std::stable_sort(events.begin(), events.end(),
                     [&](const Event& a, const Event& b) { return key(a) < key(b); });
    if (!repeats_) return;
    std::erase_if(events, [](const Event& call) { return call.samples.empty(); });  // no number
    const auto again = [&](const Event& a, const Event& b) {
      return key(a) == key(b) && a.samples == b.samples;
    };
    events.erase(std::unique(events.begin(), events.end(), again), events.end());
  }

  static std::string compare(const Events& expected, const Events& seen) {
    for (std::size_t i = 0; i < std::min(expected.size(), seen.size()); ++i) {
      const std::string wrong = call_difference(expected[i], seen[i]);
      if (!wrong.empty()) return concat("call ", i, ": ", wrong);
    }
    if (expected.size() == seen.size()) return "";
    const bool more = seen.size() > expected.size();
    const std::size_t at = std::min(expected.size(), seen.size());
    return concat("expected ", expected.size(), " calls, found ", seen.size(), "; ",
                  more ? "not expected: " : "missing: ", call_text(more ? seen[at] : expected[at]));
  }

  const Expected& expected_;
  const std::vector<Events>& seen_;
  const bool repeats_;
};

// An event without its last line, "whole", was cut short by the death of its writer, and is none.
Events read_record(const std::string& path) {
  std::ifstream file(path);
  Events events;
  Event event;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first == "whole") {
      events.push_back(std::exchange(event, {}));
    } else if (first == "number") {
      if (event.samples.empty()) {
        event.number = std::stoull(second);
        words >> second >> event.epoch;
      }
      event.samples.push_back(line);
    } else if (first == "call" || first == "end") {
      event = {};
      event.kind = first == "end" ? Event::Kind::epoch_end : Event::Kind::call;
      event.port = second;
      words >> event.epoch;
    }
  }
  return events;
}

}  // namespace

std::uint64_t Expected::samples() const {
  std::uint64_t sum = 0;
  for (const Call& call : calls) sum += call.event.samples.size();
  return sum;
}

void forget_numbers(Event& event) {
  for (std::string& sample : event.samples) sample = sample.substr(sample.find(" epoch "));
  if (event.samples.empty()) return;
  const std::string& first = event.samples.front();
  event.number = std::stoull(first.substr(first.find(" index ") + 7));
}

std::vector<Events> read_records(const std::string& folder, const std::string& stage,
                                 int replicas) {
  std::vector<Events> records;
  for (int replica = 0; replica < replicas; ++replica)
    records.push_back(read_record(concat(folder, '/', stage, '.', replica)));
  return records;
}

std::string difference(const Expected& expected, const std::vector<Events>& seen, bool repeats) {
  const std::string wrong = Comparison(expected, seen, repeats).run();
  return wrong.empty() ? "" : concat("consumer ", quote(expected.stage), ": ", wrong);
}

}  // namespace brigade::conformance
