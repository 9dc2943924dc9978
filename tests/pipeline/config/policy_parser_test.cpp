#include "pipeline/config/policy_parser.h"

#include <gtest/gtest.h>

#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

class PolicyParser : public testing::Test {
 protected:
  const YamlEntry& entry(std::string text) {
    const int file = source_.add({"g.yaml", std::move(text), "/"});
    tree_ = read_yaml(source_, file, diagnostics_).value();
    return tree_.entries.at(0);
  }
  template <class Parse>
  auto parse(Parse function, std::string text) {
    const YamlEntry& value = entry(std::move(text));
    return function(value, *find_key(KeyScope::stage, value.key), read_);
  }

  SourceText source_;
  Diagnostics diagnostics_;
  SpecReader read_{"", diagnostics_};
  YamlNode tree_;
};

TEST_F(PolicyParser, OnErrorStopsOrSkips) {
  EXPECT_FALSE(parse(parse_on_error, "on_error: stop\n")->value.skip);
  const OnError count = parse(parse_on_error, "on_error: {skip: 10}\n")->value;
  EXPECT_TRUE(count.skip);
  EXPECT_EQ(count.count_max, 10u);
  EXPECT_EQ(count.percent_max, 0);
  const OnError percent = parse(parse_on_error, "on_error: {skip: 0.3%}\n")->value;
  EXPECT_TRUE(percent.skip);
  EXPECT_EQ(percent.percent_max, 0.3) << "as written, not 0.30000000000000004";
  EXPECT_EQ(percent.count_max, 0u);
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
  EXPECT_EQ(parse(parse_restart, "restart: never\n")->value.policy, RestartSpec::Policy::never);
  EXPECT_TRUE(diagnostics_.ok());
  const RestartSpec spec =
      parse(parse_restart,
            "restart: {policy: always, backoff: 1s, burst: 7, within: 1m, then: degrade}\n")
          ->value;
  EXPECT_EQ(spec.policy, RestartSpec::Policy::always);
  EXPECT_EQ(spec.backoff_ns, 1'000'000'000);
  EXPECT_EQ(spec.burst, 7);
  EXPECT_EQ(spec.within_ns, 60'000'000'000);
  EXPECT_TRUE(spec.degrade);
}

TEST_F(PolicyParser, AMappingWithoutAPolicyRestartsOnFailure) {
  EXPECT_EQ(parse(parse_restart, "restart: {burst: 7}\n")->value.policy,
            RestartSpec::Policy::on_failure);
}

TEST_F(PolicyParser, StallTimeoutIsATimeOrAMapping) {
  EXPECT_EQ(parse(parse_stall, "stall_timeout: 2s\n")->value, (StallSpec{2'000'000'000, false}));
  EXPECT_EQ(parse(parse_stall, "stall_timeout: {after: 3s, then: abort}\n")->value,
            (StallSpec{3'000'000'000, true}));
  EXPECT_EQ(parse(parse_stall, "stall_timeout: {then: warn}\n")->value, StallSpec{});
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
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:7"})
    EXPECT_EQ(parse(parse_device, std::string("device: ") + good + "\n")->value, good);
  for (const char* bad : {"gpu", "\"cuda:\"", "cuda:x", "cuda:-1", "[cpu]", "CPU"})
    EXPECT_FALSE(parse(parse_device, std::string("device: ") + bad + "\n")) << bad;
}

TEST_F(PolicyParser, CpusAreSortedOnce) {
  EXPECT_EQ(parse(parse_cpus, "cpus: [3, 0-2, 1]\n"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(parse(parse_cpus, "cpus: 0-1,5\n"), (std::vector<int>{0, 1, 5}));
  EXPECT_TRUE(diagnostics_.ok());
  for (const char* bad : {"[]", "x", "3-1", "-1", "0-999999999", "1-2-3", "{a: 1}", "\"\""})
    EXPECT_TRUE(parse(parse_cpus, std::string("cpus: ") + bad + "\n").empty()) << bad;
}

}  // namespace
}  // namespace brigade
