#pragma once

// What a source found, what of it each epoch of this process gets, and why not the rest: the audit
// of what never became a row. found = gives + all that is left out. Plain data, pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stages/api/left_out.h"

namespace brigade {

struct SourceBook {
  std::string name;                    ///< of the stage
  std::optional<std::uint64_t> gives;  ///< per epoch; nothing: a stream, whose length nobody knows
  std::vector<LeftOut> left_out;
  friend bool operator==(const SourceBook&, const SourceBook&) = default;
};

/// Nothing of a stream.
std::optional<std::uint64_t> found_by(const SourceBook& book);

/// "source train: found 40, gives 10, left out 30: 30 keys without an image".
std::string source_text(const SourceBook& book);

/// Whether something is left out that nobody has asked for.
bool is_surprising(const SourceBook& book);

}  // namespace brigade
