#include "pipeline/config/language/policy_parser.h"
#include "pipeline/config/language/spec_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class PolicyParser : public ReadsYaml {
 protected:
  const YamlEntry& entry(std::string text) { return read(std::move(text)).entries.at(0); }
  /// Nothing where it was refused.
  template <class Value>
  std::optional<Value> parse(bool (*function)(const YamlEntry&, const KeySpec&, SpecReader&,
                                              Value&),
                             std::string text) {
    const YamlEntry& given = entry(std::move(text));
    Value value;
    if (!function(given, *find_key(KeyScope::stage, given.key), read_, value)) return std::nullopt;
    return value;
  }

  SpecReader read_{"", diagnostics_};
};

TEST_F(PolicyParser, OnErrorStopsOrSkips) {
  EXPECT_FALSE(parse(parse_on_error, "on_error: stop\n")->skip);
  const OnError count = *parse(parse_on_error, "on_error: {skip: 10}\n");
  EXPECT_TRUE(count.skip);
  EXPECT_EQ(count.count_max, 10u);
  EXPECT_EQ(count.percent_max, 0);
  const OnError percent = *parse(parse_on_error, "on_error: {skip: 0.3%}\n");
  EXPECT_TRUE(percent.skip);
  EXPECT_EQ(percent.percent_max, 0.3) << "as written, not 0.30000000000000004";
  EXPECT_EQ(percent.count_max, 0u);
  EXPECT_EQ(parse(parse_on_error, "on_error: {skip: 10%}\n")->count_max, 0u);
  EXPECT_TRUE(diagnostics_.ok());
}

TEST_F(PolicyParser, OnErrorNeedsANumber) {
  for (const char* text :
       {"on_error: skip\n", "on_error: {skip: 0}\n", "on_error: {skip: -1}\n",
        "on_error: {skip: 0%}\n", "on_error: {skip: 101%}\n", "on_error: {}\n",
        "on_error: {skip: all}\n", "on_error: [skip]\n", "on_error: {skip: }\n"}) {
    const std::size_t before = diagnostics_.errors();
    EXPECT_FALSE(parse(parse_on_error, text)) << text;
    EXPECT_GT(diagnostics_.errors(), before) << text;
  }
}

TEST_F(PolicyParser, RestartIsAPolicyOrAMapping) {
  EXPECT_EQ(parse(parse_restart, "restart: never\n")->policy, RestartSpec::Policy::never);
  EXPECT_TRUE(diagnostics_.ok());
  const RestartSpec spec =
      *parse(parse_restart,
             "restart: {policy: always, backoff: 1s, burst: 7, within: 1m, then: degrade}\n");
  EXPECT_EQ(spec.policy, RestartSpec::Policy::always);
  EXPECT_EQ(spec.backoff_ns, 1'000'000'000);
  EXPECT_EQ(spec.burst, 7);
  EXPECT_EQ(spec.within_ns, 60'000'000'000);
  EXPECT_TRUE(spec.degrade);
}

TEST_F(PolicyParser, AMappingWithoutAPolicyRestartsOnFailure) {
  EXPECT_EQ(parse(parse_restart, "restart: {burst: 7}\n")->policy, RestartSpec::Policy::on_failure);
}

TEST_F(PolicyParser, StallTimeoutIsATimeOrAMapping) {
  EXPECT_EQ(*parse(parse_stall, "stall_timeout: 2s\n"), (StallSpec{2'000'000'000, false}));
  EXPECT_EQ(*parse(parse_stall, "stall_timeout: {after: 3s, then: abort}\n"),
            (StallSpec{3'000'000'000, true}));
  EXPECT_EQ(*parse(parse_stall, "stall_timeout: {then: warn}\n"), StallSpec{});
  EXPECT_TRUE(diagnostics_.ok());
  for (const char* bad : {"stall_timeout: soon\n", "stall_timeout: 0s\n", "stall_timeout: [1s]\n",
                          "stall_timeout: {after: 0s}\n", "stall_timeout: {then: kill}\n"}) {
    const std::size_t before = diagnostics_.errors();
    parse(parse_stall, bad);
    EXPECT_GT(diagnostics_.errors(), before) << bad;
  }
}

TEST_F(PolicyParser, CheckpointsComeEverySoManySamplesOrSoOften) {
  const KeySpec& key = *find_key(KeyScope::checkpoint, "every");
  const auto every = [&](const char* text) { return parse_every(entry(text), key, read_); };
  EXPECT_EQ(every("every: 1000\n")->value, (CheckpointEvery{1000, 0}));
  EXPECT_EQ(every("every: 90s\n")->value, (CheckpointEvery{0, 90'000'000'000}));
  EXPECT_TRUE(diagnostics_.ok());
  for (const char* bad : {"every: soon\n", "every: 0\n", "every: 0s\n", "every: -5\n",
                          "every: [1]\n", "every: 1.5\n", "every: {samples: 3}\n", "every: 8761h\n",
                          "every: 2562047h\n", "every: 1us\n", "every: 18446744073709551615\n"})
    EXPECT_FALSE(every(bad)) << bad;
}

TEST_F(PolicyParser, Devices) {
  const KeySpec& key = *find_key(KeyScope::stage, "device");
  const auto device = [&](const std::string& text) {
    return parse_device(entry("device: " + text + "\n"), key, read_);
  };
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:7"})
    EXPECT_EQ(device(good)->value, good);
  for (const char* bad : {"gpu", "\"cuda:\"", "cuda:x", "cuda:-1", "[cpu]", "CPU"})
    EXPECT_FALSE(device(bad)) << bad;
}

TEST_F(PolicyParser, CpusAreSortedOnce) {
  EXPECT_EQ(parse(parse_cpus, "cpus: [3, 0-2, 1]\n"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(parse(parse_cpus, "cpus: 0-1,5\n"), (std::vector<int>{0, 1, 5}));
  EXPECT_TRUE(diagnostics_.ok());
  for (const char* bad : {"[]", "x", "3-1", "-1", "0-999999999", "1-2-3", "{a: 1}", "\"\""})
    EXPECT_FALSE(parse(parse_cpus, std::string("cpus: ") + bad + "\n")) << bad;
}

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
  EXPECT_EQ(read_.whole_or_auto(entry("chunk", "auto"), key("chunk"))->value, 0u);
  EXPECT_EQ(read_.whole_or_auto(entry("chunk", "64"), key("chunk"))->value, 64u);
  EXPECT_FALSE(read_.whole_or_auto(entry("chunk", "0"), key("chunk")));
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

// Sums and doublings of durations stay far from the end of 64 bits.
TEST_F(SpecReaderTest, DurationsAndSizesInTheirRange) {
  const KeySpec& backoff = key("backoff", KeyScope::restart);
  EXPECT_TRUE(read_.duration(entry("backoff", "8760h"), backoff));
  for (const char* text :
       {"8761h", "2562047h", "9223372036854775807ns", "9223372036854775808ns", "-1s"})
    EXPECT_FALSE(read_.duration(entry("backoff", text), backoff)) << text;
  const KeySpec& memory = key("memory", KeyScope::top);
  EXPECT_TRUE(read_.size(entry("memory", "1MiB"), memory));
  for (const char* text : {"0", "1023KiB", "9223372036854775808"})
    EXPECT_FALSE(read_.size(entry("memory", text), memory)) << text;
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
