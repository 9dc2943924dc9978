#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/language/key_table.h"

namespace brigade {
namespace {

// The n-th value is the n-th of the enum that the key's member has.
TEST(ValueTable, ValuesStandInTheOrderOfTheirEnums) {
  const auto place = [](KeyScope scope, std::string_view key, std::string_view value) {
    const auto names = value_names(scope, key);
    return std::find(names.begin(), names.end(), value) - names.begin();
  };
  EXPECT_EQ(place(KeyScope::stage, "take", "spread"), static_cast<int>(Take::spread));
  EXPECT_EQ(place(KeyScope::stage, "take", "first"), static_cast<int>(Take::first));
  EXPECT_EQ(place(KeyScope::shard, "uneven", "drop"), static_cast<int>(Uneven::drop));
}

TEST(ValueTable, EveryValueIsOfAKeyThatIsThere) {
  for (const ValueSpec& value : value_table()) {
    EXPECT_NE(find_key(value.scope, value.key), nullptr) << value.key;
    EXPECT_EQ(find_value(value.scope, value.key, value.value), &value) << value.value;
  }
  EXPECT_EQ(find_value(KeyScope::stage, "take", "last"), nullptr);
}

}  // namespace
}  // namespace brigade
