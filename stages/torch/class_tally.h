#pragma once

// The accuracy of each class on the test images of one epoch, by
// their labels. Sums stay on the device until they are requested.

#include <ATen/core/Tensor.h>
#include <torch/serialize/archive.h>

#include <cstdint>
#include <string>
#include <vector>

namespace brigade {

/// Numbers of classes [B]; of shares [B, classes] the largest.
inline at::Tensor classes_of(const at::Tensor& labels) {
  return labels.dim() == 1 ? labels : labels.argmax(1);
}

class ClassTally {
 public:
  /// Nothing is counted where there are no names.
  ClassTally() = default;
  ClassTally(std::vector<std::string> names, std::int64_t classes);

  bool counts() const { return !names_.empty(); }
  /// i64 [B] numbers of classes; bool [B] whether the answers were right.
  void add(const at::Tensor& classes, const at::Tensor& right);
  void begin_anew() { seen_ = right_ = at::Tensor(); }

  struct Share {
    std::string name;
    double accuracy = 0;
  };
  /// Of the classes that came, in the order of their numbers. Waits for the device.
  std::vector<Share> accuracies() const;

  void save(torch::serialize::OutputArchive& archive) const;
  /// What there is of it in the archive.
  void load(torch::serialize::InputArchive& archive);

 private:
  std::vector<std::string> names_;
  std::int64_t classes_ = 0;
  at::Tensor seen_;  // i64 [classes]; undefined: none yet
  at::Tensor right_;
};

/// "cross 0.812, box 0.901": the few with the least accuracy, the worst first.
std::string least_accurate(std::vector<ClassTally::Share> shares);

}  // namespace brigade
