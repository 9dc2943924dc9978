#pragma once

// The identity of a sample of the stream: in a message, in a batch, in the memory of the graph.

#include <cstdint>

namespace brigade {

struct SampleInfo {
  std::uint64_t number = 0;  ///< position in the stream through all epochs (padding included)
  std::uint64_t index = 0;   ///< position in its epoch
  std::uint64_t id = 0;  ///< index in the source: the same sample has the same id in every epoch
  std::uint32_t epoch = 0;
};

}  // namespace brigade
