#include "pipeline/config/spec_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;

class SpecReaderTest : public testing::Test {
 protected:
  const KeySpec& key(std::string_view name, KeyScope scope = KeyScope::stage) const {
    return *find_key(scope, name);
  }
  static YamlEntry entry(std::string_view name, YamlNode value) {
    value.span.mark = {0, 1, 1};
    return {std::string(name), {}, std::move(value)};
  }
  static YamlEntry entry(std::string_view name, const char* text) {
    return entry(name, YamlNode::scalar(text));
  }
  std::size_t errors() const { return diagnostics_.errors(); }

  Diagnostics diagnostics_;
  SpecReader read_{"stage \"a\": ", diagnostics_};
};

TEST_F(SpecReaderTest, WholeNumbersInTheirRange) {
  EXPECT_EQ(read_.whole(entry("threads", "8"), key("threads"))->value, 8u);
  EXPECT_EQ(errors(), 0u);
  for (const char* text :
       {"0", "-1", "1025", "8.0", "1e3", "0x10", "", " 8", "99999999999999999999"})
    EXPECT_FALSE(read_.whole(entry("threads", text), key("threads"))) << text;
}

TEST_F(SpecReaderTest, AutoIsZero) {
  EXPECT_EQ(read_.whole_or_auto(entry("rows", "auto"), key("rows"))->value, 0u);
  EXPECT_EQ(read_.whole_or_auto(entry("rows", "64"), key("rows"))->value, 64u);
  EXPECT_FALSE(read_.whole_or_auto(entry("rows", "0"), key("rows")));
}

TEST_F(SpecReaderTest, FlagsAreTrueOrFalse) {
  EXPECT_TRUE(read_.flag(entry("shuffle", "true"), key("shuffle"))->value);
  EXPECT_FALSE(read_.flag(entry("shuffle", "false"), key("shuffle"))->value);
  for (const char* text : {"yes", "True", "1", ""})
    EXPECT_FALSE(read_.flag(entry("shuffle", text), key("shuffle"))) << text;
}

TEST_F(SpecReaderTest, DurationsAndSizesHaveUnits) {
  EXPECT_EQ(read_.duration(entry("stall_timeout", "1.5s"), key("stall_timeout"))->value,
            1'500'000'000);
  EXPECT_FALSE(read_.duration(entry("stall_timeout", "5"), key("stall_timeout")));
  const KeySpec& memory = key("memory", KeyScope::top);
  EXPECT_EQ(read_.size(entry("memory", "2GiB"), memory)->value, 2ull << 30);
  EXPECT_FALSE(read_.size(entry("memory", YamlNode::list()), memory));
}

TEST_F(SpecReaderTest, OneNameOrAList) {
  EXPECT_EQ(read_.names(entry("keep", "label"), key("keep"))->size(), 1u);
  YamlNode list = YamlNode::list();
  list.items = {YamlNode::scalar("a"), YamlNode::scalar("b")};
  EXPECT_EQ(read_.names(entry("keep", list), key("keep"))->size(), 2u);
  list.items.push_back(YamlNode::map());
  EXPECT_FALSE(read_.names(entry("keep", list), key("keep")));
}

TEST_F(SpecReaderTest, NamesOfStages) {
  for (const char* good : {"a", "_x", "images-2", "A_b"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", "2a", "-a", "a.b", "a b", "ä"}) EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  EXPECT_FALSE(is_name(std::string(65, 'a')));
}

TEST_F(SpecReaderTest, MessagesBeginWithTheStage) {
  read_.whole(entry("threads", "x"), key("threads"));
  ASSERT_EQ(diagnostics_.all().size(), 1u);
  EXPECT_EQ(diagnostics_.all()[0].message,
            "stage \"a\": `threads`: expected a whole number from 1 to 1024, found \"x\"");
}

}  // namespace
}  // namespace brigade
