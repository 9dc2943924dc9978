#pragma once

// Random graphs as people could write them: valid YAML of the types that the plain loop knows.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace brigade::conformance {

/// The same seed gives the same text, on every machine.
class RandomYaml {
 public:
  explicit RandomYaml(std::uint64_t seed) : random_(seed) {}

  std::string text();

 private:
  /// A stage that can be read.
  struct Node {
    std::string name;
    std::vector<std::string> tensors;
    std::uint64_t samples = 0;  ///< per epoch
    std::uint64_t fan_out = 1;  ///< of them, for each of the producer
    int anew = 0;               ///< the stage that numbered it anew; 0: none did
    std::string chosen;         ///< how its producer chooses among its samples; "": it does not
    int group = 0;              ///< stages that are fed together; the index of one of them
    bool batch = false;         ///< its writer says one
    bool read = false;
  };
  using Keys = std::vector<std::string>;

  std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return least + random_() % (most - least + 1);
  }
  bool one_in(std::uint64_t n) { return number(1, n) == 1; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[number(0, values.size() - 1)];
  }
  std::string batch_size();

  void add_producer();
  void add_mix();
  void choose_samples(Node& node, std::uint64_t& count, Keys& keys);
  void weigh_samples(Node& node, std::uint64_t count, Keys& keys);
  void add_transform();
  void follow(Node& node, std::size_t from);
  void add_fused(Node& node, Keys& keys);
  void add_several(Node& node, Keys& keys);
  void add_repack(Node& node, Keys& keys);
  void add_cache(Node& node, Keys& keys);
  void add_plain(Node& node, Keys& keys);
  void add_zip(Node& node, Keys& keys);
  void choose_passed(Node& node, Keys& keys);
  void dress(Node& node, Keys& keys, bool takes_samples);
  void add_consumers();
  void add_consumer(const std::string& from, Keys keys, bool batched);
  bool join_some(const std::string& join);
  std::vector<std::size_t> sources_for(const std::string& join);
  std::string read(std::size_t node, bool with_batch, const std::string& tensor = "");
  void write(const std::string& name, const Keys& keys);
  bool may_be_fixed(const Keys& keys) const;
  bool numbered_alike(std::size_t a, std::size_t b) const;
  int group_of(std::size_t node);
  void unite(std::size_t a, std::size_t b);

  std::mt19937_64 random_;
  std::string text_;
  std::uint64_t common_samples_ = 0;
  bool caches_ = false;  ///< where other graphs have repack
  std::vector<Node> nodes_;
  int consumers_ = 0;
  bool renumbers_ = false;
};

}  // namespace brigade::conformance
