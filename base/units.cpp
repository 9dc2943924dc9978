#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <brigade/text.h>

namespace brigade {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;  // in the smallest unit
};

// Smallest first: printing takes the last that fits.
constexpr Unit kSizes[] = {{"B", 1},
                           {"KiB", std::uint64_t{1} << 10},
                           {"MiB", std::uint64_t{1} << 20},
                           {"GiB", std::uint64_t{1} << 30},
                           {"TiB", std::uint64_t{1} << 40}};
constexpr Unit kDurations[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000},
                               {"h", 3'600'000'000'000}};

constexpr std::uint64_t kBillion = 1'000'000'000;

/// digits / 10^decimals, as it stands before the unit.
struct Decimal {
  std::uint64_t digits = 0;
  std::uint64_t divisor = 1;
};

struct Quantity {
  Decimal number;
  std::string_view unit;
};

bool is_digit(char character) { return character >= '0' && character <= '9'; }

constexpr std::uint64_t kPlacesMax =
    1'000'000'000'000'000'000;  // 18 places in all and after the point

/// Number and unit, or nothing when the text does not begin with a plain decimal number.
std::optional<Quantity> read_quantity(std::string_view text) {
  Quantity out;
  bool point = false;
  std::size_t place = 0;
  for (; place < text.size(); ++place) {
    const char character = text[place];
    if (character == '.' && !point && place > 0) {
      point = true;
      continue;
    }
    if (!is_digit(character)) break;
    if (std::max(out.number.digits, out.number.divisor) >= kPlacesMax) return std::nullopt;
    out.number.digits = out.number.digits * 10 + static_cast<std::uint64_t>(character - '0');
    if (point) out.number.divisor *= 10;
  }
  if (place == 0 || text[place - 1] == '.') return std::nullopt;
  out.unit = trim(text.substr(place));
  return out;
}

enum class Fault { none, not_whole, too_large };

/// number * factor in whole smallest units, at most `limit`.
Fault multiply(const Decimal& number, std::uint64_t factor, std::uint64_t limit,
               std::uint64_t& out) {
  const auto product = static_cast<unsigned __int128>(number.digits) * factor;
  if (product / number.divisor > limit) return Fault::too_large;
  if (product % number.divisor != 0) return Fault::not_whole;
  out = static_cast<std::uint64_t>(product / number.divisor);
  return Fault::none;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

std::string print_exact(std::span<const Unit> units, std::uint64_t amount) {
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (amount != 0 && amount % unit.factor == 0) best = &unit;
  return concat(amount / best->factor, best->name);
}

/// With one decimal, rounded half up.
std::string tenths(std::uint64_t amount, std::uint64_t factor) {
  const auto scaled = static_cast<unsigned __int128>(amount) * 10 + factor / 2;
  const auto rounded = static_cast<std::uint64_t>(scaled / factor);
  return concat(rounded / 10, '.', rounded % 10);
}

std::string two_digits(std::uint64_t number) { return concat(number < 10 ? "0" : "", number); }

std::string_view hint_for_size(std::string_view unit) {
  if (unit == "KB" || unit == "kB" || unit == "K" || unit == "k" || unit == "Kib") return "KiB";
  if (unit == "MB" || unit == "M" || unit == "Mib" || unit == "mb") return "MiB";
  if (unit == "GB" || unit == "G" || unit == "Gib" || unit == "gb") return "GiB";
  if (unit == "TB" || unit == "T" || unit == "Tib" || unit == "tb") return "TiB";
  return {};
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto quantity = read_quantity(trim(text));
  if (!quantity)
    return Error{concat("expected a size such as 64MiB, 1.5 GiB or 4096, found ", quote(text))};
  const Unit* unit = find_unit(kSizes, quantity->unit.empty() ? "B" : quantity->unit);
  if (unit == nullptr) {
    const auto hint = hint_for_size(quantity->unit);
    return Error{concat("unknown unit ", quote(quantity->unit), " in the size ", quote(text),
                        hint.empty() ? "" : concat(": did you mean ", hint, "?"),
                        "; units are B, KiB, MiB, GiB and TiB")};
  }
  std::uint64_t bytes = 0;
  switch (
      multiply(quantity->number, unit->factor, std::numeric_limits<std::int64_t>::max(), bytes)) {
    case Fault::not_whole:
      return Error{concat("the size ", quote(text), " is not a whole number of bytes")};
    case Fault::too_large:
      return Error{concat("the size ", quote(text), " is too large; the maximum is 8388607TiB")};
    case Fault::none:
      break;
  }
  return bytes;
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto quantity = read_quantity(trim(text));
  if (!quantity)
    return Error{concat("expected a duration such as 100ms, 5s or 2m, found ", quote(text))};
  if (quantity->unit.empty() && quantity->number.digits == 0) return std::chrono::nanoseconds(0);
  if (quantity->unit.empty())
    return Error{concat("the duration ", quote(text), " needs a unit: ns, us, ms, s, m or h")};
  const Unit* unit = find_unit(kDurations, quantity->unit);
  if (unit == nullptr)
    return Error{concat("unknown unit ", quote(quantity->unit), " in the duration ", quote(text),
                        "; units are ns, us, ms, s, m and h")};
  std::uint64_t nanoseconds = 0;
  switch (multiply(quantity->number, unit->factor, std::numeric_limits<std::int64_t>::max(),
                   nanoseconds)) {
    case Fault::not_whole:
      return Error{concat("the duration ", quote(text), " is not a whole number of nanoseconds")};
    case Fault::too_large:
      return Error{concat("the duration ", quote(text), " is too long; the maximum is 2562047h")};
    case Fault::none:
      break;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

Result<double> parse_percentage(std::string_view text) {
  const auto quantity = read_quantity(trim(text));
  if (!quantity || quantity->unit != "%")
    return Error{concat("expected a percentage such as 0.1% or 5%, found ", quote(text))};
  const double percent =
      static_cast<double>(quantity->number.digits) / static_cast<double>(quantity->number.divisor);
  if (percent > 100) return Error{concat("the percentage ", quote(text), " is above 100%")};
  return percent / 100;
}

Result<std::uint64_t> parse_share(std::string_view text) {
  const auto quantity = read_quantity(trim(text));
  const bool percent = quantity && quantity->unit == "%";
  if (!quantity || (!percent && !quantity->unit.empty()))
    return Error{concat("expected a share such as 10% or 0.1, found ", quote(text))};
  std::uint64_t share = 0;
  switch (multiply(quantity->number, percent ? kBillion / 100 : kBillion, kBillion, share)) {
    case Fault::too_large:
      return Error{concat("the share ", quote(text), " is more than 100%")};
    case Fault::not_whole:
      return Error{concat("the share ", quote(text), " is not a whole number of billionths")};
    case Fault::none:
      break;
  }
  if (share == 0) return Error{concat("the share ", quote(text), " is zero")};
  if (share == kBillion && !percent)
    return Error{
        concat("the share ", quote(text), " means everything; write 100% if you mean that")};
  return share;
}

std::string print_share(std::uint64_t billionths) {
  constexpr std::uint64_t kPercent = kBillion / 100;
  std::string rest = concat(kPercent + billionths % kPercent).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return concat(billionths / kPercent, rest.empty() ? "" : ".", rest, "%");
}

std::string print_size(std::uint64_t bytes) { return print_exact(kSizes, bytes); }

std::string print_duration(std::chrono::nanoseconds duration) {
  BRIGADE_CHECK(duration.count() >= 0, duration.count());
  if (duration.count() == 0) return "0s";
  return print_exact(kDurations, static_cast<std::uint64_t>(duration.count()));
}

std::string format_size(std::uint64_t bytes) {
  if (bytes < kSizes[1].factor) return concat(bytes, " B");
  const Unit* best = &kSizes[1];
  for (const Unit& unit : kSizes)
    if (bytes >= unit.factor) best = &unit;
  return concat(tenths(bytes, best->factor), ' ', best->name);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  if (duration.count() < 0) return concat('-', format_duration(-duration));
  const auto amount = static_cast<std::uint64_t>(duration.count());
  if (amount < kDurations[1].factor) return concat(amount, " ns");
  const std::uint64_t seconds = (amount + 500'000'000) / 1'000'000'000;
  if (seconds >= 3600) return concat(seconds / 3600, "h ", two_digits(seconds % 3600 / 60), 'm');
  if (seconds >= 60) return concat(seconds / 60, "m ", two_digits(seconds % 60), 's');
  const Unit* best = &kDurations[1];
  for (const Unit& unit : std::span(kDurations).first(4))
    if (amount >= unit.factor) best = &unit;
  return concat(tenths(amount, best->factor), ' ', best->name);
}

std::string format_nanoseconds(std::int64_t nanoseconds) {
  return format_duration(std::chrono::nanoseconds(nanoseconds));
}

std::string format_times(int count) { return concat(count, count == 1 ? " time" : " times"); }

std::string format_samples(std::uint64_t count) {
  return concat(format_count(count), count == 1 ? " sample" : " samples");
}

std::string format_percentage(double fraction) {
  const double percent = fraction * 100;
  if (!(percent >= 0 && percent < 1e12)) return concat(percent, " %");
  if (percent >= 9.95) return concat(static_cast<std::uint64_t>(std::lround(percent)), " %");
  const auto rounded = static_cast<std::uint64_t>(std::lround(percent * 10));
  return concat(rounded / 10, rounded % 10 == 0 ? "" : concat('.', rounded % 10), " %");
}

}  // namespace brigade
