#pragma once

// Makes a ValidGraph by hand, for tests of what comes after the YAML:
//
//   GraphBuilder graph("demo");
//   graph.producer("images", {{"image", u8, {28, 28, 1}}});
//   graph.transform("augment", {"images"}, {{"image", u8, {28, 28, 1}}}).batch = 256;
//   graph.consumer("train", {"augment"}).batched = true;
//   plan_graph(graph.build(), limits);
//
// Each stage gets a mark (line = its number, counted from 1) and a type of its own, made by
// "TYPE" = the stage's name + "_type" unless type_of() changes it. The builder owns the types.

#include <deque>
#include <string>
#include <vector>

#include <brigade/check.h>
#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "test") {
    graph_.name = name;
    graph_.files = {name + ".yaml"};
  }

  ValidStage& producer(const std::string& name, Ports outputs) {
    ValidStage& stage = add(name, StageKind::producer, std::move(outputs));
    type_of(name).indexed = true;
    return stage;
  }
  ValidStage& transform(const std::string& name, const std::vector<std::string>& from,
                        Ports outputs, Join join = Join::single) {
    ValidStage& stage = add(name, StageKind::transform, std::move(outputs));
    connect(stage, from, join);
    return stage;
  }
  ValidStage& consumer(const std::string& name, const std::vector<std::string>& from,
                       Join join = Join::single) {
    ValidStage& stage = add(name, StageKind::consumer, {});
    connect(stage, from, join);
    return stage;
  }

  /// References stay valid until the next stage is added.
  ValidStage& stage(const std::string& name) { return graph_.stages[index(name)]; }
  StageType& type_of(const std::string& name) { return types_[index_of(index(name))]; }
  ValidGraph& graph() { return graph_; }

  /// Types are found by position, so this works after any number of stages.
  const ValidGraph& build() {
    for (const StageNumber s : graph_.stages.numbers())
      graph_.stages[s].type = &types_[index_of(s)];
    return graph_;
  }

 private:
  StageNumber index(const std::string& name) const {
    for (const StageNumber s : graph_.stages.numbers())
      if (graph_.stages[s].name == name) return s;
    BRIGADE_CHECK(false, name);
    return -1;
  }

  ValidStage& add(const std::string& name, StageKind kind, Ports outputs) {
    StageType& type = types_.emplace_back();
    type.contract.type = name + "_type";
    type.contract.kind = kind;
    ValidStage& stage = graph_.stages.emplace_back();
    stage.name = name;
    stage.mark = {0, static_cast<int>(graph_.stages.size()), 3};
    stage.kind = kind;
    stage.outputs = std::move(outputs);
    stage.random = name;
    stage.restart.policy = RestartSpec::Policy::never;
    return stage;
  }

  void connect(ValidStage& stage, const std::vector<std::string>& from, Join join) {
    stage.join = join;
    for (const std::string& name : from) {
      ValidSource source;
      source.stage = index(name);
      source.port = name;
      source.tensors = graph_.stages[source.stage].outputs;
      source.mark = stage.mark;
      stage.sources.push_back(std::move(source));
    }
  }

  ValidGraph graph_;
  std::deque<StageType> types_;
};

/// The graph of configs/fashion_mnist.yaml.
inline GraphBuilder fashion_mnist_graph() {
  const TensorType image{"image", u8, {28, 28, 1}};
  const TensorType label{"label", u8, {}};
  GraphBuilder graph("fashion_mnist");
  graph.graph().seed = 7;
  graph.graph().epochs = 5;
  graph.producer("images", {image, label}).shuffle = true;
  ValidStage& augment = graph.transform("augment", {"images"}, {image, label});
  augment.replicas = 2;
  augment.batch = 256;
  augment.on_error = {true, 10, 0};
  augment.passed = {{"label", 0}};
  graph.producer("test_images", {image, label}).batch = 256;
  ValidStage& train = graph.consumer("train", {"augment", "test_images"}, Join::epochs);
  train.sources[0].port = "train";
  train.sources[1].port = "test";
  train.batched = true;
  train.device = "auto";
  return graph;
}

}  // namespace brigade
