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

}  // namespace
}  // namespace brigade
