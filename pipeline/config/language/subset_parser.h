#pragma once

// Parses `limit:` and `split:`: the part of a source that is read. Pure; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// Beside KeyUsers: producers that read by index. Caches have the other keys of these, too.
inline constexpr std::uint8_t kDividedProducers = 16;

/// "1000" samples, or a share: "10%", "0.1". Errors say what is expected.
Result<SampleLimit> parse_limit(std::string_view text);

/// Read back by parse_limit(): "1000", "10%"; "0" for none.
std::string limit_text(const SampleLimit& limit);

bool parse_limit(const YamlEntry& entry, const KeySpec& key, SpecReader& read, SampleLimit& out);

/// Shares by name, 100% together at most, and `seed`.
bool parse_split(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Split& out);

}  // namespace brigade
