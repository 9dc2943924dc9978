#include "tests/conformance/yaml/random_yaml.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade::conformance {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string RandomYaml::text() {
  text_ = concat("seed: ", number(0, 1000), "\nepochs: ", number(1, 3), "\nstages:\n");
  caches_ = one_in(2);
  common_samples_ = one_of<std::uint64_t>({1, 5, 37, 64, 100});
  for (std::uint64_t left = number(1, 3); left > 0; --left) add_producer();
  for (std::uint64_t left = number(0, 6); left > 0; --left) add_transform();
  add_consumers();
  return text_;
}

// From one family, so that epochs are not padded too far.
std::string RandomYaml::batch_size() {
  return std::to_string(one_in(10) ? one_of({7, 64}) : one_of({1, 2, 3, 4, 6, 8, 12}));
}

void RandomYaml::write(const std::string& name, const Keys& keys) {
  text_ += concat("  ", name, ": {", join(keys, ", "), "}\n");
}

int RandomYaml::group_of(std::size_t node) {
  auto group = static_cast<int>(node);
  while (nodes_[static_cast<std::size_t>(group)].group != group)
    group = nodes_[static_cast<std::size_t>(group)].group;
  return group;
}

/// Below a repack nobody knows which round is the last.
bool RandomYaml::may_be_fixed(const Keys& keys) const {
  return !renumbers_ || !has(keys, "drop_last: true");
}

/// Can be zipped.
bool RandomYaml::numbered_alike(std::size_t a, std::size_t b) const {
  return nodes_[a].samples == nodes_[b].samples && nodes_[a].fan_out == nodes_[b].fan_out &&
         nodes_[a].anew == nodes_[b].anew && nodes_[a].chosen == nodes_[b].chosen;
}

void RandomYaml::unite(std::size_t a, std::size_t b) {
  const int first = group_of(a);
  const int second = group_of(b);
  nodes_[static_cast<std::size_t>(std::max(first, second))].group = std::min(first, second);
}

void RandomYaml::add_transform() {
  Node node;
  node.name = concat("t", nodes_.size());
  node.group = static_cast<int>(nodes_.size());
  Keys keys;
  switch (number(0, 7)) {
    case 0:
      add_fused(node, keys);
      break;
    case 6:
      add_several(node, keys);
      break;
    case 7:
      caches_ ? add_cache(node, keys) : add_repack(node, keys);
      break;
    case 1:
    case 2:
      add_zip(node, keys);
      break;
    default:
      add_plain(node, keys);
  }
  write(node.name, keys);
  nodes_.push_back(std::move(node));
}

/// Keys that any stage may have.
void RandomYaml::dress(Node& node, Keys& keys, bool takes_samples) {
  const bool fixed = has(keys, "assign: fixed");
  if (one_in(2)) keys.push_back(concat("replicas: ", one_of({"2", "3", fixed ? "1" : "auto"})));
  if (takes_samples && one_in(5)) keys.push_back(concat("chunk: ", one_of({1, 2, 4, 6})));
  if (one_in(5)) keys.push_back(concat("buffers: ", one_of({1, 2, 5})));
  if (one_in(6)) keys.push_back(concat("random: ", one_of({"one", "two"})));
  if (one_in(3)) {
    node.batch = true;
    keys.push_back("batch: " + batch_size());
  }
}

/// A source as YAML.
std::string RandomYaml::read(std::size_t node, bool with_batch, const std::string& tensor) {
  nodes_[node].read = true;
  const std::string name = concat(nodes_[node].name, tensor.empty() ? "" : ".", tensor);
  return with_batch ? concat("{stage: ", name, ", batch: ", batch_size(), "}") : name;
}

/// It has the samples of that one, and their tensors.
void RandomYaml::follow(Node& node, std::size_t from) {
  const Node& source = nodes_[from];
  node.tensors = source.tensors;
  node.samples = source.samples;
  node.fan_out = source.fan_out;
  node.anew = source.anew;
  node.chosen = source.chosen;
  node.group = group_of(from);
}

void RandomYaml::add_plain(Node& node, Keys& keys) {
  const std::size_t from = number(0, nodes_.size() - 1);
  follow(node, from);
  std::string only;
  if (one_in(5)) only = node.tensors[number(0, node.tensors.size() - 1)];
  if (!only.empty()) node.tensors = {only};
  std::string type = one_of({"sift", "delay", "toss", "passthrough", "digest", "shift", "split"});
  if (type == "shift" && !has(node.tensors, "data")) type = "digest";
  const bool takes_samples = type == "sift" || type == "delay";
  const bool with_batch = type == "toss" || (!takes_samples && one_in(2));
  keys = {"transform: " + type, "from: " + read(from, with_batch, only)};
  if (type == "sift")
    keys.push_back(concat("params: {every: ", number(2, 5), ", rest: ", number(0, 4),
                          ", chance: ", one_of({"0", "0.3"}), "}"));
  if (type == "delay" && one_in(2)) {
    keys.push_back(concat("params: {fail_at: [", number(0, 9), ", ", number(10, 40), "]}"));
    keys.emplace_back(node.anew == 0 ? "on_error: {skip: 2}" : "on_error: {skip: 20}");
  }
  if (type == "split") {
    node.tensors = {"low", "high", "words"};
  } else {
    if (type == "digest") std::erase(node.tensors, "digest");
    const std::string used = type == "shift" ? "data" : "";
    std::erase(node.tensors, used);
    if (!node.tensors.empty() && one_in(3)) choose_passed(node, keys);
    if (type == "digest") node.tensors.insert(node.tensors.begin(), "digest");
    if (type == "shift") node.tensors.insert(node.tensors.begin(), "data");
  }
  if (with_batch && one_in(5)) keys.emplace_back("drop_last: true");
  if (one_in(6) && may_be_fixed(keys)) keys.emplace_back("assign: fixed");
  dress(node, keys, takes_samples);
}

/// One of the tensors that travel on, or all but one.
void RandomYaml::choose_passed(Node& node, Keys& keys) {
  const std::string one = node.tensors[number(0, node.tensors.size() - 1)];
  if (node.tensors.size() > 1 && one_in(2)) {
    keys.push_back(concat("drop: ", one));
    std::erase(node.tensors, one);
  } else {
    keys.push_back(concat("keep: ", one));
    node.tensors = {one};
  }
}

void RandomYaml::add_fused(Node& node, Keys& keys) {
  const std::size_t from = number(0, nodes_.size() - 1);
  follow(node, from);
  std::vector<std::string> links;
  bool samples = false;
  for (std::uint64_t left = number(1, 4); left > 0; --left) {
    const std::string type = one_of({"digest", "shift", "passthrough", "sift", "split"});
    if (type == "shift" && !has(node.tensors, "data")) continue;
    if (type == "digest" && !has(node.tensors, "digest")) node.tensors.emplace_back("digest");
    if (type == "split") node.tensors = {"low", "high", "words"};
    if (type == "sift") samples = true;
    links.push_back(type == "sift" ? concat("{sift: {every: ", number(2, 5), "}}") : type);
  }
  if (links.empty()) {
    links.emplace_back("digest");
    if (!has(node.tensors, "digest")) node.tensors.emplace_back("digest");
  }
  const bool with_batch = !samples && one_in(2);
  keys = {concat("transform: [", join(links, ", "), "]"), "from: " + read(from, with_batch)};
  dress(node, keys, samples);
}

/// Several samples of each, but never very many.
void RandomYaml::add_several(Node& node, Keys& keys) {
  const std::size_t from = number(0, nodes_.size() - 1);
  follow(node, from);
  const std::uint64_t count = node.fan_out > 3 ? 1 : number(1, 4);
  node.samples *= count;
  node.fan_out *= count;
  const bool repeats = one_in(2);
  const bool with_batch = one_in(3);
  keys = {concat("transform: ", repeats ? "repeat" : "pieces"), "from: " + read(from, with_batch),
          concat("params: {", repeats ? "times: " : "count: ", count, "}")};
  if (!repeats) {
    std::erase_if(node.tensors, [](const auto& name) { return name == "piece" || name == "part"; });
    if (!node.tensors.empty() && one_in(3)) choose_passed(node, keys);
    node.tensors.insert(node.tensors.end(), {"piece", "part"});
  }
  if (with_batch && one_in(5)) keys.emplace_back("drop_last: true");
  if (one_in(6) && may_be_fixed(keys)) keys.emplace_back("assign: fixed");
  dress(node, keys, false);
}

/// What is there, numbered anew: nothing above can be zipped with it.
void RandomYaml::add_repack(Node& node, Keys& keys) {
  const std::size_t from = number(0, nodes_.size() - 1);
  node.tensors = nodes_[from].tensors;
  node.samples = nodes_[from].samples;
  node.anew = static_cast<int>(nodes_.size());
  renumbers_ = true;
  node.group = group_of(from);
  keys = {"transform: repack", "from: " + read(from, false)};
  if (one_in(3)) choose_passed(node, keys);
  if (one_in(5)) keys.push_back(concat("buffers: ", one_of({1, 2, 5})));
  if (!one_in(3)) return;
  node.batch = true;
  keys.push_back("batch: " + batch_size());
}

/// One epoch of it, kept for all.
void RandomYaml::add_cache(Node& node, Keys& keys) {
  const std::size_t from = number(0, nodes_.size() - 1);
  node.tensors = nodes_[from].tensors;
  node.samples = nodes_[from].samples;
  node.anew = static_cast<int>(nodes_.size());
  node.group = group_of(from);
  keys = {"transform: cache", "from: " + read(from, false)};
  if (one_in(3)) choose_passed(node, keys);
  if (one_in(4)) {
    node.samples = number(1, node.samples);
    keys.push_back(concat("limit: ", node.samples));
  }
  if (one_in(2)) keys.emplace_back("shuffle: true");
  if (one_in(5)) keys.push_back(concat("seed: ", number(0, 9)));
  dress(node, keys, true);
}

/// Two stages of one size, or one stage twice; `digest` keeps what has a name of its own.
void RandomYaml::add_zip(Node& node, Keys& keys) {
  const std::size_t left = number(0, nodes_.size() - 1);
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (numbered_alike(i, left)) fitting.push_back(i);
  const std::size_t right = fitting[number(0, fitting.size() - 1)];
  unite(left, right);
  follow(node, left);
  const std::string type = one_of({"digest", "sift", "split"});
  const bool with_batch =
      type != "sift" && (nodes_[left].batch || nodes_[right].batch || one_in(2));
  const std::string batch = with_batch ? concat(", batch: ", batch_size()) : "";
  keys = {"transform: " + type,
          concat("from: {l: {stage: ", nodes_[left].name, batch,
                 "}, r: {stage: ", nodes_[right].name, batch, "}}"),
          "join: zip"};
  nodes_[left].read = nodes_[right].read = true;
  std::vector<std::string> twice;
  for (const std::string& name : nodes_[right].tensors) {
    if (type == "digest" && name == "digest") continue;
    if (has(node.tensors, name)) {
      twice.push_back("r." + name);
    } else {
      node.tensors.push_back(name);
    }
  }
  if (type == "split") {
    node.tensors = {"low", "high", "words"};
  } else if (!twice.empty()) {
    keys.push_back(concat("drop: [", join(twice, ", "), "]"));
  }
  if (type == "digest" && !has(node.tensors, "digest")) node.tensors.emplace_back("digest");
  dress(node, keys, type == "sift");
}

// `epochs` last: which stages are fed together must be known then.
void RandomYaml::add_consumers() {
  if (one_in(3)) join_some("zip");
  if (one_in(4)) join_some("merge");
  if (one_in(3)) join_some("epochs");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].read && !one_in(5)) continue;
    const bool with_batch = one_in(2);
    add_consumer("from: " + read(i, with_batch), {}, with_batch);
  }
}

void RandomYaml::add_consumer(const std::string& from, Keys keys, bool batched) {
  const bool records = !one_in(4);
  Keys all{concat("consumer: ", records ? "record" : "count"), from};
  all.insert(all.end(), keys.begin(), keys.end());
  if (records) all.emplace_back("params: {folder: \"${RECORDS}\"}");
  if (one_in(2)) all.push_back(concat("replicas: ", number(2, 3)));
  if (batched && one_in(4)) all.emplace_back("drop_last: true");
  if (one_in(5) && may_be_fixed(all)) all.emplace_back("assign: fixed");
  write(concat("c", consumers_++), all);
}

/// Stages that the join may read, in an order that is the same for every consumer.
std::vector<std::size_t> RandomYaml::sources_for(const std::string& join) {
  std::vector<std::size_t> sources;
  std::vector<int> groups;
  const std::size_t first = number(0, nodes_.size() - 1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (join == "zip" && !numbered_alike(i, first)) continue;
    if (join == "merge" && !has(nodes_[i].tensors, "digest")) continue;
    if (join == "epochs") {
      if (std::find(groups.begin(), groups.end(), group_of(i)) != groups.end()) continue;
      groups.push_back(group_of(i));
    }
    if (sources.size() < 3 && !(sources.size() > 1 && one_in(2))) sources.push_back(i);
  }
  return sources;
}

bool RandomYaml::join_some(const std::string& join) {
  const std::vector<std::size_t> sources = sources_for(join);
  if (sources.size() < 2) return false;
  const bool any_batch =
      std::any_of(sources.begin(), sources.end(), [&](std::size_t i) { return nodes_[i].batch; });
  const bool with_batch = any_batch || one_in(2);
  const std::string common = batch_size();
  std::vector<std::string> ports;
  for (const std::size_t i : sources) {
    if (join != "epochs") unite(sources[0], i);
    nodes_[i].read = true;
    ports.push_back(
        concat("s", i, ": {stage: ", nodes_[i].name, join == "merge" ? ".digest" : "",
               with_batch ? concat(", batch: ", join == "zip" ? common : batch_size()) : "", "}"));
  }
  add_consumer(concat("from: {", brigade::join(ports, ", "), "}"), {"join: " + join}, with_batch);
  return true;
}

}  // namespace brigade::conformance
