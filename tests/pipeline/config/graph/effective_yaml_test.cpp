#include "pipeline/config/graph/effective_yaml.h"

#include <gtest/gtest.h>

#include <set>

#include <brigade/text.h>
#include "stages/builtin.h"
#include "tests/support/config/default_keys.h"
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

const char* const kGraphOfAProgram = R"(
stages:
  numbers: {producer: synthetic, params: {count: 4, shape: [2]}, batch: 2}
  program: {consumer: application, from: numbers}
)";

std::string effective_yaml_of(const std::string& graph, const StageTypes& types) {
  LoadText load;
  load.types = &types;
  const auto loaded = load(graph);
  EXPECT_TRUE(loaded.graph) << loaded.messages();
  return loaded.graph ? effective_yaml(*loaded.graph) : "";
}

TEST(EffectiveYaml, ShowsWhatIsGiven) {
  expect_golden("effective.yaml",
                without_default_keys(effective_yaml_of(kGraph, fake_stage_types())));
}

TEST(EffectiveYaml, ShowsEveryDefault) {
  const std::string text = concat(effective_yaml_of(kGraph, fake_stage_types()),
                                  effective_yaml_of(kGraphOfAProgram, builtin_stage_types()));
  const std::set<std::string_view> only_if_given = {"assign", "memory", "pin"};
  std::size_t shown = 0;
  for (const KeySpec& key : key_table()) {
    const std::string entry = key.scope == KeyScope::stage ? default_entry(key) : "";
    if (entry.empty()) continue;
    const bool shows = text.find(concat("\n    ", entry, "\n")) != text.npos;
    EXPECT_EQ(shows, !only_if_given.contains(key.name)) << entry << "\n" << text;
    shown += shows ? 1 : 0;
  }
  EXPECT_GE(shown, 10u);
}

}  // namespace
}  // namespace brigade
