#include "pipeline/config/language/weights_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "stages/api/npy_header.h"
#include "stages/api/npy_trailer.h"
#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"

namespace brigade {
namespace {

constexpr std::string_view kBalanced = "balanced";
constexpr double kWeightMax = 1e30;  // so many of them still have a sum

using NumbersByName = std::vector<std::pair<std::string, double>>;

/// What is wrong with one entry of the mapping; empty: it is in `out`.
std::string take_number(const YamlEntry& entry, NumbersByName& out) {
  const std::string& text = entry.value.text;
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (!entry.value.is_scalar() || error != std::errc{} || end != text.data() + text.size())
    return concat("expected a number such as 2.5, found ", describe(entry.value));
  if (std::string problem = problem_of_weight(weight); !problem.empty()) return problem;
  out.emplace_back(entry.key, weight);
  return "";
}

/// A number for each name, `what` that is: by name. Nothing where it was said what is wrong.
std::optional<NumbersByName> parse_numbers(const YamlEntry& entry, const KeySpec& key,
                                           SpecReader& read, std::string_view what,
                                           const char* example) {
  if (!entry.value.is_map() || entry.value.entries.empty()) {
    read.unexpected(entry, key, {example});
    return std::nullopt;
  }
  NumbersByName numbers;
  for (const YamlEntry& one : entry.value.entries) {
    if (one.value.is_null()) continue;
    const std::string problem = take_number(one, numbers);
    if (problem.empty()) continue;
    read.error(one.value.span,
               concat("`", key.name, "`: ", what, " ", quote(one.key), ": ", problem));
    return std::nullopt;
  }
  if (std::ranges::all_of(numbers, [](const auto& one) { return one.second == 0; })) {
    read.error(entry.value.span,
               concat("`", key.name, "`: all numbers are 0, expected at least one above 0"));
    return std::nullopt;
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string numbers_text(const NumbersByName& numbers) {
  std::vector<std::string> texts;
  for (const auto& [name, number] : numbers)
    texts.push_back(concat(name, ": ", print_number(number)));
  return join(texts, ", ");
}

template <class Element>
std::vector<double> elements_of(std::string_view bytes) {
  std::vector<Element> elements(bytes.size() / sizeof(Element));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return {elements.begin(), elements.end()};
}

Result<std::vector<double>> parse_npy_weights(const std::string& path, std::string_view bytes) {
  BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(path, bytes));
  const std::string_view data = without_npy_trailer(bytes).substr(header.bytes);
  const std::string found = concat(dtype_name(header.dtype), shape_text(header.shape));
  if (header.shape.rank() != 1)
    return Error{concat(path, ": expected a number for each sample, found ", found)};
  if (data.size() != header.sample_bytes * static_cast<std::size_t>(header.shape[0]))
    return Error{
        concat(path, ": its header says ", found, ", which does not match the size of the file")};
  switch (header.dtype) {
    case DType::u8:
      return elements_of<std::uint8_t>(data);
    case DType::i32:
      return elements_of<std::int32_t>(data);
    case DType::i64:
      return elements_of<std::int64_t>(data);
    case DType::f32:
      return elements_of<float>(data);
    case DType::f64:
      return elements_of<double>(data);
    default:
      return Error{concat(path, ": weights may be u8, i32, i64, f32 or f64, found ", found)};
  }
}

Result<double> parse_weight(std::string_view number) {
  double weight = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
  if (error != std::errc{} || end != number.data() + number.size())
    return Error{concat("expected a number, found ", quote(number.substr(0, 40)))};
  if (std::string problem = problem_of_weight(weight); !problem.empty())
    return Error{std::move(problem)};
  return weight;
}

/// Of a table as `csv` and `image_list` read it.
Result<std::vector<double>> parse_weights_column(const std::string& path, std::string_view bytes,
                                                 const std::string& column) {
  const char separator = path.ends_with(".tsv") ? '\t' : ',';
  const bool header = column.find_first_not_of("0123456789") != column.npos;
  BRIGADE_ASSIGN(const auto names, csv_names(path, bytes, separator, header));
  BRIGADE_ASSIGN(const std::size_t wanted, csv_find_column(path, names, column, header));
  BRIGADE_ASSIGN(const CsvRecords records, CsvRecords::find(path, bytes, separator, header));
  std::vector<double> weights;
  std::vector<CsvField> fields;
  std::string memory;
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    const auto place = [&](std::size_t at) {
      return csv_place(path, bytes, records.begin(i) + at);
    };
    std::size_t at = 0;
    if (auto parts = csv_split(records.text(i), separator, fields, at); !parts)
      return parts.error().within(place(at));
    if (fields.size() <= wanted)
      return Error{
          concat(place(0), ": has ", fields.size(), " fields, none of them for ", quote(column))};
    auto weight = parse_weight(trim(csv_value(fields[wanted], memory)));
    if (!weight) return weight.error().within(place(fields[wanted].at));
    weights.push_back(*weight);
  }
  return weights;
}

}  // namespace

std::string problem_of_weight(double weight) {
  if (std::isnan(weight)) return "a weight is a number, found nan";
  if (weight < 0) return concat("a weight is not negative, found ", print_number(weight));
  if (weight > kWeightMax) return concat("a weight is at most 1e30, found ", print_number(weight));
  return "";
}

bool parse_weights(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Weights& out) {
  Weights weights;
  if (entry.value.is_scalar() && !entry.value.text.empty()) {
    weights.balanced = entry.value.text == kBalanced;
    if (!weights.balanced) weights.file = entry.value.text;
    out = std::move(weights);
    return true;
  }
  auto classes =
      parse_numbers(entry, key, read, "class", "for example `weights: {cat: 2, others: 1}`");
  if (!classes) return false;
  weights.classes = std::move(*classes);
  out = std::move(weights);
  return true;
}

bool parse_mix(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Mix& out) {
  auto shares =
      parse_numbers(entry, key, read, "share of",
                    "for example `mix: {photos: 0.7, drawings: 0.3}`: names of producers");
  if (!shares) return false;
  out.shares = std::move(*shares);
  return true;
}

bool parse_repeat(const YamlEntry& entry, const KeySpec& key, SpecReader& read, RepeatFactor& out) {
  const auto share = parse_share(entry.value.is_scalar() ? entry.value.text : "");
  if (share) out.below = *share;
  if (!share) read.unexpected(entry, key, {share.error().message});
  return share.ok();
}

std::string print_number(double number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

std::string weights_text(const Weights& weights) {
  if (weights.balanced) return std::string(kBalanced);
  return weights.classes.empty() ? weights.file : numbers_text(weights.classes);
}

std::string mix_text(const Mix& mix) { return numbers_text(mix.shares); }

std::optional<TableColumn> column_of(const std::string& file) {
  const std::size_t colon = file.rfind(':');
  const std::size_t slash = file.rfind('/');
  if (colon == file.npos || colon + 1 == file.size() || (slash != file.npos && colon < slash))
    return std::nullopt;
  return TableColumn{file.substr(0, colon), file.substr(colon + 1)};
}

Result<std::vector<double>> parse_weights_file(const std::string& path, std::string_view bytes,
                                               const std::string& column) {
  if (!column.empty()) return parse_weights_column(path, bytes, column);
  if (bytes.starts_with("\x93NUMPY")) {
    BRIGADE_ASSIGN(std::vector<double> weights, parse_npy_weights(path, bytes));
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (const std::string problem = problem_of_weight(weights[i]); !problem.empty())
        return Error{concat(path, ": sample ", i, ": ", problem)};
    return weights;
  }
  std::vector<double> weights;
  std::size_t line = 0;
  for (const std::string_view text : split(bytes, '\n')) {
    ++line;
    const std::string_view number = trim(text);
    if (number.empty()) continue;
    auto weight = parse_weight(number);
    if (!weight) return weight.error().within(concat(path, ":", line));
    weights.push_back(*weight);
  }
  return weights;
}

}  // namespace brigade
