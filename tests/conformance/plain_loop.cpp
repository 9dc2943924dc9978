#include "tests/conformance/plain_loop.h"

#include <algorithm>

#include "pipeline/run/sampler.h"
#include "stages/api/chain.h"
#include "tests/conformance/sample_functions.h"

namespace brigade::conformance {
namespace {

std::uint64_t count_there(const auto& stream) {
  return static_cast<std::uint64_t>(
      std::count_if(stream.begin(), stream.end(), [](const auto& sample) { return sample.there; }));
}

/// The parameter as the graph says it; of a link of a chain "LINK.NAME".
template <class T>
T param(const ValidStage& stage, const std::string& name) {
  T value{};
  for (const auto& [other, written] : stage.param_values)
    if (other == name) BRIGADE_CHECK(parse_param(written, value).ok(), name);
  return value;
}

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

bool is_named(const StageContract& contract, const std::string& name) {
  const auto same = [&](const TensorPattern& pattern) { return pattern.name == name; };
  return std::any_of(contract.inputs.begin(), contract.inputs.end(), same) ||
         std::any_of(contract.one_of.begin(), contract.one_of.end(), [&](const auto& group) {
           return std::any_of(group.begin(), group.end(), same);
         });
}

/// One stage type on one sample: what it writes, or nothing where it leaves the sample out.
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

/// What all links of a stage leave behind: what they wrote, and what passed them.
std::optional<PlainTensors> after_links(const ValidStage& stage, PlainTensors in,
                                        const SampleInfo& info, std::uint64_t seed) {
  const bool chain = !stage.type->links.empty();
  const std::vector<const StageType*> types =
      chain ? stage.type->links : std::vector<const StageType*>{stage.type};
  const std::vector<std::string> names = chain_link_names(types);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string stream = chain ? concat(stage.random, '/', names[i]) : stage.random;
    const Link link{stage, types[i]->contract, chain ? names[i] + "." : ""};
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

/// Samples that a stage makes of each.
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

}  // namespace

PlainLoop::PlainLoop(const ValidGraph& graph, const Plan& plan)
    : graph_(graph),
      plan_(plan),
      streams_(graph.stages.size()),
      epoch_samples_(graph.stages.size()) {
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    BRIGADE_CHECK(graph.stages[s].name == plan.stages[s].name, graph.stages[s].name);
    if (graph.stages[s].sources.empty()) {
      streams_[s] = produce(s);
      give_numbers(s);
      continue;
    }
    std::vector<Lane> lanes = lanes_of(s);
    if (graph.stages[s].kind == StageKind::consumer) {
      consume(s, lanes);
      continue;
    }
    if (plan.stages[s].free_outputs > 0) {
      streams_[s] = number_anew(s, lanes);
      give_numbers(s);
      continue;
    }
    const std::uint64_t of_each = fan_out(graph.stages[s]);
    for (const std::uint64_t size : lanes[0].epoch_samples)
      epoch_samples_[s].push_back(size * of_each);
    streams_[s] = of_each == 1 ? transform(s, lanes[0]) : multiply(s, lanes[0]);
    add_edges(s, lanes[0], count_there(streams_[s]) / of_each);
  }
}

PlainLoop::Stream PlainLoop::produce(std::size_t stage) const {
  const ValidStage& producer = graph_.stages[stage];
  const bool drips = producer.type->contract.type == "drip";
  BRIGADE_CHECK(drips || producer.type->contract.type == "synthetic", producer.type->contract.type);
  Stream stream;
  for (std::uint32_t epoch = 0; epoch < graph_.epochs; ++epoch) {
    std::uint64_t size =
        drips ? drip_count(param<std::vector<std::int64_t>>(producer, "counts"), epoch)
              : param<std::uint64_t>(producer, "count");
    if (producer.limit > 0) size = std::min(size, producer.limit);
    const Permutation order(size, producer.seed.value_or(graph_.seed), epoch);
    for (std::uint64_t index = 0; index < size; ++index) {
      const std::uint64_t id = producer.shuffle ? order(index) : index;
      Sample& sample = stream.emplace_back();
      sample.info = {0, index, id, epoch};
      sample.tensors = drips ? drop_of(epoch, index)
                             : PlainTensors{{"data", synthetic(producer, graph_.seed, id)}};
    }
  }
  return stream;
}

/// Of a stage that numbers its samples itself: every epoch is padded by itself.
void PlainLoop::give_numbers(std::size_t stage) {
  const auto domain = static_cast<std::size_t>(plan_.stages[stage].pool_domain);
  std::vector<std::uint64_t>& sizes = epoch_samples_[stage];
  sizes.resize(graph_.epochs);
  for (const Sample& sample : streams_[stage]) ++sizes[sample.info.epoch];
  std::vector<std::uint64_t> first(graph_.epochs);
  for (std::size_t e = 1; e < first.size(); ++e)
    first[e] = first[e - 1] + epoch_period(sizes[e - 1], plan_.domains[domain].multiple);
  for (Sample& sample : streams_[stage])
    sample.info.number = first[sample.info.epoch] + sample.info.index;
}

/// What is there of an epoch of all lanes; of several, in an order that nobody promises.
PlainLoop::Stream PlainLoop::number_anew(std::size_t stage, const std::vector<Lane>& lanes) {
  Stream out;
  for (std::uint32_t epoch = 0; epoch < graph_.epochs; ++epoch) {
    std::uint64_t index = 0;
    for (std::size_t port = 0; port < lanes.size(); ++port) {
      for (const Sample& in : lanes[port].stream) {
        if (!in.there || in.info.epoch != epoch) continue;
        out.push_back(in);
        out.back().info = {0, index++, in.info.id * lanes.size() + port, epoch};
      }
    }
  }
  for (const Lane& lane : lanes) add_edges(stage, lane, count_there(lane.stream));
  return out;
}

/// One lane of all sources, or under `epochs` and `merge` one of each.
std::vector<PlainLoop::Lane> PlainLoop::lanes_of(std::size_t stage) const {
  const ValidStage& reader = graph_.stages[stage];
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < reader.sources.size(); ++i) {
    const bool own = reader.join == Join::epochs || reader.join == Join::merge;
    if (lanes.empty() || own) lanes.emplace_back();
    lanes.back().sources.push_back(i);
  }
  for (Lane& lane : lanes) {
    const auto first = static_cast<std::size_t>(reader.sources[lane.sources[0]].stage);
    lane.epoch_samples = epoch_samples_[first];
    for (std::size_t at = 0; at < streams_[first].size(); ++at)
      lane.stream.push_back(joined(stage, lane, at));
    if (reader.batched && reader.drop_last) leave_out_short(stage, lane);
  }
  return lanes;
}

/// Sample n of every source: there when all are.
PlainLoop::Sample PlainLoop::joined(std::size_t stage, const Lane& lane,
                                    std::size_t position) const {
  const ValidStage& reader = graph_.stages[stage];
  Sample sample;
  for (const std::size_t i : lane.sources) {
    const ValidSource& source = reader.sources[i];
    const Sample& read = streams_[static_cast<std::size_t>(source.stage)].at(position);
    if (i == lane.sources[0]) sample.info = read.info;
    sample.there = sample.there && read.there;
    for (const auto& [name, tensor] : read.tensors) {
      if (!source.tensor.empty() && name != source.tensor) continue;
      sample.tensors.emplace_back(reader.join == Join::zip ? concat(source.port, '.', name) : name,
                                  tensor);
    }
  }
  return sample;
}

/// Samples that one batch, or under `assign: fixed` one of each replica, take.
std::uint64_t PlainLoop::round_of(std::size_t stage, const Lane& lane) const {
  const ValidStage& reader = graph_.stages[stage];
  const auto replicas = static_cast<std::uint64_t>(plan_.stages[stage].replicas);
  return reader.sources[lane.sources[0]].batch * (reader.fixed ? replicas : 1);
}

void PlainLoop::leave_out_short(std::size_t stage, Lane& lane) const {
  const std::uint64_t round = round_of(stage, lane);
  for (Sample& sample : lane.stream)
    if ((sample.info.index / round + 1) * round > lane.epoch_samples[sample.info.epoch])
      sample.there = false;
}

void PlainLoop::toss(std::size_t stage, Lane& lane) const {
  const ValidStage& reader = graph_.stages[stage];
  const std::uint64_t batch = reader.sources[0].batch;
  const Sample* first = nullptr;
  for (Sample& sample : lane.stream) {
    if (!sample.there) continue;
    const bool same = first != nullptr && first->info.epoch == sample.info.epoch &&
                      first->info.index / batch == sample.info.index / batch;
    if (!same) first = &sample;
    sample.there = !tosses_out(param<std::uint64_t>(reader, "every"), first->info);
  }
}

PlainLoop::Stream PlainLoop::transform(std::size_t stage, Lane& lane) const {
  const ValidStage& reader = graph_.stages[stage];
  if (reader.type->contract.type == "toss") toss(stage, lane);
  Stream out;
  for (const Sample& in : lane.stream) {
    Sample& sample = out.emplace_back(Sample{in.info, in.there, {}});
    if (!in.there) continue;
    const auto left = after_links(reader, in.tensors, in.info, graph_.seed);
    sample.there = left.has_value();
    if (!left) continue;
    for (const TensorType& type : reader.outputs.tensors) {
      const auto passed = std::find_if(reader.passed.begin(), reader.passed.end(),
                                       [&](const auto& pass) { return pass.name == type.name; });
      const bool zip = passed != reader.passed.end() && reader.join == Join::zip;
      const std::string name =
          zip ? concat(reader.sources[static_cast<std::size_t>(passed->source)].port, '.',
                       type.name)
              : type.name;
      const PlainTensor* tensor = find(passed == reader.passed.end() ? *left : in.tensors, name);
      BRIGADE_CHECK(tensor != nullptr, reader.name, "has no", name);
      sample.tensors.emplace_back(type.name, *tensor);
    }
  }
  return out;
}

/// Several samples of each, numbered anew.
PlainLoop::Stream PlainLoop::multiply(std::size_t stage, const Lane& lane) const {
  const ValidStage& reader = graph_.stages[stage];
  const std::uint64_t count = fan_out(reader);
  Stream out;
  for (const Sample& in : lane.stream) {
    const auto own = outputs_of_each(reader, in.tensors, in.info, graph_.seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      Sample& sample = out.emplace_back(Sample{{}, in.there, {}});
      sample.info = {in.info.number * count + i, in.info.index * count + i, in.info.id * count + i,
                     in.info.epoch};
      if (!in.there) continue;
      sample.tensors = own[i];
      for (const PassedTensor& passed : reader.passed)
        sample.tensors.emplace_back(passed.name, *find(in.tensors, passed.name));
    }
  }
  return out;
}

void PlainLoop::consume(std::size_t stage, const std::vector<Lane>& lanes) {
  const ValidStage& reader = graph_.stages[stage];
  Expected expected;
  expected.stage = reader.name;
  expected.join = reader.join;
  expected.fixed = reader.fixed;
  expected.recorded = reader.type->contract.type == "record";
  expected.replicas = plan_.stages[stage].replicas;
  expected.epochs = static_cast<std::uint32_t>(graph_.epochs);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    expected.ports.push_back(reader.sources[lanes[i].sources[0]].port);
    add_calls(stage, static_cast<int>(i), lanes[i], expected);
    add_edges(stage, lanes[i], count_there(lanes[i].stream));
  }
  std::stable_sort(expected.calls.begin(), expected.calls.end(), [](const auto& a, const auto& b) {
    return std::pair(a.event.epoch, a.lane) < std::pair(b.event.epoch, b.lane);
  });
  consumers_.push_back(std::move(expected));
}

void PlainLoop::add_calls(std::size_t stage, int lane_index, const Lane& lane,
                          Expected& expected) const {
  const ValidStage& reader = graph_.stages[stage];
  const PlanLane& planned = plan_.stages[stage].lanes[static_cast<std::size_t>(lane_index)];
  const auto domain = static_cast<std::size_t>(planned.domain);
  const std::uint64_t batch = reader.batched ? reader.sources[lane.sources[0]].batch : 1;
  // Replicas with counts that must be equal are called for batches of padding, too.
  const bool empty_too = reader.batched && reader.fixed;
  const auto replicas = static_cast<std::uint64_t>(expected.replicas);
  auto next = lane.stream.begin();
  for (std::uint32_t epoch = 0; epoch < graph_.epochs; ++epoch) {
    const std::uint64_t size = lane.epoch_samples[epoch];
    const std::uint64_t period = epoch_period(size, plan_.domains[domain].multiple);
    const std::uint64_t end = empty_too ? period : size;
    for (std::uint64_t first = 0; first < end; first += batch) {
      Expected::Call call;
      call.lane = lane_index;
      call.event.port = expected.ports.back();
      call.event.epoch = epoch;
      call.replica = static_cast<int>(first / (reader.batched ? batch : planned.task) % replicas);
      const std::uint64_t last = std::min(first + batch, size);
      for (std::uint64_t index = first; index < last; ++index) {
        const Sample& sample = *next++;
        if (!sample.there) continue;
        if (call.event.samples.empty()) call.event.number = sample.info.number;
        call.event.samples.push_back(sample_text(sample.info, sample.tensors));
      }
      const std::uint64_t round = empty_too ? batch * replicas : batch;
      const bool left_out =
          reader.batched && reader.drop_last && (first / round + 1) * round > size;
      if (!call.event.samples.empty() || (empty_too && !left_out))
        expected.calls.push_back(std::move(call));
    }
  }
}

void PlainLoop::add_edges(std::size_t stage, const Lane& lane, std::uint64_t delivered) {
  const ValidStage& reader = graph_.stages[stage];
  for (const std::size_t i : lane.sources) {
    const auto from = static_cast<std::size_t>(reader.sources[i].stage);
    edges_.push_back(
        {graph_.stages[from].name, reader.name, count_there(streams_[from]), delivered});
  }
}

}  // namespace brigade::conformance
