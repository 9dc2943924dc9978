#pragma once

// Random graphs that validate() could have made, for tests that must hold for every plan.

#include <algorithm>
#include <random>

#include "tests/support/graph_builder.h"

namespace brigade {

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : random_(seed) {}

  /// One to three producers, up to five transforms, and consumers for whatever nobody reads.
  GraphBuilder make() {
    GraphBuilder graph("random");
    std::vector<std::string> names;
    const auto producers = number(1, 3);
    const auto transforms = number(0, 5);
    for (std::uint64_t i = 0; i < producers + transforms; ++i) {
      names.push_back("s" + std::to_string(i));
      if (i < producers) {
        dress(graph.producer(names.back(), outputs()));
      } else {
        const std::vector<std::string> from = sources(names, i);
        ValidStage& stage = graph.transform(names.back(), from, outputs(),
                                            from.size() > 1 ? Join::zip : Join::single);
        dress(stage);
      }
    }
    add_consumers(graph, names);
    return graph;
  }

  std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
  }

 private:
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[number(0, values.size() - 1)];
  }

  Ports outputs() {
    Ports ports;
    const auto count = number(1, 3);
    for (std::uint64_t i = 0; i < count; ++i)
      ports.tensors.push_back({"t" + std::to_string(i),
                               one_of({u8, i64, f32}),
                               {Dim(one_of<std::int64_t>({1, 7, 784, 5000, 150528}))}});
    return ports;
  }

  std::vector<std::string> sources(const std::vector<std::string>& names, std::uint64_t count) {
    std::vector<std::string> from = {names[number(0, count - 1)]};
    if (number(0, 3) == 0) from.push_back(names[number(0, count - 1)]);
    if (from.size() == 2 && from[0] == from[1]) from.pop_back();
    return from;
  }

  /// Batches come from one family, so that most graphs can be planned.
  void dress(ValidStage& stage) {
    stage.replicas = number(0, 4);
    stage.batch = one_of<std::uint64_t>({0, 16, 64, 256, 250});
    stage.chunk = one_of<std::uint64_t>({0, 0, 0, 1, 10, 48});
    stage.buffers = one_of<std::uint64_t>({0, 0, 0, 1, 5, 50});
    if (number(0, 4) == 0) stage.on_error = {true, number(0, 100), 0};
    if (stage.kind == StageKind::producer) return;
    const bool all_have_batch = std::all_of(stage.sources.begin(), stage.sources.end(),
                                            [](const ValidSource& s) { return s.batch; });
    stage.batched = number(0, 1) == 1 && all_have_batch;
  }

  void add_consumers(GraphBuilder& graph, const std::vector<std::string>& names) {
    std::vector<std::string> open;
    for (const std::string& name : names) {
      bool read = false;
      for (const ValidStage& stage : graph.graph().stages)
        for (const ValidSource& source : stage.sources)
          read |= graph.graph().stages[source.stage].name == name;
      if (!read || number(0, 4) == 0) open.push_back(name);
    }
    const bool together = open.size() > 1 && number(0, 2) == 0;
    if (together) {
      consume(graph, "end", open, one_of({Join::zip, Join::merge, Join::epochs}));
      return;
    }
    for (const std::string& name : open) consume(graph, "end_" + name, {name}, Join::single);
  }

  void consume(GraphBuilder& graph, const std::string& name, const std::vector<std::string>& from,
               Join join) {
    ValidStage& stage = graph.consumer(name, from, join);
    stage.batched = number(0, 1) == 1;
    stage.replicas = number(1, 2);
    const auto batch = one_of<std::uint64_t>({16, 64, 256});
    for (ValidSource& source : stage.sources) source.batch = batch;
  }

  std::mt19937_64 random_;
};

}  // namespace brigade
