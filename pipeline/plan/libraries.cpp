#include "pipeline/plan/libraries.h"

#include <algorithm>
#include <set>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kBetween = ", ";

std::vector<std::string> items(std::string_view libraries) {
  std::vector<std::string> found;
  for (const std::string_view one : split(libraries, ',')) found.emplace_back(trim(one));
  return found;
}

std::string without(const std::vector<std::string>& these, const std::vector<std::string>& others) {
  std::vector<std::string> left;
  const auto has = [](const std::vector<std::string>& list, const std::string& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  for (const std::string& one : these)
    if (!has(others, one) && !has(left, one)) left.push_back(one);
  return join(left, kBetween);
}

}  // namespace

std::vector<PackageFacts> packages_of(const Plan& plan, const StageTypes& types,
                                      std::span<const PackageFacts> packages) {
  std::set<std::string, std::less<>> modules;
  for (const PlanStage& stage : plan.stages) {
    const StageType* const type = types.find(stage.type);
    if (type == nullptr) continue;
    modules.insert(type->module);
    for (const StageType* const link : type->links) modules.insert(link->module);
  }
  if (modules.contains("image"))  // which opens them
    for (const char* module : {"imgcodecs", "opencv_imgcodecs"}) modules.insert(module);
  std::vector<PackageFacts> found;
  for (const PackageFacts& package : packages)
    if (modules.contains(package.module)) found.push_back(package);
  return found;
}

std::string libraries_of(const std::vector<PackageFacts>& packages) {
  std::vector<std::string> all;
  for (const PackageFacts& package : packages) all.emplace_back(package.libraries);
  return join(all, kBetween);
}

std::string libraries_difference(std::string_view before, std::string_view now) {
  if (before.empty() || before == now) return "";
  const std::vector<std::string> then = items(before), here = items(now);
  const std::string gone = without(then, here), come = without(here, then);
  if (gone.empty() && come.empty()) return "";
  return concat(gone.empty() ? "none" : gone, " before, ", come.empty() ? "none" : come, " now");
}

}  // namespace brigade
