#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include <brigade/text.h>
#include "pipeline/plan/plan.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

static_assert(kBatchMax == kPlanMultipleMax);
static_assert(kStagesMax == kPlanReplicasMax);

TEST(KeyTable, EachKeyStandsOnceWithHelp) {
  std::set<std::pair<KeyScope, std::string_view>> seen;
  for (const KeySpec& key : key_table()) {
    EXPECT_TRUE(seen.emplace(key.scope, key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    EXPECT_EQ(key.help.find('\n'), key.help.npos) << key.name;
    EXPECT_FALSE(key_takes(key).empty()) << key.name;
    EXPECT_EQ(find_key(key.scope, key.name), &key);
  }
}

TEST(KeyTable, NumbersHaveARange) {
  for (const KeySpec& key : key_table()) {
    if (key.type != KeyType::whole && key.type != KeyType::whole_auto) continue;
    EXPECT_LE(std::max<std::uint64_t>(key.minimum, 1), key.maximum) << key.name;
  }
}

TEST(KeyTable, DurationsAndSizesHaveARange) {
  for (const KeySpec& key : key_table()) {
    if (key.type == KeyType::size) {
      EXPECT_GT(key.minimum, 0u) << key.name;
    }
    if (key.type != KeyType::size && key.type != KeyType::duration) continue;
    EXPECT_LT(key.minimum, key.maximum) << key.name;
    if (key.type == KeyType::duration) {
      EXPECT_LE(key.maximum, kDurationMax) << key.name;
    }
  }
}

TEST(KeyTable, ChoicesHaveValuesAndValuesHaveKeys) {
  for (const KeySpec& key : key_table()) {
    if (key.type != KeyType::choice) continue;
    EXPECT_GE(value_names(key.scope, key.name).size(), 2u) << key.name;
  }
  for (const ValueSpec& value : value_table())
    EXPECT_NE(find_key(value.scope, value.key), nullptr) << value.key;
}

TEST(KeyTable, SaysWhatAKeyTakes) {
  const auto takes = [](std::string_view key) {
    return key_takes(*find_key(KeyScope::stage, key));
  };
  EXPECT_EQ(takes("replicas"), "a whole number from 1 to 256 or auto");
  EXPECT_EQ(takes("seed"), "a whole number of at least 0");
  EXPECT_EQ(takes("join"), "zip, merge or epochs");
  EXPECT_EQ(takes("shuffle"), "true or false");
}

// The golden texts of messages leave this one out, so that none of them changes with a new key.
TEST(KeyTable, AMessageListsTheKeysOfAStage) {
  const std::string messages = messages_of("stages:\n  a: {producer: synthetic, wheels: 4}\n");
  const std::string start = "  keys of a stage: ";
  const std::size_t at = messages.find(start);
  ASSERT_NE(at, messages.npos) << messages;
  std::istringstream words(messages.substr(at + start.size()));
  for (const std::string_view name : key_names(KeyScope::stage)) {
    std::string word;
    words >> word;
    ASSERT_EQ(word, name) << messages;
  }
  for (const std::string_view line : split(std::string_view(messages).substr(at), '\n'))
    EXPECT_LE(line.size(), 100u) << line;
}

// Every row reaches a reader: a value that no key takes is a mistake in each of them.
TEST(KeyTable, EveryKeyIsRead) {
  const std::string_view wrong = "{[]: 1}";
  for (const KeySpec& key : key_table()) {
    const std::string entry = concat(key.name, ": ", wrong);
    const std::string of_mapping = concat(scope_name(key.scope), ": {", entry, "}");
    std::string text = concat("stages:\n  a:\n    ", of_mapping);
    if (key.scope == KeyScope::top) text = entry;
    if (key.scope == KeyScope::checkpoint || key.scope == KeyScope::shard) text = of_mapping;
    if (key.scope == KeyScope::stage) text = concat("stages:\n  a:\n    ", entry);
    if (key.scope == KeyScope::source)
      text = concat("stages:\n  a:\n    from: {stage: b, ", entry, "}");
    const std::string messages = messages_of(text + "\n");
    EXPECT_EQ(messages.find("unknown key"), messages.npos) << text << "\n" << messages;
  }
}

}  // namespace
}  // namespace brigade
