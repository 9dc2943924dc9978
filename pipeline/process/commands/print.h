#pragma once

// What commands write: results to standard output, messages to standard error. A reader that has
// gone (`brigade plan | head`) is no error.

#include <string_view>

namespace brigade {

void print(std::string_view text);
void print_error(std::string_view text);

}  // namespace brigade
