#include "tests/conformance/plain/plain_stages.h"

#include <algorithm>
#include <cstring>

#include "pipeline/plan/subset.h"
#include "stages/detail/fused_stage.h"
#include "tests/conformance/sample_functions.h"

namespace brigade::conformance {
namespace {

template <class T>
PlainTensor filled(const Shape& shape, bool with_random, std::uint64_t index, Philox& random) {
  std::vector<T> elements(static_cast<std::size_t>(shape.elements()), static_cast<T>(index));
  if (!with_random) return PlainTensor::of(shape, elements);
  if constexpr (std::is_floating_point_v<T>) {
    for (T& element : elements) element = static_cast<T>(random.next() >> 8) * 0x1p-24f;
    return PlainTensor::of(shape, elements);
  }
  PlainTensor tensor = PlainTensor::of(shape, elements);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += 8) {
    const std::uint64_t word = random.next64();
    std::memcpy(&tensor.bytes[at], &word, std::min<std::size_t>(8, tensor.bytes.size() - at));
  }
  return tensor;
}

bool is_named(const StageContract& contract, const std::string& name) {
  const auto same = [&](const TensorPattern& pattern) { return pattern.name == name; };
  return std::any_of(contract.inputs.begin(), contract.inputs.end(), same) ||
         std::any_of(contract.one_of.begin(), contract.one_of.end(), [&](const auto& group) {
           return std::any_of(group.begin(), group.end(), same);
         });
}

/// One stage type on one sample: what it writes, or nothing where it drops the sample.
struct Link {
  const ValidStage& stage;
  const StageContract& contract;
  std::string prefix;  // of its parameters

  std::optional<PlainTensors> apply(const PlainTensors& in, const SampleInfo& info,
                                    Philox random) const {
    const std::string& type = contract.type;
    if (type == "digest") return digest_of(in, random);
    if (type == "shift") return shift_of(in, random);
    if (type == "split") return split_of(in, info, random);
    if (type == "sift" && sifts_out(sift_params(), info, random)) return std::nullopt;
    if (type == "delay" && fails_at(info.id)) return std::nullopt;
    const auto known = {"passthrough", "repeat", "sift", "delay", "toss"};
    BRIGADE_CHECK(std::find(known.begin(), known.end(), type) != known.end(), type);
    return PlainTensors{};
  }

 private:
  SiftParams sift_params() const {
    return {param<std::uint64_t>(stage, prefix + "every"),
            param<std::uint64_t>(stage, prefix + "rest"), param<double>(stage, prefix + "chance")};
  }
  bool fails_at(std::uint64_t id) const {
    const auto ids = param<std::vector<std::int64_t>>(stage, prefix + "fail_at");
    return std::find(ids.begin(), ids.end(), static_cast<std::int64_t>(id)) != ids.end();
  }
};

}  // namespace

PlainTensor synthetic(const ValidStage& stage, std::uint64_t graph_seed, std::uint64_t index) {
  Philox random(stage.seed.value_or(graph_seed), stream_id(stage.random), 0, index);
  Shape shape;
  for (const std::int64_t size : param<std::vector<std::int64_t>>(stage, "shape"))
    shape.push_back(size);
  if (param<bool>(stage, "vary"))
    shape[0] =
        1 + static_cast<std::int64_t>(random.next64() % static_cast<std::uint64_t>(shape[0]));
  const std::string fill = param<std::string>(stage, "fill");
  BRIGADE_CHECK(fill != "none", "its bytes are not known");
  switch (param<DType>(stage, "dtype")) {
    case DType::u8:
      return filled<std::uint8_t>(shape, fill == "random", index, random);
    case DType::i64:
      return filled<std::int64_t>(shape, fill == "random", index, random);
    case DType::f32:
      return filled<float>(shape, fill == "random", index, random);
    default:
      BRIGADE_CHECK(false, "a dtype that the plain loop does not know");
  }
  return {};
}

double weight_of(std::uint64_t index) {
  return index % 7 == 6 ? 0 : 0.25 + static_cast<double>(index * index % 11) / 3;
}

/// Those that are read, by their indices, and the weight of each; their sum is `share`.
struct Weighed {
  std::uint64_t index;
  double weight;
};

std::vector<Weighed> weighed(const ValidStage& producer, std::uint64_t seed, std::uint64_t found,
                             double share) {
  const Subset subset(producer, seed, found);
  std::vector<Weighed> out;
  double sum = 0;
  for (std::uint64_t i = 0; i < subset.size(); ++i) {
    out.push_back({subset(i), producer.weights.any() ? weight_of(subset(i)) : 1});
    sum += out.back().weight;
  }
  for (Weighed& one : out) one.weight = one.weight / sum * share;
  return out;
}

std::vector<MixedSample> mixed_samples(const ValidStage& mix, std::uint64_t seed) {
  std::vector<MixedSample> out;
  for (const ValidStage& part : mix.parts) {
    const Subset subset(part, seed, param<std::uint64_t>(part, "count"));
    for (std::uint64_t i = 0; i < subset.size(); ++i) out.push_back({&part, subset(i)});
  }
  return out;
}

/// A walk along the line of weights, place after place.
std::vector<std::uint64_t> drawn_ids(const ValidStage& producer, std::uint64_t seed,
                                     std::uint32_t epoch, std::uint64_t found) {
  using Wide = unsigned __int128;
  std::vector<Weighed> all;
  double sum = 0;
  for (std::size_t p = 0; p < producer.parts.size(); ++p) {
    const ValidStage& part = producer.parts[p];
    const double share = producer.mix.shares[p].second;
    for (const Weighed& one : weighed(part, seed, param<std::uint64_t>(part, "count"), share))
      all.push_back({all.size(), one.weight});
  }
  if (producer.parts.empty()) all = weighed(producer, seed, found, 1);
  for (const Weighed& one : all) sum += one.weight;
  std::vector<std::uint64_t> pieces;
  std::uint64_t line = 0;
  for (const Weighed& one : all) {
    pieces.push_back(static_cast<std::uint64_t>(one.weight / sum * 0x1p62));
    line += pieces.back();
  }
  const auto part_of_line = [&](std::uint64_t of_2_64) {
    return static_cast<std::uint64_t>(Wide{of_2_64} * line >> 64);
  };
  const std::uint64_t first = part_of_line(Philox(seed, stream_id("weights"), 0, 0).next64());
  const auto shift =
      static_cast<std::uint64_t>((Wide{part_of_line(0x9e3779b97f4a7c15)} * epoch + first) % line);
  const std::uint64_t size = producer.draws != 0 ? producer.draws : all.size();
  std::vector<std::uint64_t> ids;
  Wide begin = 0;  // of sample i, in pieces of a size-th
  for (std::uint64_t i = 0; i < pieces.size(); ++i) {
    const Wide end = begin + Wide{pieces[i]} * size;
    for (std::uint64_t times = 0; ids.size() < size && Wide{line} * ids.size() + shift < end;
         ++times)
      ids.push_back(all[i].index + times * found);
    begin = end;
  }
  BRIGADE_CHECK(ids.size() == size, ids.size(), size);
  return ids;
}

/// What all links of a stage leave behind: what they wrote, and what passed them.
std::optional<PlainTensors> after_links(const ValidStage& stage, PlainTensors in,
                                        const SampleInfo& info, std::uint64_t seed) {
  const bool fused = !stage.type->links.empty();
  const std::vector<const StageType*> types =
      fused ? stage.type->links : std::vector<const StageType*>{stage.type};
  const std::vector<std::string> names = fused_link_names(types);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string stream = fused ? concat(stage.random, '/', names[i]) : stage.random;
    const Link link{stage, types[i]->contract, fused ? names[i] + "." : ""};
    auto own = link.apply(in, info, Philox(seed, stream_id(stream), info.epoch, info.id));
    if (!own) return std::nullopt;
    for (auto& [name, tensor] : in) {
      if (!link.contract.rest_passes || is_named(link.contract, name)) continue;
      if (find(*own, name) == nullptr) own->emplace_back(name, std::move(tensor));
    }
    in = std::move(*own);
  }
  return in;
}

bool makes_several(const ValidStage& stage) {
  const std::string& type = stage.type->contract.type;
  return type == "repeat" || type == "pieces";
}

std::uint64_t fan_out(const ValidStage& stage) {
  const std::string& type = stage.type->contract.type;
  if (type == "repeat") return param<std::uint64_t>(stage, "times");
  return type == "pieces" ? param<std::uint64_t>(stage, "count") : 1;
}

std::vector<PlainTensors> outputs_of_each(const ValidStage& stage, const PlainTensors& in,
                                          const SampleInfo& info, std::uint64_t seed) {
  const std::uint64_t count = fan_out(stage);
  if (stage.type->contract.type == "repeat") return std::vector<PlainTensors>(count);
  return pieces_of(in, Philox(seed, stream_id(stage.random), info.epoch, info.id), count);
}

}  // namespace brigade::conformance
