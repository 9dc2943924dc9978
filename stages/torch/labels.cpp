#include "stages/torch/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <brigade/text.h>

namespace brigade {
namespace {

Result<void> check_numbers(const Inputs& in, std::int64_t classes) {
  const auto labels = in["label"].as<std::int64_t>();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] >= 0 && labels[row] < classes) continue;
    return Error{concat("sample ", in.info(static_cast<std::int64_t>(row)).id, " has label ",
                        labels[row], "; with classes: ", classes, " labels must be 0 to ",
                        classes - 1)};
  }
  return {};
}

Result<void> check_shares(const Inputs& in, std::int64_t classes) {
  const auto all = in["label"].as<float>();
  for (std::int64_t row = 0; row < in.samples(); ++row) {
    const auto shares =
        all.subspan(static_cast<std::size_t>(row * classes), static_cast<std::size_t>(classes));
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    const float least = *std::min_element(shares.begin(), shares.end());
    if (least >= 0 && std::abs(sum - 1) <= kShareErrorMax) continue;  // not a number: neither
    return Error{concat("sample ", in.info(row).id, " has a label with shares that add up to ", sum,
                        ", smallest: ", least, "; shares must be 0 or more and add up to 1")};
  }
  return {};
}

}  // namespace

Result<void> check_labels(const Inputs& in, std::int64_t classes) {
  return in["label"].dtype() == i64 ? check_numbers(in, classes) : check_shares(in, classes);
}

}  // namespace brigade
