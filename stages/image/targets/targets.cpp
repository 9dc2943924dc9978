#include "stages/image/targets/targets.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

Result<std::unique_ptr<Target>> make_target(const ListedEntry& entry) {
  const TargetType* const type = find_listed(target_types(), entry.name);
  if (type == nullptr) return unknown_listed("kind", entry.name, listed_names(target_types()));
  const auto params = params_of(*type, entry.params);
  if (!params) return params.error().within(entry.name);
  return type->make(params->get());
}

/// Keypoints that lose rows with boxes follow these.
void connect(const std::vector<std::unique_ptr<Target>>& targets) {
  for (const auto& owner : targets) {
    if (owner->rows() == nullptr) continue;
    for (const std::string& name : owner->companions())
      for (const auto& other : targets)
        if (other != owner && other->follow_rows(name, *owner->rows())) owner->leave(name);
  }
}

/// Targets are companions of boxes only.
Result<void> check_companions(const Target& owner,
                              const std::vector<std::unique_ptr<Target>>& targets) {
  if (owner.rows() != nullptr) return {};
  for (const std::string& name : owner.companions())
    for (const auto& other : targets)
      if (other.get() != &owner && other->name() == name)
        return Error{concat("with: ", quote(name), " is a target itself, and only boxes ",
                            "omit other targets; remove it from the `with` of ",
                            quote(owner.name()))};
  return {};
}

}  // namespace

const std::vector<TargetType>& target_types() {
  static const std::vector<TargetType> types = {mask_target(), boxes_target(), keypoints_target()};
  return types;
}

Result<void> parse_param(const ParamValue& value, Targets& out) {
  BRIGADE_ASSIGN(out.entries, parse_listed(value, {"targets", "mask", "{boxes: {format: xywh}}"},
                                           [](const ListedEntry& entry) -> Result<void> {
                                             BRIGADE_TRY(make_target(entry));
                                             return {};
                                           }));
  return {};
}

ParamValue print_param(const Targets& value) { return print_listed(value.entries); }

std::vector<std::unique_ptr<Target>> make_targets(const Targets& targets) {
  std::vector<ListedEntry> entries = targets.entries;
  // Boxes first: keypoints may follow their rows.
  std::stable_partition(entries.begin(), entries.end(),
                        [](const ListedEntry& entry) { return entry.name == "boxes"; });
  std::vector<std::unique_ptr<Target>> made;
  for (const ListedEntry& entry : entries) made.push_back(make_target(entry).value());
  connect(made);
  return made;
}

Result<void> add_target_outputs(const Targets& targets, const Ports& in, const PictureDims& dims,
                                Ports& out) {
  const auto made = make_targets(targets);
  for (const auto& target : made) {
    auto added = check_companions(*target, made);
    if (added) added = target->add_outputs(in, dims, out);
    if (!added) return added.error().within("targets");
  }
  return {};
}

}  // namespace brigade
