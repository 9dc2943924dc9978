#pragma once

// Parses `weights:`, `repeat_factor:` and `mix:`: how
// often samples occur in an epoch. Pure; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// In a mapping of classes: all that it does not name.
inline constexpr std::string_view kOtherClasses = "others";

/// `balanced`, a mapping CLASS: NUMBER, or the path of a file, as it is written.
bool parse_weights(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Weights& out);

/// A mapping STAGE: NUMBER, by name.
bool parse_mix(const YamlEntry& entry, const KeySpec& key, SpecReader& read, Mix& out);

/// A share above 0.
bool parse_repeat(const YamlEntry& entry, const KeySpec& key, SpecReader& read, RepeatFactor& out);

/// Read back as it was: "0.25".
std::string print_number(double number);

/// One line: "balanced", a path, "cat: 2, others: 1"; empty for none.
std::string weights_text(const Weights& weights);

/// One line: "drawings: 0.3, photos: 0.7".
std::string mix_text(const Mix& mix);

/// What is wrong with a weight; empty: nothing.
std::string problem_of_weight(double weight);

/// FILE:COLUMN, where a file of that name is not there.
struct TableColumn {
  std::string file;
  std::string column;
};
std::optional<TableColumn> column_of(const std::string& file);

/// A number for each sample: a .npy file of one axis, or text, a number in each line; with a
/// `column` a table, which has it in that column, by the first line's names or, where the column is
/// a number, without such a line. Errors begin with the path; one of a line says which.
Result<std::vector<double>> parse_weights_file(const std::string& path, std::string_view bytes,
                                               const std::string& column = "");

}  // namespace brigade
