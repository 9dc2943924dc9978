#pragma once

// Under BRIGADE_POISON a slot of an input is private memory with guards around each
// tensor, and is copied into the graph's when it is submitted: a write beside a tensor
// is detected there, instead of damaging another sample. AddressSanitizer detects it
// during the write, so there are no guards then. One slot at a time; one thread.
//
//   begin (beside end?)*

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <brigade/record.h>

namespace brigade {

class GuardedSlot {
 public:
  /// The fields, which show a slot of the ring, show memory of this from now on, filled with ones.
  void begin(Frame& frame);
  /// Where it was written beside a tensor: "beyond the end of \"x\""; empty: nowhere.
  std::string beside(const Frame& frame) const;
  /// Copies what was written into the ring.
  void end(const Frame& frame) const;

 private:
  struct Aligned {
    void operator()(std::byte* memory) const;
  };
  struct Tensor {
    std::unique_ptr<std::byte[], Aligned> memory = {};
    std::size_t bytes = 0;
    std::byte* in_ring = nullptr;

    std::byte* data() const;
  };
  std::vector<Tensor> tensors_;  // by field
};

}  // namespace brigade
