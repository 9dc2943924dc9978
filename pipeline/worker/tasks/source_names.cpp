#include "pipeline/worker/tasks/source_names.h"

#include <exception>
#include <utility>

#include "pipeline/records/source_weights.h"

namespace brigade {

Producer* SourceNames::producer(const PlanStage& source) {
  if (!source.indexed || !open_) return nullptr;
  auto found = producers_.find(source.name);
  if (found == producers_.end()) {
    found = producers_.emplace(source.name, nullptr).first;
    try {
      if (auto opened = open_(source)) found->second = std::move(*opened);
    } catch (const std::exception&) {
    }
  }
  return found->second.get();
}

std::string SourceNames::name(const PlanStage& source, std::uint64_t id) {
  try {
    const Producer* const opened = producer(source);
    return opened == nullptr ? "" : opened->describe(id);
  } catch (const std::exception&) {
    producers_[source.name] = nullptr;
    return "";
  }
}

const Draws* SourceNames::draws(const PlanStage& source, std::uint64_t found) {
  if (!is_drawn(source)) return nullptr;
  if (const Draws* of_open = draws_of(producer(source))) return of_open;
  auto known = draws_.find(source.name);
  if (known == draws_.end()) {
    known = draws_.emplace(source.name, std::nullopt).first;
    if (auto made = draws_of_file(source, found)) known->second = std::move(*made);
  }
  return known->second ? &*known->second : nullptr;
}

}  // namespace brigade
