#include <brigade/skipped_inputs.h>

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::size_t kExamplesMax = 3;
constexpr std::size_t kExampleBytesMax = 32;

}  // namespace

std::string_view skip_reason_name(SkipReason why) {
  switch (why) {
    case SkipReason::limit:
      return "limit";
    case SkipReason::ranks:
      return "ranks";
    case SkipReason::uneven:
      return "uneven";
    case SkipReason::hidden:
      return "hidden";
    case SkipReason::no_match:
      return "no_match";
    case SkipReason::no_file:
      return "no_file";
    case SkipReason::skip:
      return "skip";
    case SkipReason::split:
      return "split";
    case SkipReason::blank:
      return "blank";
  }
  return "";
}

void SkipTally::add(SkipReason why, std::string_view what, std::string_view example) {
  add(why, what, 1, example);
}

void SkipTally::add(const SkipTally& other) {
  for (const Kind& kind : other.kinds_) {
    add(kind.why, kind.what, kind.count, "");
    for (const std::string& example : kind.examples) add(kind.why, kind.what, 0, example);
  }
}

void SkipTally::add(SkipReason why, std::string_view what, std::uint64_t count,
                    std::string_view example) {
  const auto same = [&](const Kind& kind) { return kind.why == why && kind.what == what; };
  auto kind = std::find_if(kinds_.begin(), kinds_.end(), same);
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {why, std::string(what), 0, {}});
  kind->count += count;
  if (example.empty() || kind->examples.size() == kExamplesMax) return;
  example = example.substr(0, kExampleBytesMax);
  if (std::find(kind->examples.begin(), kind->examples.end(), example) == kind->examples.end())
    kind->examples.emplace_back(example);
}

std::vector<SkippedInputs> SkipTally::list() const {
  std::vector<SkippedInputs> all;
  for (const Kind& kind : kinds_) {
    std::vector<std::string> examples;
    for (const std::string& example : kind.examples) examples.push_back(quote(example));
    all.push_back(
        {kind.why, kind.count,
         concat(kind.what, examples.empty() ? "" : concat(" (", join(examples, ", "), ")"))});
    if (all.size() == kSkipReasonsMax) break;
  }
  return all;
}

}  // namespace brigade
