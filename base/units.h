#pragma once

// Sizes, durations and percentages as people write them in YAML and on the command line. Strict:
// a unit that is not in the list, a sign, an exponent, a number that is not whole in the smallest
// unit, or one that does not fit is an error that says what would be accepted. All arithmetic is
// on integers, so 0.1 s is exactly 100 ms.
//
//   size        4096, 64MiB, 1.5 GiB        B KiB MiB GiB TiB; without a unit: bytes
//   duration    100ms, 5s, 2m, 0.5 h        ns us ms s m h; only 0 needs no unit
//   percentage  0.1%, 100 %                 0% to 100%
//   share       10%, 0.1                    above 0, at most 100% or 1

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

/// Bytes.
BRIGADE_API Result<std::uint64_t> parse_size(std::string_view text);

BRIGADE_API Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// The fraction: 0.001 for "0.1%".
BRIGADE_API Result<double> parse_percentage(std::string_view text);

/// Billionths, from 1 to 10^9: 100,000,000 for "10%" and for "0.1".
BRIGADE_API Result<std::uint64_t> parse_share(std::string_view text);

/// Exact, and read back by parse_share: "10%", "0.05%".
BRIGADE_API std::string print_share(std::uint64_t billionths);

/// Exact, and read back by parse_size: "64MiB", "1000B".
BRIGADE_API std::string print_size(std::uint64_t bytes);

/// Exact, and read back by parse_duration: "100ms", "90s", "2m". Not negative.
BRIGADE_API std::string print_duration(std::chrono::nanoseconds duration);

/// For people, rounded to a tenth: "38.5 MiB", "512 B".
BRIGADE_API std::string format_size(std::uint64_t bytes);

/// For people, rounded to a tenth: "1.5 ms", "2.0 s", "3m 20s", "2h 05m".
BRIGADE_API std::string format_duration(std::chrono::nanoseconds duration);

/// The same of a number of nanoseconds, as clocks and plans count.
BRIGADE_API std::string format_nanoseconds(std::int64_t nanoseconds);

/// For people: "1 time", "2 times".
BRIGADE_API std::string format_times(int count);

/// For people: "1 sample", "60,000 samples".
BRIGADE_API std::string format_samples(std::uint64_t count);

/// For people: "0.1 %", "97 %"; whole numbers from 10 on.
BRIGADE_API std::string format_percentage(double fraction);

}  // namespace brigade
