#include "pipeline/replica/source_names.h"

#include <exception>

namespace brigade {

std::string SourceNames::name(const PlanStage& source, std::uint64_t id) {
  if (!source.indexed || !open_) return "";
  auto found = producers_.find(source.name);
  try {
    if (found == producers_.end()) {
      auto opened = open_(source);
      found = producers_.emplace(source.name, opened ? *opened : nullptr).first;
    }
    return found->second == nullptr ? "" : found->second->describe(id);
  } catch (const std::exception&) {
    producers_[source.name] = nullptr;
    return "";
  }
}

}  // namespace brigade
