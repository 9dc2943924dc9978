#include "pipeline/checkpoint/position.h"

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "base/json.h"

namespace brigade {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kEntriesMax = 2;

Json to_json(const std::vector<StageSample>& samples) {
  Json list = Json::array();
  for (const auto& [stage, sample] : samples)
    list.push_back({{"stage", stage},
                    {"queue", sample.queue.value()},
                    {"epoch", sample.at.epoch},
                    {"index", sample.at.index}});
  return list;
}

Json to_json(const Position& position) {
  Json queues = Json::array(), sources = Json::array();
  for (const SamplePosition& queue : position.queues)
    queues.push_back({{"epoch", queue.epoch}, {"index", queue.index}});
  for (const SourceIdentity& source : position.sources)
    sources.push_back({{"stage", source.stage},
                       {"samples", source.samples},
                       {"fingerprint", source.fingerprint}});
  return {{"run", position.run},
          {"digest", position.digest},
          {"queues", queues},
          {"epoch_ends_told", position.epoch_ends_told},
          {"samples", position.samples},
          {"sources", sources},
          {"quarantined", to_json(position.quarantined)},
          {"skipped", to_json(position.skipped)}};
}

std::uint64_t number(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned()) throw std::out_of_range(concat(key, " is no number"));
  return value.get<std::uint64_t>();
}

const Json& list(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_array()) throw std::out_of_range(concat(key, " is no list"));
  return value;
}

std::vector<StageSample> samples(const Json& object, const char* key) {
  std::vector<StageSample> found;
  for (const Json& one : list(object, key)) {
    const std::uint64_t queue = number(one, "queue");
    if (queue > SampleAddress::kQueueMax) throw std::out_of_range("a task queue is out of range");
    found.push_back({one.at("stage").get<std::string>(),
                     {QueueNumber(queue), {number(one, "epoch"), number(one, "index")}}});
  }
  return found;
}

Position read_position(const Json& object) {
  Position position;
  position.run = object.at("run").get<std::string>();
  position.digest = object.at("digest").get<std::string>();
  for (const Json& queue : list(object, "queues"))
    position.queues.push_back({number(queue, "epoch"), number(queue, "index")});
  position.epoch_ends_told = number(object, "epoch_ends_told");
  position.samples = number(object, "samples");
  for (const Json& source : list(object, "sources"))
    position.sources.push_back({source.at("stage").get<std::string>(), number(source, "samples"),
                                number(source, "fingerprint")});
  position.quarantined = samples(object, "quarantined");
  position.skipped = samples(object, "skipped");
  return position;
}

PositionFile file_of(const Json& root) {
  const std::uint64_t version = number(root, "brigade_position");
  if (version != kVersion)
    throw std::out_of_range(concat("it has version ", version, ", expected ", kVersion));
  PositionFile file;
  file.stage = root.at("stage").get<std::string>();
  for (const Json& line : list(root, "order")) file.order += line.get<std::string>() + "\n";
  for (const Json& entry : list(root, "entries")) file.entries.push_back(read_position(entry));
  if (file.entries.empty() || file.entries.size() > kEntriesMax)
    throw std::out_of_range("it has no entry, or too many");
  return file;
}

}  // namespace

std::string position_to_json(const PositionFile& file) {
  Json order = Json::array(), entries = Json::array();
  for (const std::string_view line : split(file.order, '\n'))
    if (!line.empty()) order.push_back(line);
  for (const Position& entry : file.entries) entries.push_back(to_json(entry));
  const Json root = {{"brigade_position", kVersion},
                     {"stage", file.stage},
                     {"entries", entries},
                     {"order", order}};
  // Names and parameters may be any bytes.
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<PositionFile> position_from_json(std::string_view text) {
  const auto json = parse_json<Json>(text);
  if (!json) return Error{concat("it cannot be read: it ", json.error().message)};
  try {
    return file_of(*json);
  } catch (const std::exception& exception) {
    return Error{concat("it cannot be read: ", exception.what())};
  }
}

}  // namespace brigade
