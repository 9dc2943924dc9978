#pragma once

// Error messages for text that is not YAML. The library's own messages ("illegal map value") name
// neither the cause nor the fix, so the text around the place is searched for common mistakes:
// tabs, `${name}` without quotes inside { }, a missing space after a colon, indentation.

#include <string_view>

#include "pipeline/config/yaml/diagnostics.h"

namespace brigade {

/// Adds one error for a syntax error that the library reports at `mark` with `reason`.
void explain_syntax_error(const SourceText& source, const SourceMark& mark, std::string_view reason,
                          Diagnostics& diagnostics);

}  // namespace brigade
