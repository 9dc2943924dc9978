#include "pipeline/state/position.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include <brigade/text.h>
#include "base/json.h"
#include "stages/api/npy_trailer.h"

namespace brigade {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kVersion = 3;
constexpr std::uint64_t kStateVersion = 1;
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
  Json root = {{"run", position.run},
               {"digest", position.digest},
               {"queues", queues},
               {"epoch_ends_told", position.epoch_ends_told},
               {"samples", position.samples},
               {"sources", sources},
               {"quarantined", to_json(position.quarantined)},
               {"skipped", to_json(position.skipped)}};
  if (!position.identity.empty()) root["identity"] = position.identity;
  if (!position.libraries.empty()) root["libraries"] = position.libraries;
  return root;
}

std::uint64_t number(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned()) throw std::out_of_range(concat(key, " is not a number"));
  return value.get<std::uint64_t>();
}

const Json& list(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_array()) throw std::out_of_range(concat(key, " is not a list"));
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
  position.identity = object.value("identity", "");
  if (!position.identity.empty() && position.identity.size() != kIdentityDigits)
    throw std::out_of_range("identity has the wrong length");
  position.libraries = object.value("libraries", "");
  return position;
}

void check_version(const Json& root, const char* key, std::uint64_t expected) {
  const std::uint64_t version = number(root, key);
  if (version != expected)
    throw std::out_of_range(concat("it has version ", version, ", expected ", expected));
}

Json order_to_json(const std::string& order) {
  Json lines = Json::array();
  for (const std::string_view line : split(order, '\n'))
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string read_order(const Json& root) {
  std::string order;
  for (const Json& lines : list(root, "order"))
    for (const std::string_view line : split(lines.get_ref<const std::string&>(), '\n'))
      if (!line.empty()) order.append(line).append("\n");
  return order;
}

PositionFile file_of(const Json& root) {
  check_version(root, "brigade_position", kVersion);
  PositionFile file;
  file.stage = root.at("stage").get<std::string>();
  file.order = read_order(root);
  for (const Json& entry : list(root, "entries")) file.entries.push_back(read_position(entry));
  if (file.entries.empty() || file.entries.size() > kEntriesMax)
    throw std::out_of_range("its number of entries is out of range");
  return file;
}

RunState state_of(const Json& root) {
  check_version(root, "brigade_state", kStateVersion);
  RunState state;
  const std::uint64_t detail = number(root, "detail");
  if (detail > static_cast<std::uint64_t>(OrderDetail::graph))
    throw std::out_of_range("detail is out of range");
  state.detail = static_cast<OrderDetail>(detail);
  state.order = read_order(root);
  for (const Json& one : list(root, "consumers"))
    state.consumers.push_back({one.at("stage").get<std::string>(), read_position(one)});
  return state;
}

template <class Value>
Result<Value> read_json(std::string_view text, Value (*read)(const Json&)) {
  const auto json = parse_json<Json>(text);
  if (!json) return Error{concat("it cannot be read: it ", json.error().message)};
  try {
    return read(*json);
  } catch (const std::exception& exception) {
    return Error{concat("it cannot be read: ", exception.what())};
  }
}

}  // namespace

std::string position_to_json(const PositionFile& file) {
  Json entries = Json::array();
  for (const Position& entry : file.entries) entries.push_back(to_json(entry));
  const Json root = {{"brigade_position", kVersion},
                     {"stage", file.stage},
                     {"entries", entries},
                     {"order", order_to_json(file.order)}};
  // Names and parameters may be any bytes.
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<PositionFile> position_from_json(std::string_view text) { return read_json(text, file_of); }

std::string state_to_json(const RunState& state) {
  Json consumers = Json::array();
  for (const auto& [stage, position] : state.consumers) {
    Json one = {{"stage", stage}};
    one.update(to_json(position));
    consumers.push_back(std::move(one));
  }
  const Json root = {{"brigade_state", kStateVersion},
                     {"consumers", consumers},
                     {"detail", static_cast<std::uint64_t>(state.detail)},
                     {"order", order_to_json(state.order)}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunState> state_from_json(std::string_view text) { return read_json(text, state_of); }

}  // namespace brigade
