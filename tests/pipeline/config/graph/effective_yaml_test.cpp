#include "pipeline/config/graph/effective_yaml.h"

#include <gtest/gtest.h>

#include "tests/support/config/load_text.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

const char* const kGraph = R"(
name: "all $$ keys"
seed: 7
epochs: 3
memory: 64MiB
checkpoint: {file: best.pt, every: 90s}
vars: {data: /data}
stages:
  images:
    producer: idx_images
    shuffle: true
    seed: 9
    limit: 100
    params: {images: "${data}/train-images.gz", labels: "${data}/train-labels.gz"}
  augment:
    transform: augment_image
    from: {only: images}
    replicas: auto
    params: {pad: 2, crop: 28, flip: 0.5}
    batch: 256
    on_error: {skip: 0.3%}
    cpus: 0-1
    env: {OMP_NUM_THREADS: 1, NOTE: "a$$b"}
    random: shared
  test_images:
    producer: idx_images
    params: {images: /data/test-images.gz, labels: /data/test-labels.gz}
  both:
    transform: passthrough
    from: {left: augment, right: test_images.image}
    join: zip
    drop: [left.image]
    stall_timeout: 90s
  count: {consumer: count, from: both, drop_last: false, chunk: 32}
  train:
    consumer: torch_classifier
    from: {stage: augment, batch: 128}
    drop_last: true
    device: auto
    params: {lr: 0.05, patience: 1.5s, cache: 1MiB}
)";

TEST(EffectiveYaml, ShowsEveryDefault) {
  const auto loaded = LoadText()(kGraph);
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  expect_golden("effective.yaml", effective_yaml(*loaded.graph));
}

TEST(EffectiveYaml, LoadingItGivesTheSameGraph) {
  const auto loaded = LoadText()(kGraph);
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const std::string text = effective_yaml(*loaded.graph);
  const auto again = LoadText()(text);
  ASSERT_TRUE(again.graph) << again.messages() << text;
  EXPECT_EQ(effective_yaml(*again.graph), text);
  ASSERT_EQ(again.graph->stages.size(), loaded.graph->stages.size());
  for (const StageNumber i : again.graph->stages.numbers()) {
    const ValidStage& a = loaded.graph->stages[i];
    const ValidStage& b = again.graph->stages[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.outputs, b.outputs);
    EXPECT_EQ(a.param_values, b.param_values);
    EXPECT_EQ(a.batched, b.batched);
    EXPECT_EQ(a.restart.policy, b.restart.policy);
    EXPECT_EQ(a.on_error.percent_max, b.on_error.percent_max);
    EXPECT_EQ(a.env, b.env);
    ASSERT_EQ(a.passed.size(), b.passed.size());
    ASSERT_EQ(a.sources.size(), b.sources.size());
    for (std::size_t k = 0; k < a.sources.size(); ++k) {
      EXPECT_EQ(a.sources[k].batch, b.sources[k].batch);
      EXPECT_EQ(a.sources[k].port, b.sources[k].port);
      EXPECT_EQ(a.sources[k].tensor, b.sources[k].tensor);
    }
  }
}

TEST(EffectiveYaml, OfAnApplicationHasNoKeysOfProcesses) {
  const auto loaded = LoadText()(
      "stages:\n  tasks: {producer: application, tensors: {x: {dtype: f32, shape: [<=4, 3]}}}\n"
      "  end: {consumer: count, from: tasks}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const std::string text = effective_yaml(*loaded.graph);
  const auto again = LoadText()(text);
  ASSERT_TRUE(again.graph) << again.messages();
  EXPECT_EQ(effective_yaml(*again.graph), text);
  EXPECT_EQ(again.graph->stages[0].outputs, loaded.graph->stages[0].outputs);
}

}  // namespace
}  // namespace brigade
