#include "stages/image/guess/data_table.h"

#include <algorithm>
#include <charconv>

#include <brigade/text.h>
#include "stages/basic/csv_text.h"
#include "stages/image/index/image_index.h"

namespace brigade {
namespace {

constexpr std::size_t kLinesMax = 100;
constexpr std::string_view kSeparators[] = {",", "\t", ";", " "};
constexpr std::string_view kLabelNames[] = {"label",  "class",   "target",  "cls",     "category",
                                            "labels", "species", "classes", "class_id"};

using Row = std::vector<std::string>;

std::string small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_label_name(const std::string& name) {
  return std::find(std::begin(kLabelNames), std::end(kLabelNames), small_letters(name)) !=
         std::end(kLabelNames);
}

bool is_number(std::string_view text) {
  text = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool is_whole(std::string_view text) {
  text = trim(text);
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
}

/// The first lines, where all have as many fields; a line that `head` cuts off is left out.
std::vector<Row> rows_of(std::string_view head, char separator) {
  std::vector<Row> rows;
  std::vector<CsvField> fields;
  std::string memory;
  for (std::size_t begin = csv_skip_empty(head, csv_begin(head));
       begin < head.size() && rows.size() < kLinesMax;) {
    const auto end = csv_record_end(head, begin, separator);
    std::size_t at = 0;
    if (!end || !csv_split(head.substr(begin, *end - begin), separator, fields, at)) return {};
    const bool cut_off = *end == head.size() && !head.ends_with('\n');
    if (cut_off && !rows.empty() && fields.size() != rows.front().size()) break;
    Row row;
    for (const CsvField& field : fields) row.emplace_back(csv_value(field, memory));
    if (!rows.empty() && row.size() != rows.front().size()) return {};
    rows.push_back(std::move(row));
    begin = csv_skip_empty(head, *end);
  }
  return rows;
}

/// Whether all lines but a header have it so.
template <class Is>
bool all_are(const std::vector<Row>& rows, std::size_t column, bool header, Is is) {
  return rows.size() > (header ? 1 : 0) &&
         std::all_of(rows.begin() + (header ? 1 : 0), rows.end(),
                     [&](const Row& row) { return is(row[column]); });
}

class Guess {
 public:
  Guess(const std::vector<Row>& rows, std::string_view separator) : rows_(rows) {
    out_.separator = separator;
  }

  std::optional<TableGuess> make() {
    const std::size_t columns = rows_.front().size();
    const Row& last = rows_.back();
    for (std::size_t i = 0; i < columns && image_ == kNone; ++i)
      if (is_image_name(last[i])) image_ = i;
    out_.header = image_ != kNone
                      ? !is_image_name(rows_.front()[image_])
                      : std::none_of(rows_.front().begin(), rows_.front().end(), is_number);
    if (image_ != kNone) {
      out_.image = name(image_);
      out_.first_image = trim(rows_[out_.header ? 1 : 0][image_]);
    }
    find_label();
    for (std::size_t i = 0; i < columns; ++i)
      if (i != label_ && i != image_ && all_are(rows_, i, out_.header, is_number))
        out_.numbers.push_back(name(i));
    if (out_.image.empty() && out_.numbers.empty()) return std::nullopt;
    return out_;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::string name(std::size_t column) const {
    return out_.header ? rows_.front()[column] : concat(column + 1);
  }

  /// By its name; beside images also the first other column.
  void find_label() {
    const std::size_t columns = rows_.front().size();
    for (std::size_t i = columns; i-- > 0;)
      if (i != image_ && out_.header && is_label_name(rows_.front()[i])) label_ = i;
    for (std::size_t i = 0; label_ == kNone && !out_.image.empty() && i < columns; ++i)
      if (i != image_) label_ = i;
    if (label_ == kNone) return;
    out_.label = name(label_);
    out_.label_is_name = !all_are(rows_, label_, out_.header, is_whole);
  }

  const std::vector<Row>& rows_;
  TableGuess out_;
  std::size_t image_ = kNone;
  std::size_t label_ = kNone;
};

}  // namespace

std::optional<TableGuess> guess_table(std::string_view head) {
  if (head.find('\0') != head.npos) return std::nullopt;
  std::vector<Row> rows;
  std::string_view separator;
  for (const std::string_view tried : kSeparators) {
    std::vector<Row> found = rows_of(head, tried.front());
    if (found.empty() || (!rows.empty() && found.front().size() < 2)) continue;
    rows = std::move(found);
    separator = tried;
    if (rows.front().size() >= 2) break;
  }
  if (rows.empty()) return std::nullopt;
  return Guess(rows, rows.front().size() < 2 ? "," : separator).make();
}

}  // namespace brigade
