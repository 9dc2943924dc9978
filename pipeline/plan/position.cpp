#include "pipeline/plan/position.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace brigade {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::size_t kEntriesMax = 2;

Json to_json(const std::vector<SamplePlace>& places) {
  Json list = Json::array();
  for (const SamplePlace& place : places)
    list.push_back({{"stage", place.stage},
                    {"lane", place.lane},
                    {"epoch", place.epoch},
                    {"index", place.index}});
  return list;
}

Json to_json(const Position& position) {
  Json lanes = Json::array(), sources = Json::array();
  for (const LanePosition& lane : position.lanes)
    lanes.push_back({{"epoch", lane.epoch}, {"index", lane.index}});
  for (const SourceFacts& source : position.sources)
    sources.push_back({{"stage", source.stage},
                       {"samples", source.samples},
                       {"fingerprint", source.fingerprint}});
  return {{"run", position.run},
          {"digest", position.digest},
          {"lanes", lanes},
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

std::vector<SamplePlace> places(const Json& object, const char* key) {
  std::vector<SamplePlace> found;
  for (const Json& place : list(object, key))
    found.push_back({place.at("stage").get<std::string>(), number(place, "lane"),
                     number(place, "epoch"), number(place, "index")});
  return found;
}

Position position_of(const Json& object) {
  Position position;
  position.run = object.at("run").get<std::string>();
  position.digest = object.at("digest").get<std::string>();
  for (const Json& lane : list(object, "lanes"))
    position.lanes.push_back({number(lane, "epoch"), number(lane, "index")});
  position.epoch_ends_told = number(object, "epoch_ends_told");
  position.samples = number(object, "samples");
  for (const Json& source : list(object, "sources"))
    position.sources.push_back({source.at("stage").get<std::string>(), number(source, "samples"),
                                number(source, "fingerprint")});
  position.quarantined = places(object, "quarantined");
  if (object.contains("skipped")) position.skipped = places(object, "skipped");
  return position;
}

PositionFile file_of(const Json& root) {
  if (number(root, "brigade_position") != kVersion)
    throw std::out_of_range(concat("it has another version than ", kVersion));
  PositionFile file;
  file.stage = root.at("stage").get<std::string>();
  for (const Json& line : list(root, "order")) file.order += line.get<std::string>() + "\n";
  for (const Json& entry : list(root, "entries")) file.entries.push_back(position_of(entry));
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
