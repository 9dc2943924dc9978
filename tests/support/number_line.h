#pragma once

// numbers (a source of integers) -> mix (arithmetic and a random draw per sample; may drop) -> sink
// (logs), and the same computed by a plain loop without stages, slots or threads.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/random.h>
#include <brigade/text.h>
#include "pipeline/records/sampler.h"
#include "tests/support/fake_stages.h"
#include "tests/support/run_line.h"

namespace brigade::support {

inline const TensorType kValue{"value", i64, {}};

struct NumberLine {
  std::uint64_t samples = 150;
  std::uint64_t epochs = 2;
  std::uint64_t batch = 0;  ///< of the sink; 0: it takes samples
  std::uint64_t slots = 0;  ///< task of `mix`; 0: auto
  std::uint64_t mixers = 1;
  std::uint64_t sinks = 1;
  bool batched_mix = false;
  bool drops = false;
  bool drop_last = false;
  bool shuffle = true;
  std::uint64_t seed = 7;

  std::string text() const {
    return concat("samples ", samples, " epochs ", epochs, " batch ", batch, " slots ", slots,
                  " mixers ", mixers, " sinks ", sinks, " batched_mix ", batched_mix, " drops ",
                  drops, " drop_last ", drop_last);
  }
};

inline bool is_dropped(std::uint64_t id) { return id % 5 == 2; }

inline std::unique_ptr<Producer> make_numbers(std::uint64_t count) {
  return std::make_unique<LambdaProducer>(
      count, [](std::uint64_t index, Outputs& out) -> Result<Next> {
        out["value"].as<std::int64_t>()[0] = static_cast<std::int64_t>(index);
        return Next::emit;
      });
}

inline std::int64_t mixed(std::int64_t value, Philox random) {
  return value * 1000 + static_cast<std::int64_t>(random.below(1000));
}

/// Per sample.
inline std::unique_ptr<Stage> make_mix(bool drops) {
  return std::make_unique<LambdaStage>([drops](const Inputs& in, Outputs& out) -> Result<Next> {
    if (drops && is_dropped(in.info().id)) return Next::drop;
    out["value"].as<std::int64_t>()[0] = mixed(in["value"].as<std::int64_t>()[0], in.random());
    return Next::emit;
  });
}

/// Per batch; cannot drop single samples.
inline std::unique_ptr<Stage> make_batched_mix() {
  return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
    const auto from = in["value"].as<std::int64_t>();
    const auto to = out["value"].as<std::int64_t>();
    BRIGADE_CHECK(from.size() == to.size() && in.samples() == out.samples(), from.size(),
                  to.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = mixed(from[i], in.random(static_cast<std::int64_t>(i)));
    return Next::emit;
  });
}

/// numbers -> filter (per sample, where it drops) -> mix -> sink.
inline GraphBuilder number_graph(const NumberLine& line) {
  GraphBuilder graph;
  graph.graph().seed = line.seed;
  graph.graph().epochs = line.epochs;
  ValidStage& numbers = graph.producer("numbers", {kValue});
  numbers.shuffle = line.shuffle;
  std::string last = "numbers";
  if (line.batched_mix && line.drops) {
    graph.transform("filter", {"numbers"}, {kValue});
    graph.type_of("filter").contract.may_drop = true;
    last = "filter";
  }
  ValidStage& mix = graph.transform("mix", {last}, {kValue});
  graph.type_of("mix").contract.may_drop = line.drops && !line.batched_mix;
  mix.replicas = line.mixers;
  mix.chunk = line.slots;
  mix.batched = line.batched_mix;
  if (line.batched_mix) mix.sources[0].batch = line.batch;
  ValidStage& sink = graph.consumer("sink", {"mix"});
  sink.replicas = line.sinks;
  sink.batched = line.batch > 0;
  sink.sources[0].batch = line.batch;
  sink.drop_last = line.drop_last;
  return graph;
}

inline void fill_number_line(RunLine& run, const NumberLine& line, Log& log) {
  run.producers["numbers"] = [=](int) { return make_numbers(line.samples); };
  run.stages["filter"] = [](int) {
    return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
      if (is_dropped(in.info().id)) return Next::drop;
      out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
      return Next::emit;
    });
  };
  run.stages["mix"] = [=](int) {
    return line.batched_mix ? make_batched_mix() : make_mix(line.drops);
  };
  run.stages["sink"] = [&log](int replica) { return make_logger(log, replica); };
}

/// A number line, and what its sink sees.
struct LoggedLine : RunLine {
  explicit LoggedLine(const NumberLine& line) : LoggedLine(line, number_graph(line)) {}
  LoggedLine(const NumberLine& line, GraphBuilder graph)
      : RunLine(std::move(graph)), log(static_cast<int>(line.sinks)) {
    fill_number_line(*this, line, log);
  }
  Log log;
};

/// What the sink must see, call by call. `period`: P, from the plan.
inline std::vector<Event> expected_calls(const NumberLine& line, std::uint64_t period) {
  std::vector<Event> calls;
  const std::uint64_t batch = line.batch > 0 ? line.batch : 1;
  for (std::uint32_t epoch = 0; epoch < line.epochs; ++epoch) {
    const Permutation order(line.samples, line.seed, epoch);
    for (std::uint64_t first = 0; first < period; first += batch) {
      Event call;
      call.epoch = epoch;
      for (std::uint64_t index = first; index < std::min(first + batch, line.samples); ++index) {
        const std::uint64_t id = line.shuffle ? order(index) : index;
        if (line.drops && is_dropped(id)) continue;
        call.samples.push_back({epoch * period + index, index, id, epoch});
        call.values.push_back(
            mixed(static_cast<std::int64_t>(id), Philox(line.seed, stream_id("mix"), epoch, id)));
      }
      if (!call.samples.empty()) calls.push_back(std::move(call));
    }
  }
  return calls;
}

inline void expect_same_calls(const std::vector<Event>& seen, const std::vector<Event>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t c = 0; c < seen.size(); ++c) {
    ASSERT_EQ(seen[c].values, expected[c].values) << "call " << c;
    ASSERT_EQ(seen[c].samples.size(), expected[c].samples.size());
    for (std::size_t slot = 0; slot < seen[c].samples.size(); ++slot) {
      const SampleInfo& a = seen[c].samples[slot];
      const SampleInfo& b = expected[c].samples[slot];
      ASSERT_EQ(a.number, b.number) << "call " << c << " slot " << slot;
      ASSERT_EQ(a.index, b.index);
      ASSERT_EQ(a.id, b.id);
      ASSERT_EQ(a.epoch, b.epoch);
    }
  }
}

}  // namespace brigade::support
