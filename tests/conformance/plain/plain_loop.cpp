#include "tests/conformance/plain/plain_loop.h"

#include <algorithm>

#include "pipeline/records/sampler.h"
#include "tests/conformance/plain/plain_stages.h"
#include "tests/conformance/sample_functions.h"

namespace brigade::conformance {
namespace {

std::uint64_t count_there(const auto& stream) {
  return static_cast<std::uint64_t>(
      std::count_if(stream.begin(), stream.end(), [](const auto& sample) { return sample.there; }));
}

/// Of an epoch of a producer with so many samples.
std::vector<std::uint64_t> ids_of(const ValidStage& producer, std::uint64_t seed,
                                  std::uint32_t epoch, std::uint64_t found) {
  std::vector<std::uint64_t> ids;
  const Subset subset(producer, seed, found);
  if (is_drawn(producer)) ids = drawn_ids(producer, seed, epoch, found);
  for (std::uint64_t i = 0; !is_drawn(producer) && i < subset.size(); ++i) ids.push_back(subset(i));
  if (!producer.shuffle) return ids;
  const Permutation order(ids.size(), seed, epoch);
  std::vector<std::uint64_t> shuffled;
  for (std::uint64_t i = 0; i < ids.size(); ++i) shuffled.push_back(ids[order(i)]);
  return shuffled;
}

}  // namespace

PlainLoop::PlainLoop(const ValidGraph& graph, const Plan& plan, const Feeds& feeds)
    : graph_(graph),
      plan_(plan),
      streams_(graph.stages.size()),
      epoch_samples_(graph.stages.size()) {
  for (const StageNumber s : graph.stages.numbers()) {
    BRIGADE_CHECK(graph.stages[s].name == plan.stages[s].name, graph.stages[s].name);
    if (graph.stages[s].sources.empty()) {
      const auto given = feeds.find(graph.stages[s].name);
      streams_[s] = given == feeds.end() ? produce(s) : fed(given->second);
      give_numbers(s);
      continue;
    }
    std::vector<Queue> queues = queues_of(s);
    if (graph.stages[s].kind == StageKind::consumer) {
      consume(s, queues);
      continue;
    }
    if (plan.stages[s].flat_map_outputs > 0) {
      streams_[s] = flat_map_numbers(s, queues);
      give_numbers(s);
      continue;
    }
    if (plan.stages[s].is_cache()) {
      streams_[s] = keep(s, queues[0]);
      give_numbers(s);
      add_edges(s, queues[0], count_there(queues[0].stream));
      continue;
    }
    const std::uint64_t of_each = fan_out(graph.stages[s]);
    for (const std::uint64_t size : queues[0].epoch_samples)
      epoch_samples_[s].push_back(size * of_each);
    streams_[s] = makes_several(graph.stages[s]) ? multiply(s, queues[0]) : transform(s, queues[0]);
    add_edges(s, queues[0], count_there(streams_[s]) / of_each);
  }
}

PlainLoop::Stream PlainLoop::produce(StageNumber stage) const {
  const ValidStage& producer = graph_.stages[stage];
  const bool drips = producer.type->contract.type == "drip";
  const std::uint64_t seed = producer.seed.value_or(graph_.seed);
  const std::vector<MixedSample> mixed = mixed_samples(producer, seed);
  BRIGADE_CHECK(drips || !mixed.empty() || producer.type->contract.type == "synthetic",
                producer.type->contract.type);
  const auto data = [&](std::uint64_t at) {
    return mixed.empty() ? synthetic(producer, graph_.seed, at)
                         : synthetic(*mixed[at].part, seed, mixed[at].index);
  };
  Stream stream;
  const std::uint64_t epochs = index_space_epochs(plan_, plan_.stages[stage].ring_index_space);
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const std::uint64_t size =
        drips           ? drip_count(param<std::vector<std::int64_t>>(producer, "counts"), epoch)
        : mixed.empty() ? param<std::uint64_t>(producer, "count")
                        : mixed.size();
    const std::uint64_t epoch_begin = stream.size();
    for (const std::uint64_t id : ids_of(producer, seed, epoch, size)) {
      const std::uint64_t index = stream.size() - epoch_begin;
      Sample& sample = stream.emplace_back();
      sample.info = {0, index, id, epoch};
      sample.tensors = drips ? drop_of(epoch, index) : PlainTensors{{"data", data(id % size)}};
    }
  }
  return stream;
}

/// What a program gives: the place in an epoch is the id.
PlainLoop::Stream PlainLoop::fed(const Feed& feed) {
  Stream stream;
  for (std::uint32_t epoch = 0; epoch < feed.size(); ++epoch) {
    for (std::uint64_t index = 0; index < feed[epoch].size(); ++index) {
      const auto& given = feed[epoch][index];
      stream.push_back(
          {{0, index, index, epoch}, given.has_value(), given.value_or(PlainTensors{})});
    }
  }
  return stream;
}

/// Of a stage that numbers its samples itself: every epoch is padded by itself.
void PlainLoop::give_numbers(StageNumber stage) {
  const IndexSpaceNumber index_space = plan_.stages[stage].ring_index_space;
  std::vector<std::uint64_t>& sizes = epoch_samples_[stage];
  sizes.resize(graph_.epochs);
  for (const Sample& sample : streams_[stage]) ++sizes[sample.info.epoch];
  std::vector<std::uint64_t> first(graph_.epochs);
  for (std::size_t e = 1; e < first.size(); ++e)
    first[e] = first[e - 1] + epoch_period(sizes[e - 1], plan_.index_spaces[index_space].multiple);
  for (Sample& sample : streams_[stage])
    sample.info.number = first[sample.info.epoch] + sample.info.index;
}

/// What is there of an epoch of all task queues; of several, in an order that nobody promises.
PlainLoop::Stream PlainLoop::flat_map_numbers(StageNumber stage, const std::vector<Queue>& queues) {
  Stream out;
  for (std::uint32_t epoch = 0; epoch < graph_.epochs; ++epoch) {
    std::uint64_t index = 0;
    for (std::size_t port = 0; port < queues.size(); ++port) {
      for (const Sample& in : queues[port].stream) {
        if (!in.there || in.info.epoch != epoch) continue;
        Sample& sample = out.emplace_back();
        sample.info = {0, index++, in.info.id * queues.size() + port, epoch};
        for (const TensorType& type : graph_.stages[stage].outputs.tensors)
          sample.tensors.emplace_back(type.name, *find(in.tensors, type.name));
      }
    }
  }
  for (const Queue& queue : queues) add_edges(stage, queue, count_there(queue.stream));
  return out;
}

/// One task queue of all sources, or under `epochs` and `merge` one of each.
std::vector<PlainLoop::Queue> PlainLoop::queues_of(StageNumber stage) const {
  const ValidStage& reader = graph_.stages[stage];
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < reader.sources.size(); ++i) {
    const bool own = reader.join == Join::epochs || reader.join == Join::merge;
    if (queues.empty() || own) queues.emplace_back();
    queues.back().sources.push_back(i);
  }
  for (Queue& queue : queues) {
    const StageNumber first = reader.sources[queue.sources[0]].stage;
    queue.epoch_samples = epoch_samples_[first];
    for (std::size_t at = 0; at < streams_[first].size(); ++at)
      queue.stream.push_back(joined(stage, queue, at));
    if (reader.batched && reader.drop_last) drop_short(stage, queue);
  }
  return queues;
}

/// Sample n of every source: there when all are.
PlainLoop::Sample PlainLoop::joined(StageNumber stage, const Queue& queue,
                                    std::size_t position) const {
  const ValidStage& reader = graph_.stages[stage];
  Sample sample;
  for (const std::size_t i : queue.sources) {
    const ValidSource& source = reader.sources[i];
    const Sample& read = streams_[source.stage].at(position);
    if (i == queue.sources[0]) sample.info = read.info;
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
std::uint64_t PlainLoop::round_of(StageNumber stage, const Queue& queue) const {
  const ValidStage& reader = graph_.stages[stage];
  const auto replicas = static_cast<std::uint64_t>(plan_.stages[stage].replicas);
  return reader.sources[queue.sources[0]].batch * (reader.fixed ? replicas : 1);
}

void PlainLoop::drop_short(StageNumber stage, Queue& queue) const {
  const std::uint64_t round = round_of(stage, queue);
  for (Sample& sample : queue.stream)
    if ((sample.info.index / round + 1) * round > queue.epoch_samples[sample.info.epoch])
      sample.there = false;
}

void PlainLoop::toss(StageNumber stage, Queue& queue) const {
  const ValidStage& reader = graph_.stages[stage];
  const std::uint64_t batch = reader.sources[0].batch;
  const Sample* first = nullptr;
  for (Sample& sample : queue.stream) {
    if (!sample.there) continue;
    const bool same = first != nullptr && first->info.epoch == sample.info.epoch &&
                      first->info.index / batch == sample.info.index / batch;
    if (!same) first = &sample;
    sample.there = !tosses_out(param<std::uint64_t>(reader, "every"), first->info);
  }
}

PlainLoop::Stream PlainLoop::transform(StageNumber stage, Queue& queue) const {
  const ValidStage& reader = graph_.stages[stage];
  if (reader.type->contract.type == "toss") toss(stage, queue);
  Stream out;
  for (const Sample& in : queue.stream) {
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
PlainLoop::Stream PlainLoop::multiply(StageNumber stage, const Queue& queue) const {
  const ValidStage& reader = graph_.stages[stage];
  const std::uint64_t count = fan_out(reader);
  Stream out;
  for (const Sample& in : queue.stream) {
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

/// The samples of one epoch in the order of their ids, in every epoch in an order of its own.
PlainLoop::Stream PlainLoop::keep(StageNumber stage, const Queue& queue) const {
  const ValidStage& cache = graph_.stages[stage];
  std::uint64_t size = queue.epoch_samples[0];
  std::vector<const Sample*> kept;
  for (const Sample& sample : queue.stream) kept.push_back(&sample);
  BRIGADE_CHECK(kept.size() == size, kept.size(), size);
  std::sort(kept.begin(), kept.end(),
            [](const Sample* a, const Sample* b) { return a->info.id < b->info.id; });
  size = limited(cache.limit, size);
  Stream out;
  const std::uint64_t epochs = index_space_epochs(plan_, plan_.stages[stage].ring_index_space);
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const Permutation order(size, cache.seed.value_or(graph_.seed), epoch);
    for (std::uint64_t index = 0; index < size; ++index) {
      const std::uint64_t id = cache.shuffle ? order(index) : index;
      Sample& sample = out.emplace_back(Sample{{0, index, id, epoch}, kept[id]->there, {}});
      if (!sample.there) continue;
      for (const TensorType& type : cache.outputs.tensors)
        sample.tensors.emplace_back(type.name, *find(kept[id]->tensors, type.name));
    }
  }
  return out;
}

void PlainLoop::consume(StageNumber stage, const std::vector<Queue>& queues) {
  const ValidStage& reader = graph_.stages[stage];
  Expected expected;
  expected.stage = reader.name;
  expected.join = reader.join;
  expected.fixed = reader.fixed;
  expected.recorded = reader.type->contract.type != "count";
  expected.replicas = plan_.stages[stage].replicas;
  expected.epochs = static_cast<std::uint32_t>(graph_.epochs);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    expected.ports.push_back(reader.sources[queues[i].sources[0]].port);
    expected.ends.push_back(static_cast<std::uint32_t>(
        index_space_epochs(plan_, plan_.stages[stage].queues[QueueNumber(i)].index_space)));
    add_calls(stage, static_cast<int>(i), queues[i], expected);
    add_edges(stage, queues[i], count_there(queues[i].stream));
  }
  std::stable_sort(expected.calls.begin(), expected.calls.end(), [](const auto& a, const auto& b) {
    return std::pair(a.event.epoch, a.queue) < std::pair(b.event.epoch, b.queue);
  });
  consumers_.push_back(std::move(expected));
}

void PlainLoop::add_calls(StageNumber stage, int queue_index, const Queue& queue,
                          Expected& expected) const {
  const ValidStage& reader = graph_.stages[stage];
  const PlanQueue& planned = plan_.stages[stage].queues[QueueNumber(queue_index)];
  const IndexSpaceNumber index_space = planned.index_space;
  const std::uint64_t batch = reader.batched ? reader.sources[queue.sources[0]].batch : 1;
  // Replicas with counts that must be equal are called for batches of padding, too.
  const bool empty_too = reader.batched && reader.fixed;
  const auto replicas = static_cast<std::uint64_t>(expected.replicas);
  auto next = queue.stream.begin();
  for (std::uint32_t epoch = 0; epoch < graph_.epochs; ++epoch) {
    const std::uint64_t size = queue.epoch_samples[epoch];
    const std::uint64_t period = epoch_period(size, plan_.index_spaces[index_space].multiple);
    const std::uint64_t end = empty_too ? period : size;
    for (std::uint64_t first = 0; first < end; first += batch) {
      Expected::Call call;
      call.queue = queue_index;
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
      const bool skipped = reader.batched && reader.drop_last && (first / round + 1) * round > size;
      if (!call.event.samples.empty() || (empty_too && !skipped))
        expected.calls.push_back(std::move(call));
    }
  }
}

void PlainLoop::add_edges(StageNumber stage, const Queue& queue, std::uint64_t delivered) {
  const ValidStage& reader = graph_.stages[stage];
  for (const std::size_t i : queue.sources) {
    const StageNumber from = reader.sources[i].stage;
    edges_.push_back(
        {graph_.stages[from].name, reader.name, count_there(streams_[from]), delivered});
  }
}

}  // namespace brigade::conformance
