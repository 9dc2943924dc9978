#include "stages/torch/class_tally.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "stages/torch/tally.h"

namespace brigade {
namespace {

constexpr std::size_t kLeastShown = 5;

at::Tensor sum_of(const at::Tensor& so_far, const at::Tensor& more) {
  return so_far.defined() ? so_far + more : more;
}

}  // namespace

ClassTally::ClassTally(std::vector<std::string> names, std::int64_t classes)
    : names_(std::move(names)), classes_(classes) {
  for (auto number = static_cast<std::int64_t>(names_.size()); counts() && number < classes;
       ++number)
    names_.push_back(concat("class ", number));
}

void ClassTally::add(const at::Tensor& classes, const at::Tensor& right) {
  if (!counts()) return;
  seen_ = sum_of(seen_, at::bincount(classes, {}, classes_));
  right_ = sum_of(right_, at::bincount(classes.masked_select(right), {}, classes_));
}

std::vector<ClassTally::Share> ClassTally::accuracies() const {
  std::vector<Share> shares;
  if (!seen_.defined()) return shares;
  const at::Tensor seen = seen_.cpu();
  const at::Tensor right = right_.cpu();
  for (std::int64_t number = 0; number < classes_; ++number) {
    const auto samples = static_cast<double>(seen.data_ptr<std::int64_t>()[number]);
    if (samples == 0) continue;
    shares.push_back({names_[static_cast<std::size_t>(number)],
                      static_cast<double>(right.data_ptr<std::int64_t>()[number]) / samples});
  }
  return shares;
}

void ClassTally::save(torch::serialize::OutputArchive& archive) const {
  if (!counts()) return;
  c10::List<std::string> names;
  for (const std::string& name : names_) names.push_back(name);
  archive.write("classes", c10::IValue(names));
  if (!seen_.defined()) return;
  archive.write("class_samples", seen_, true);
  archive.write("class_hits", right_, true);
}

void ClassTally::load(torch::serialize::InputArchive& archive) {
  if (!counts()) return;
  if (archive.try_read("class_samples", seen_, true)) archive.read("class_hits", right_, true);
}

std::string least_accurate(std::vector<ClassTally::Share> shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.accuracy < b.accuracy; });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(shares.size(), kLeastShown); ++i)
    texts.push_back(concat(shares[i].name, ' ', three_decimals(shares[i].accuracy)));
  return join(texts, ", ");
}

}  // namespace brigade
