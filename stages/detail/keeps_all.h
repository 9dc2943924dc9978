#pragma once

// For a producer whose type may drop samples, to declare that this one does not.

namespace brigade {

class KeepsAll {
 public:
  virtual ~KeepsAll() = default;

  /// Whether every index has a sample. After open(); may read all that there is to read.
  virtual bool keeps_all() const = 0;
};

}  // namespace brigade
