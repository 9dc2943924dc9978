#include <algorithm>

#include <brigade/text.h>
#include "tests/conformance/yaml/random_yaml.h"

namespace brigade::conformance {

/// By weight; nothing else can be zipped with it.
void RandomYaml::weigh_samples(Node& node, std::uint64_t count, Keys& keys) {
  if (caches_ || !node.chosen.empty() || !one_in(4)) return;
  keys.push_back(concat("weights: \"${WEIGHTS_", count, "}\""));
  if (one_in(2)) keys.push_back(concat("samples: ", node.samples = number(1, 150)));
  node.chosen = concat("by weight for ", node.name);
}

/// By a limit that takes them from all over, the first ones, those behind the first, or a part: of
/// `count`, which is made larger for it. Sources that choose alike can be zipped.
void RandomYaml::choose_samples(Node& node, std::uint64_t& count, Keys& keys) {
  if (!one_in(3)) return;
  const std::uint64_t more = one_of({7, 30});
  switch (number(1, 4)) {
    case 1:
      count += more;
      keys = {concat("limit: ", node.samples), concat("seed: ", number(3, 4))};
      break;
    case 2:
      count += more;
      keys = {concat("limit: ", node.samples), "take: first"};
      return;
    case 3:
      count += more;
      keys = {concat("skip: ", more)};
      return;
    default:
      count *= 2;
      keys = {concat("split: {half: 0.5, seed: ", number(3, 4), "}"),
              concat("part: ", one_of({"half", "others"}))};
  }
  node.chosen = concat(join(keys, " "), " of ", count);
}

/// Of two producers that nothing else reads; nothing can be zipped with it.
void RandomYaml::add_mix() {
  Node node;
  node.name = concat("p", nodes_.size());
  node.tensors = {"data"};
  node.group = static_cast<int>(nodes_.size());
  node.samples = number(1, 150);
  node.chosen = concat("mixed for ", node.name);
  const std::string shape = one_of({"[3]", "[4, 2]"});
  for (const char* part : {"a", "b"}) {
    Node own;
    own.name = concat(node.name, part);
    std::uint64_t count = own.samples = number(1, 120);
    Keys choice;
    choose_samples(own, count, choice);
    std::erase_if(choice, [](const std::string& key) { return key.starts_with("seed:"); });
    Keys keys{"producer: synthetic", concat("params: {count: ", count, ", shape: ", shape, "}")};
    keys.insert(keys.end(), choice.begin(), choice.end());
    if (choice.empty() && one_in(3)) keys.push_back(concat("weights: \"${WEIGHTS_", count, "}\""));
    write(own.name, keys);
  }
  Keys keys{concat("mix: {", node.name, "b: ", number(1, 9), ", ", node.name, "a: 1.5}"),
            concat("samples: ", node.samples)};
  if (one_in(2)) keys.emplace_back("shuffle: true");
  dress(node, keys, true);
  write(node.name, keys);
  nodes_.push_back(std::move(node));
}

void RandomYaml::add_producer() {
  if (!caches_ && one_in(8)) return add_mix();
  Node node;
  node.name = concat("p", nodes_.size());
  node.tensors = {"data"};
  node.group = static_cast<int>(nodes_.size());
  node.samples = one_in(3) ? number(1, 120) : common_samples_;
  std::uint64_t count = node.samples;
  Keys choice;
  choose_samples(node, count, choice);
  weigh_samples(node, count, choice);
  const std::string shape = one_of({"[]", "[3]", "[4, 2]", "[9]"});
  std::string params =
      concat("params: {count: ", count, ", shape: ", shape,
             ", dtype: ", one_of({"u8", "i64", "f32"}), ", fill: ", one_of({"index", "random"}));
  if (shape != "[]" && one_in(3)) params += ", vary: true";
  Keys keys{"producer: synthetic", params + "}"};
  keys.insert(keys.end(), choice.begin(), choice.end());
  if (one_in(2)) keys.emplace_back("shuffle: true");
  if (one_in(5) && node.chosen.empty()) keys.push_back(concat("seed: ", number(0, 9)));
  dress(node, keys, true);
  write(node.name, keys);
  nodes_.push_back(std::move(node));
}

}  // namespace brigade::conformance
