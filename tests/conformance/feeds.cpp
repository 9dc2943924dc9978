#include "tests/conformance/feeds.h"

#include <algorithm>
#include <random>
#include <string_view>

#include <brigade/text.h>
#include "base/clock.h"
#include "tests/conformance/on_threads.h"
#include "tests/conformance/plain/plain_stages.h"
#include "tests/conformance/sample_functions.h"
#include "tests/conformance/test_stages.h"

namespace brigade::conformance {
namespace {

constexpr std::uint64_t kShorter = 13;     // samples, of a second epoch
constexpr std::uint64_t kLetGoEvery = 11;  // samples
constexpr std::int64_t kMomentNs = 300'000;

/// From the brace at `begin` behind the one that closes it.
std::size_t end_of_map(const std::string& text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  BRIGADE_CHECK(false, "a brace is open", text);
  return 0;
}

std::string tensors_text(const Ports& ports) {
  std::string text;
  for (const TensorType& tensor : ports.tensors) {
    std::string shape;
    for (const Dim& dim : tensor.shape)
      shape +=
          concat(shape.empty() ? "" : ", ", dim.kind == Dim::Kind::up_to ? "<=" : "", dim.size);
    text += concat(text.empty() ? "" : ", ", tensor.name, ": {dtype: ", dtype_name(tensor.dtype),
                   ", shape: [", shape, "]}");
  }
  return concat("tensors: {", text, "}");
}

/// "key: N", with a comma in front; empty: it is not there.
std::string number_of(const std::string& map, const std::string& key) {
  const std::size_t at = map.find(concat(' ', key, ": "));
  if (at == map.npos) return "";
  return concat(",", map.substr(at, map.find_first_of(",}", at) - at));
}

std::uint64_t epoch_size(const ValidGraph& graph, const ValidStage& producer, std::uint32_t epoch) {
  std::uint64_t size = 0;
  if (producer.type->contract.type == "drip") {
    size = drip_count(param<std::vector<std::int64_t>>(producer, "counts"), epoch);
  } else {
    size = param<std::uint64_t>(producer, "count");
  }
  return graph.epochs == 2 && epoch == 1 && size > 2 * kShorter ? size - kShorter : size;
}

PlainTensors sample_of(const ValidGraph& graph, const ValidStage& producer, std::uint32_t epoch,
                       std::uint64_t index) {
  if (producer.type->contract.type == "drip") return drop_of(epoch, index);
  return {{"data", synthetic(producer, graph.seed + epoch, index)}};
}

}  // namespace

std::vector<std::string> producers_of(const ValidGraph& graph) {
  std::vector<std::string> names;
  for (const ValidStage& stage : graph.stages)
    if (stage.kind == StageKind::producer && stage.parts.empty()) names.push_back(stage.name);
  return names;
}

std::string with_inputs(std::string yaml, const ValidGraph& graph,
                        const std::set<std::string>& inputs) {
  for (const std::string_view words : {"drop_last: true,", "drop_last: true"})
    for (std::size_t at = 0; (at = yaml.find(words)) != yaml.npos;) yaml.erase(at, words.size());
  for (const ValidStage& stage : graph.stages) {
    if (!inputs.contains(stage.name)) continue;
    const std::size_t begin = yaml.find(concat("\n  ", stage.name, ": {producer: "));
    BRIGADE_CHECK(begin != yaml.npos, "producer", stage.name);
    const std::size_t from = yaml.find('{', begin);
    const std::size_t size = end_of_map(yaml, from) - from;
    const std::string before = yaml.substr(from, size);
    yaml.replace(from, size,
                 concat("{producer: application, ", tensors_text(stage.outputs),
                        number_of(before, "batch"), number_of(before, "chunk"), "}"));
  }
  return yaml;
}

Feeds feeds_of(const ValidGraph& graph, const std::set<std::string>& inputs) {
  Feeds feeds;
  for (const ValidStage& stage : graph.stages) {
    if (!inputs.contains(stage.name)) continue;
    Feed& feed = feeds[stage.name];
    for (std::uint32_t epoch = 0; epoch < graph.epochs; ++epoch) {
      auto& samples = feed.emplace_back(epoch_size(graph, stage, epoch));
      for (std::uint64_t index = 0; index < samples.size(); ++index)
        if (index % kLetGoEvery != 4) samples[index] = sample_of(graph, stage, epoch, index);
    }
  }
  return feeds;
}

namespace {

struct Given {
  Slot slot;
  const PlainTensors* tensors;
};

/// Written, and given; the run says itself when it takes no more.
void give(Given& given) {
  Outputs outputs = given.slot.record();
  if (write_slot(*given.tensors, outputs, 0)) static_cast<void>(given.slot.submit());
}

/// The next slot, by each of the ways to ask for one; nothing: the run takes no more.
std::optional<Slot> next_slot(InputQueue& input, std::mt19937_64& random) {
  while (!input.ended()) {
    const std::int64_t until[] = {0, monotonic_ns() + kMomentNs, InputQueue::kForEver};
    // An error: slots are held, by threads that have not run for a second; a hang is seen.
    auto slot = input.acquire(until[random() % 3], {__FILE__, __LINE__});
    if (slot.ok() && *slot) return std::move(*slot);
  }
  return std::nullopt;
}

}  // namespace

void give_all(InputQueue& input, const Feed& feed, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  OnThreads<Given> submits(seed, give);
  for (std::size_t epoch = 0; epoch < feed.size(); ++epoch) {
    for (const auto& sample : feed[epoch]) {
      std::optional<Slot> slot = next_slot(input, random);
      if (!slot) return;
      if (!sample) continue;
      Given given{std::move(*slot), &*sample};
      if (random() % 4 == 0) {
        give(given);
      } else {
        submits.add(std::move(given));
      }
    }
    const bool last = epoch + 1 == feed.size();
    static_cast<void>(last && random() % 2 == 0 ? input.close() : input.end_epoch());
  }
}

}  // namespace brigade::conformance
