#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace brigade {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(ParseSize, ReadsBytesAndBinaryUnits) {
  EXPECT_EQ(parse_size("4096").value(), 4096u);
  EXPECT_EQ(parse_size("0").value(), 0u);
  EXPECT_EQ(parse_size("12B").value(), 12u);
  EXPECT_EQ(parse_size("64MiB").value(), 64u << 20);
  EXPECT_EQ(parse_size(" 1.5 GiB ").value(), 3ull << 29);
  EXPECT_EQ(parse_size("8388607TiB").value(), 8388607ull << 40);
}

TEST(ParseSize, RefusesWhatIsNotASizeAndSaysWhatIs) {
  for (const char* text : {"", "MiB", "-1", "+1", ".5MiB", "1.MiB", "a"})
    EXPECT_THAT(parse_size(text).error().message, HasSubstr("expected a size")) << text;
  for (const char* text : {"1e3", "0x10", "1.5.2MiB", "64 mib", "1 MiB MiB"})
    EXPECT_THAT(parse_size(text).error().message, HasSubstr("unknown unit")) << text;
  EXPECT_EQ(parse_size("64MB").error().message,
            "unknown unit \"MB\" in the size \"64MB\": did you mean MiB?; units are B, KiB, MiB, "
            "GiB and TiB");
}

TEST(ParseSize, RefusesPartsOfAByteAndWhatDoesNotFit) {
  EXPECT_THAT(parse_size("1.5").error().message, HasSubstr("whole number of bytes"));
  EXPECT_THAT(parse_size("0.1KiB").error().message, HasSubstr("whole number of bytes"));
  EXPECT_THAT(parse_size("8388608TiB").error().message, HasSubstr("too large"));
  EXPECT_THAT(parse_size("9223372036854775808").error().message, HasSubstr("too large"));
  EXPECT_FALSE(parse_size("99999999999999999999999999").ok());
  EXPECT_FALSE(parse_size("0." + std::string(64, '0') + "KiB").ok());
}

TEST(ParseDuration, ReadsEveryUnitExactly) {
  EXPECT_EQ(parse_duration("7ns").value(), 7ns);
  EXPECT_EQ(parse_duration("7us").value(), 7us);
  EXPECT_EQ(parse_duration("100ms").value(), 100ms);
  EXPECT_EQ(parse_duration("0.1s").value(), 100ms);
  EXPECT_EQ(parse_duration("5 s").value(), 5s);
  EXPECT_EQ(parse_duration("2m").value(), 2min);
  EXPECT_EQ(parse_duration("0.5h").value(), 30min);
  EXPECT_EQ(parse_duration("0").value(), 0ns);
}

TEST(ParseDuration, NeedsAUnitItKnows) {
  EXPECT_EQ(parse_duration("100").error().message,
            "the duration \"100\" needs a unit: ns, us, ms, s, m or h");
  EXPECT_THAT(parse_duration("1d").error().message, HasSubstr("units are ns, us, ms, s, m and h"));
  EXPECT_THAT(parse_duration("-1s").error().message, HasSubstr("expected a duration"));
  EXPECT_THAT(parse_duration("0.5ns").error().message, HasSubstr("whole number of nanoseconds"));
  EXPECT_THAT(parse_duration("2562048h").error().message, HasSubstr("too long"));
  EXPECT_EQ(parse_duration("2562047h").value(), std::chrono::hours(2562047));
}

TEST(ParsePercentage, GivesTheFraction) {
  EXPECT_DOUBLE_EQ(parse_percentage("0.1%").value(), 0.001);
  EXPECT_DOUBLE_EQ(parse_percentage("100 %").value(), 1.0);
  EXPECT_DOUBLE_EQ(parse_percentage("0%").value(), 0.0);
  EXPECT_THAT(parse_percentage("0.1").error().message, HasSubstr("expected a percentage"));
  EXPECT_THAT(parse_percentage("100.1%").error().message, HasSubstr("above 100%"));
}

TEST(Print, IsExactAndReadsBack) {
  for (std::uint64_t bytes :
       {0ull, 1ull, 1000ull, 1024ull, 1536ull, 64ull << 20, 3ull << 29, (1ull << 63) - 1})
    EXPECT_EQ(parse_size(print_size(bytes)).value(), bytes) << print_size(bytes);
  EXPECT_EQ(print_size(64 << 20), "64MiB");
  EXPECT_EQ(print_size(1536), "1536B");
  for (std::uint64_t billionths : {1ull, 500'000ull, 100'000'000ull, 1'000'000'000ull})
    EXPECT_EQ(parse_share(print_share(billionths)).value(), billionths) << print_share(billionths);
  EXPECT_EQ(print_share(100'000'000), "10%");
  EXPECT_EQ(print_share(500'000), "0.05%");
  for (std::int64_t amount :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'000}, std::int64_t{90'000'000'000},
        std::int64_t{120'000'000'000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(parse_duration(print_duration(nanoseconds(amount))).value().count(), amount);
  EXPECT_EQ(print_duration(100ms), "100ms");
  EXPECT_EQ(print_duration(90s), "90s");
  EXPECT_EQ(print_duration(2min), "2m");
}

TEST(FormatSize, RoundsToATenth) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1.0 KiB");
  EXPECT_EQ(format_size(40370176), "38.5 MiB");
  EXPECT_EQ(format_size(~std::uint64_t{0}), "16777216.0 TiB");
}

TEST(FormatDuration, PicksTheUnitPeopleWouldSay) {
  EXPECT_EQ(format_duration(0ns), "0 ns");
  EXPECT_EQ(format_nanoseconds(1'500'000), "1.5 ms");
  EXPECT_EQ(format_duration(1500us), "1.5 ms");
  EXPECT_EQ(format_duration(2s), "2.0 s");
  EXPECT_EQ(format_duration(200s), "3m 20s");
  EXPECT_EQ(format_duration(59900ms), "1m 00s");
  EXPECT_EQ(format_duration(125min), "2h 05m");
  EXPECT_EQ(format_duration(-5ms), "-5.0 ms");
}

TEST(FormatPercentage, ShowsATenthBelowTen) {
  EXPECT_EQ(format_percentage(0.001), "0.1 %");
  EXPECT_EQ(format_percentage(0.02), "2 %");
  EXPECT_EQ(format_percentage(0.974), "97 %");
  EXPECT_EQ(format_percentage(1), "100 %");
}

TEST(FormatTimes, KnowsTheSingular) {
  EXPECT_EQ(format_times(1), "1 time");
  EXPECT_EQ(format_times(2), "2 times");
  EXPECT_EQ(format_times(0), "0 times");
}

TEST(FormatSamples, KnowsTheSingularAndGroupsDigits) {
  EXPECT_EQ(format_samples(1), "1 sample");
  EXPECT_EQ(format_samples(0), "0 samples");
  EXPECT_EQ(format_samples(60'000), "60,000 samples");
}

}  // namespace
}  // namespace brigade
