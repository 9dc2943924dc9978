#include "pipeline/worker/messages.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <brigade/text.h>
#include "base/json.h"

namespace brigade {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Throws, as reading its fields does.
json read_json(std::string_view text) {
  auto read = parse_json(text);
  if (!read) throw std::invalid_argument(concat("it ", read.error().message));
  return std::move(*read);
}

// JSON has no word for these, and a loss that became NaN is worth seeing.
json print_value(const ReportedValue& value) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return *whole;
  const double number = std::get<double>(value);
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

ReportedValue parse_value(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  const auto& word = value.get_ref<const std::string&>();
  if (word == "nan") return std::nan("");
  return word == "inf" ? HUGE_VAL : -HUGE_VAL;
}

struct Printer {
  json& out;

  void operator()(const Ready& ready) const {
    out["kind"] = "ready";
    if (ready.source_size) out["size"] = *ready.source_size;
    json list = json::array();
    for (const SkippedInputs& one : ready.skipped)
      list.push_back({static_cast<unsigned>(one.why), one.count, one.text});
    if (!list.empty()) out["skipped"] = std::move(list);
  }
  void operator()(const Failed& failed) const {
    out["kind"] = "failed";
    out["text"] = failed.message;
  }
  void operator()(const Logged& said) const {
    out["kind"] = "log";
    out["text"] = said.line;
    if (!said.once.empty()) out["once"] = said.once.substr(0, kSubjectBytesMax);
  }
  void operator()(const Reported& reported) const {
    out["kind"] = "number";
    out["text"] = reported.name;
    out["value"] = print_value(reported.value);
  }
  void operator()(const Done&) const { out["kind"] = "done"; }
  void operator()(const Quarantined& quarantined) const {
    const QuarantinedSample& sample = quarantined.sample;
    out["kind"] = "quarantined";
    out["text"] = sample.source;
    out["number"] = sample.number;
    out["epoch"] = sample.epoch;
    out["index"] = sample.index;
    out["id"] = sample.id;
  }
};

std::vector<SkippedInputs> parse_skipped(const json& list) {
  std::vector<SkippedInputs> all;
  for (const json& one : list) {
    const auto why = one.at(0).get<unsigned>();
    if (why > static_cast<unsigned>(SkipReason::split)) throw std::out_of_range("unknown reason");
    all.push_back({static_cast<SkipReason>(why), one.at(1).get<std::uint64_t>(),
                   one.at(2).get<std::string>()});
  }
  return all;
}

ReportContent parse_what(const json& in) {
  const auto kind = in.at("kind").get<std::string>();
  if (kind == "ready") {
    Ready ready;
    if (in.contains("size")) ready.source_size = in.at("size").get<std::uint64_t>();
    if (in.contains("skipped")) ready.skipped = parse_skipped(in.at("skipped"));
    return ready;
  }
  if (kind == "failed") return Failed{in.at("text").get<std::string>()};
  if (kind == "log") return Logged{in.at("text").get<std::string>(), in.value("once", "")};
  if (kind == "number")
    return Reported{in.at("text").get<std::string>(), parse_value(in.at("value"))};
  if (kind == "done") return Done{};
  if (kind == "quarantined") {
    return Quarantined{{in.at("number").get<std::uint64_t>(), in.at("epoch").get<std::uint64_t>(),
                        in.at("index").get<std::uint64_t>(), in.at("id").get<std::uint64_t>(),
                        in.at("text").get<std::string>()}};
  }
  throw std::out_of_range("unknown kind " + kind);
}

}  // namespace

std::string print_role(const WorkerRole& role) {
  json rings = json::array();
  for (const RingGrant& ring : role.rings) {
    rings.push_back({{"stage", ring.stage.value()}, {"fd", ring.fd}, {"write", ring.writable}});
    if (ring.cache_fd >= 0) rings.back()["kept"] = ring.cache_fd;
  }
  json shared = json::array();
  for (const SharedGrant& one : role.shared)
    shared.push_back({{"tensor", one.tensor}, {"fd", one.fd}, {"guarded", one.guarded}});
  json device = json::array();
  for (const DeviceGrant& one : role.device)
    device.push_back({{"stage", one.stage.value()}, {"fd", one.fd}, {"write", one.writable}});
  return dump({{"name", role.name},
               {"stage", role.stage.value()},
               {"replica", role.replica},
               {"number", role.number},
               {"supervisor", role.supervisor},
               {"control", role.control_fd},
               {"plan", role.plan_fd},
               {"report", role.report_fd},
               {"spins", role.spins},
               {"rings", rings},
               {"shared", shared},
               {"device", device},
               {"memory", role.memory_fd},
               {"libraries", role.libraries},
               {"source_libraries", role.source_libraries},
               {"contract", role.contract}});
}

Result<WorkerRole> parse_role(std::string_view text) {
  try {
    const json in = read_json(text);
    WorkerRole role;
    role.name = in.at("name").get<std::string>();
    role.stage = StageNumber(in.at("stage").get<int>());
    role.replica = in.at("replica").get<int>();
    role.number = in.at("number").get<int>();
    role.supervisor = in.at("supervisor").get<int>();
    role.control_fd = in.at("control").get<int>();
    role.plan_fd = in.at("plan").get<int>();
    role.report_fd = in.at("report").get<int>();
    role.spins = in.at("spins").get<int>();
    for (const json& ring : in.at("rings")) {
      role.rings.push_back({StageNumber(ring.at("stage").get<int>()), ring.at("fd").get<int>(),
                            ring.at("write").get<bool>(), ring.value("kept", -1)});
    }
    for (const json& one : in.at("shared"))
      role.shared.push_back(
          {one.at("tensor").get<int>(), one.at("fd").get<int>(), one.at("guarded").get<bool>()});
    for (const json& one : in.at("device"))
      role.device.push_back({StageNumber(one.at("stage").get<int>()), one.at("fd").get<int>(),
                             one.at("write").get<bool>()});
    role.memory_fd = in.at("memory").get<int>();
    role.libraries = in.at("libraries").get<std::vector<std::string>>();
    role.source_libraries = in.at("source_libraries").get<std::vector<std::string>>();
    role.contract = in.at("contract").get<std::uint64_t>();
    return role;
  } catch (const std::exception& exception) {
    return Error{concat("the variable ", kRoleVariable, " is set by a supervisor for its workers ",
                        "but holds no valid role (", exception.what(), "); unset it")};
  }
}

std::string print_report(const ReportContent& report) {
  json out = json::object();
  std::visit(Printer{out}, report);
  std::string text = dump(out);
  while (text.size() > kReportBytesMax && out.contains("skipped") && !out["skipped"].empty()) {
    out["skipped"].erase(out["skipped"].size() - 1);
    text = dump(out);
  }
  if (text.size() <= kReportBytesMax || !out.contains("text")) return text;
  auto message = out["text"].get<std::string>();
  while (text.size() > kReportBytesMax) {
    // Escaped characters take up to six bytes, so cut by what is too long and look again.
    const std::size_t excess = std::max<std::size_t>((text.size() - kReportBytesMax) / 6, 8);
    message.resize(message.size() - excess);
    out["text"] = message + "...";
    text = dump(out);
  }
  return text;
}

Result<ReportContent> parse_report(std::string_view text) {
  try {
    return parse_what(read_json(text));
  } catch (const std::exception& exception) {
    return Error{concat("a worker sent a report that cannot be read: ", exception.what())};
  }
}

}  // namespace brigade
