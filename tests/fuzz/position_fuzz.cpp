// Text as the file of a position: an error in one line, or a position that says the same when it is
// written and read again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <brigade/check.h>
#include "pipeline/checkpoint/position.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace brigade;
  const auto file = position_from_json({reinterpret_cast<const char*>(data), size});
  if (!file) {
    BRIGADE_CHECK(!file.error().message.empty());
    return 0;
  }
  BRIGADE_CHECK(!file->entries.empty());
  const auto again = position_from_json(position_to_json(*file));
  BRIGADE_CHECK(again.ok(), again.ok() ? "" : again.error().message);
  BRIGADE_CHECK(*again == *file);
  return 0;
}
