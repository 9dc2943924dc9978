#include "pipeline/config/graph/effective_yaml.h"

#include <gtest/gtest.h>

#include <set>

#include <brigade/text.h>
#include "pipeline/config/language/key_text.h"
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

std::string effective_yaml_of(const std::string& graph) {
  const auto loaded = LoadText()(graph);
  EXPECT_TRUE(loaded.graph) << loaded.messages();
  return loaded.graph ? effective_yaml(*loaded.graph) : "";
}

/// Of a stage's key that is not given; empty where the table has its default in words.
std::string default_line(const KeySpec& key) {
  const bool in_words = !key.default_text.empty() || key_default(key).empty();
  return in_words ? "" : concat("    ", key.name, ": ", key_default(key));
}

/// Without the lines that default_line() has for some key: a golden file that a new key leaves as
/// it is.
std::string without_defaults(const std::string& text) {
  std::set<std::string> defaults;
  for (const KeySpec& key : key_table())
    if (key.scope == KeyScope::stage) defaults.insert(default_line(key));
  std::string rest;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty() && !defaults.contains(std::string(line))) rest += concat(line, "\n");
  return rest;
}

TEST(EffectiveYaml, ShowsWhatIsGiven) {
  expect_golden("effective.yaml", without_defaults(effective_yaml_of(kGraph)));
}

TEST(EffectiveYaml, ShowsEveryDefault) {
  const std::string text = concat(effective_yaml_of(kGraph),
                                  effective_yaml_of(with_stages("  app: {consumer: application, "
                                                                "from: images}\n")));
  const std::set<std::string_view> only_if_given = {"assign", "memory", "pin"};
  std::size_t shown = 0;
  for (const KeySpec& key : key_table()) {
    const std::string line = key.scope == KeyScope::stage ? default_line(key) : "";
    if (line.empty()) continue;
    const bool shows = text.find(concat("\n", line, "\n")) != text.npos;
    EXPECT_EQ(shows, !only_if_given.contains(key.name)) << line << "\n" << text;
    shown += shows ? 1 : 0;
  }
  EXPECT_GE(shown, 10u);
}

}  // namespace
}  // namespace brigade
