#pragma once

// The classes of a source's samples, known without reading
// the samples: for `weights:` by class and `repeat_factor:`.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// Base of a Producer whose samples have one label each.
class TellsLabels {
 public:
  virtual ~TellsLabels() = default;
  /// Called after open(): label of sample `index` in [0, size()), as read() outputs it. An error if
  /// this sample has no label.
  virtual Result<std::int64_t> label_of(std::uint64_t index) = 0;
  /// The names of classes 0, 1, ...; empty: they have no names.
  virtual std::vector<std::string> label_names() const { return {}; }
};

}  // namespace brigade
