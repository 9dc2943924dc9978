#include "pipeline/config/language/subset_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

constexpr std::size_t kPartsMax = 16;  // a sample is found through as many steps
constexpr std::string_view kSeed = "seed";

bool read_whole(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool looks_like_share(std::string_view text) {
  return text.find_first_of(".%") != std::string_view::npos;
}

/// What is wrong with one entry of `split:`; empty: it is in `out`.
std::string take_entry(const YamlEntry& entry, Split& out) {
  if (!is_name(entry.key)) return concat(quote(entry.key), " is not a valid part name");
  if (!entry.value.is_scalar())
    return concat("expected a share such as 0.9 or 90%, found ", describe(entry.value));
  if (entry.key == kSeed)
    return read_whole(entry.value.text, out.seed)
               ? ""
               : concat("`seed` takes a whole number, found ", quote(entry.value.text));
  const auto share = parse_share(entry.value.text);
  if (!share) return share.error().message;
  out.shares.push_back({entry.key, *share});
  return "";
}

}  // namespace

Result<SampleLimit> parse_limit(std::string_view text) {
  SampleLimit limit;
  if (read_whole(text, limit.samples) && limit.samples > 0 && limit.samples <= kNumbersMax)
    return limit;
  limit.samples = 0;
  const bool share = looks_like_share(text);
  const auto found = parse_share(text);
  if (share && found) {
    limit.share = *found;
    return limit;
  }
  return Error{concat("expected a number of samples of at least 1, or a share such as 10% or 0.1, ",
                      "found ", quote(text), share ? ": " + found.error().message : "")};
}

std::string limit_text(const SampleLimit& limit) {
  return limit.share != 0 ? print_share(limit.share) : concat(limit.samples);
}

bool parse_limit(const YamlEntry& entry, const KeySpec& key, SpecReader& read, SampleLimit& out) {
  std::vector<std::string> help;
  if (entry.value.is_scalar()) {
    if (const auto limit = parse_limit(entry.value.text)) {
      out = *limit;
      return true;
    }
    const auto share = parse_share(entry.value.text);
    if (!share && looks_like_share(entry.value.text)) help = {share.error().message};
  }
  read.unexpected(entry, key, std::move(help));
  return false;
}

bool parse_split(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Split& out) {
  if (!entry.value.is_map()) {
    read.unexpected(entry, key, {"for example `split: {train: 0.9, seed: 1}` and `part: train`"});
    return false;
  }
  Split split;
  for (const YamlEntry& one : entry.value.entries) {
    if (one.value.is_null()) continue;
    const std::string problem = take_entry(one, split);
    if (problem.empty()) continue;
    read.error(is_name(one.key) ? one.value.span : one.key_span, concat("`split`: ", problem));
    return false;
  }
  std::uint64_t all = 0;
  for (const SplitShare& one : split.shares) all += one.share;
  std::string problem;
  if (split.shares.empty()) problem = "expected at least one part";
  if (split.shares.size() > kPartsMax) problem = concat("it has more than ", kPartsMax, " parts");
  if (problem.empty() && all > kWholeShare) problem = "the shares add up to more than 100%";
  if (!problem.empty()) {
    read.error(entry.value.span, concat("`split`: ", problem),
               {"for example `split: {train: 0.9, seed: 1}`; the rest is one more part"});
    return false;
  }
  // Two stages that write the same shares in another order mean the same parts.
  std::sort(split.shares.begin(), split.shares.end(),
            [](const SplitShare& a, const SplitShare& b) { return a.name < b.name; });
  out = std::move(split);
  return true;
}

}  // namespace brigade
