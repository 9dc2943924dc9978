#pragma once

// What a producer says that may drop samples by its type, and knows whether it will.

namespace brigade {

class KeepsAll {
 public:
  virtual ~KeepsAll() = default;

  /// Whether every index has a sample. After open(); may read all that there is to read.
  virtual bool keeps_all() const = 0;
};

}  // namespace brigade
