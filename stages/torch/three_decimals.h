#pragma once

#include <iomanip>
#include <sstream>
#include <string>

namespace brigade {

/// "0.976"
inline std::string three_decimals(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << value;
  return text.str();
}

}  // namespace brigade
