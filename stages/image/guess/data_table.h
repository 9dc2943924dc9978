#pragma once

// Which columns of a text table have images, labels, numbers: a guess from its first lines. A pure
// function over a text.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brigade {

struct TableGuess {
  std::string separator = ",";
  bool header = true;
  std::string image;  ///< the column of images; empty: none
  std::string first_image;
  std::string label;  ///< empty: none
  bool label_is_name = false;
  std::vector<std::string> numbers;  ///< columns of numbers, but for the label
};

/// `head`: the table's beginning. Nothing where it is no table of images or numbers. Columns have
/// their names, or without a header "1", "2", ...
std::optional<TableGuess> guess_table(std::string_view head);

}  // namespace brigade
