#pragma once

// The classes of a source's samples, known without reading
// the samples: for `weights:` by class and `repeat_factor:`.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// What a Producer is, too, if its samples have a label each.
class TellsLabels {
 public:
  virtual ~TellsLabels() = default;
  /// After open(): of sample `index` in [0, size()), as read() gives it. An error where this sample
  /// has none.
  virtual Result<std::int64_t> label_of(std::uint64_t index) = 0;
  /// The names of classes 0, 1, ...; none: they have no names.
  virtual std::vector<std::string> label_names() const { return {}; }
};

}  // namespace brigade
