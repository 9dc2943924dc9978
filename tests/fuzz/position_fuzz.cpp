// Text as the file of a position, or as the state of a program's run: an error in one line, or one
// that says the same when it is written and read again.

#include <brigade/check.h>
#include "pipeline/state/checkpoint_files.h"
#include "pipeline/state/position.h"
#include "pipeline/state/run_state.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

template <class Value, class Read, class Write>
void check(std::string_view text, Read read, Write write) {
  const Result<Value> value = read(text);
  if (!value) {
    BRIGADE_CHECK(!value.error().message.empty());
    return;
  }
  const Result<Value> again = read(write(*value));
  BRIGADE_CHECK(again.ok(), again.ok() ? "" : again.error().message);
  BRIGADE_CHECK(*again == *value);
}

}  // namespace

void fuzz(std::string_view text) {
  // Behind the digests, which no fuzzer finds, and with them.
  check<PositionFile>(text, position_from_json, position_to_json);
  check<PositionFile>(text, position_from_bytes, position_to_bytes);
  check<RunState>(text, state_from_json, state_to_json);
  check<RunState>(text, state_from_bytes, state_to_bytes);
}

}  // namespace brigade
