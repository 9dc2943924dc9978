#pragma once

// What libFuzzer calls. The one file of a fuzzer says what it does with the input.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brigade {

void fuzz(std::string_view input);

}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  brigade::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
