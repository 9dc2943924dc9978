// csv: columns of a text table as tensors. The file is mapped; where its records begin is noted
// down once, by each replica (a byte a record).

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/basic/basic_stages.h"
#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/half_float.h"
#include "stages/basic/mapped_file.h"

namespace brigade {
namespace {

enum class TextShape { ragged, fixed };

struct CsvParams {
  InputPath file;
  TextMap columns;
  TextMap dtypes;
  TextMap missing;
  std::int64_t text_bytes = 256;
  TextShape text_shape = TextShape::ragged;
  bool header = true;
  std::string separator = ",";
};

constexpr double kTextBytesMax = 1 << 20;

/// Reads a number into the element at `out`; a problem in the user's terms otherwise.
template <class T>
Result<void> read_number(std::string_view text, void* out) {
  T value{};
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const char* first = text.data() + plus;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  if (error == std::errc::result_out_of_range && whole)
    return Error{
        concat("expected a number that fits ", dtype_name(dtype_of<T>()), ", found ", quote(text))};
  if (error != std::errc{} || !whole)
    return Error{concat("expected a ", std::is_integral_v<T> ? "whole " : "", "number, found ",
                        text.empty() ? "nothing" : quote(text))};
  std::memcpy(out, &value, sizeof value);
  return {};
}

Result<void> read_flag(std::string_view text, void* out) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  const bool value = lower == "true" || lower == "1";
  if (!value && lower != "false" && lower != "0")
    return Error{
        concat("expected true, false, 1 or 0, found ", text.empty() ? "nothing" : quote(text))};
  std::memcpy(out, &value, sizeof value);
  return {};
}

template <class T, T (*convert)(float)>
Result<void> read_short(std::string_view text, void* out) {
  float number = 0;
  BRIGADE_TRY(read_number<float>(text, &number));
  const T value = convert(number);
  std::memcpy(out, &value, sizeof value);
  return {};
}

using ReadValue = Result<void> (*)(std::string_view text, void* out);

ReadValue reader_of(DType dtype) {
  switch (dtype) {
    case boolean:
      return read_flag;
    case u8:
      return read_number<std::uint8_t>;
    case i8:
      return read_number<std::int8_t>;
    case i16:
      return read_number<std::int16_t>;
    case i32:
      return read_number<std::int32_t>;
    case i64:
      return read_number<std::int64_t>;
    case f16:
      return read_short<Half, to_half>;
    case bf16:
      return read_short<BFloat16, to_bfloat16>;
    case f32:
      return read_number<float>;
    case f64:
      return read_number<double>;
  }
  return nullptr;
}

/// A tensor and the columns of the table that it is made of.
struct Column {
  TensorType type;
  std::vector<std::size_t> columns;
  bool is_text = false;
  std::optional<std::string> missing = std::nullopt;  ///< replaces an empty field
  bool drops = false;                                 ///< records in which a field is empty

  /// What is written there; empty is what a quoted text is not.
  bool is_empty(const CsvField& field) const {
    return is_text ? !field.quoted && field.text.empty() : trim(field.text).empty();
  }
};

Result<void> read_missing(const CsvParams& params, Column& column) {
  const TextMap::Entry* const missing = params.missing.find(column.type.name);
  if (missing == nullptr) return {};
  const auto wrong = [&](std::string_view what) {
    return Error{concat("missing: ", quote(column.type.name), ": ", what)};
  };
  if (missing->texts.size() != 1 || missing->is_list) return wrong("expected a value, or drop");
  const std::string& value = missing->texts[0];
  column.drops = value == "drop";
  if (column.drops) return {};
  std::array<std::byte, sizeof(std::int64_t)> unused{};
  if (column.is_text && value.size() > static_cast<std::size_t>(params.text_bytes))
    return wrong(
        concat("the text has ", value.size(), " bytes, but text_bytes is ", params.text_bytes));
  if (const ReadValue read = reader_of(column.type.dtype); !column.is_text)
    if (const auto done = read(value, unused.data()); !done)
      return wrong(concat(done.error().message, "; write drop to omit such samples"));
  column.missing = value;
  return {};
}

Result<Column> column_of(const CsvParams& params, const TextMap::Entry& entry,
                         const std::vector<std::string>& names) {
  Column out{{entry.name, f32, {}}, {}};
  const TextMap::Entry* const dtype = params.dtypes.find(entry.name);
  out.is_text = dtype != nullptr && dtype->texts == std::vector<std::string>{"text"};
  if (dtype != nullptr && !out.is_text) {
    const auto parsed = dtype->texts.size() == 1 ? parse_dtype(dtype->texts[0]) : std::nullopt;
    if (!parsed)
      return Error{concat("dtypes: ", quote(entry.name), ": expected a dtype or text, found ",
                          quote(join(dtype->texts, ", ")))};
    out.type.dtype = *parsed;
  }
  for (const std::string& name : entry.texts) {
    BRIGADE_ASSIGN(const std::size_t column,
                   csv_find_column(params.file.path, names, name, params.header));
    out.columns.push_back(column);
  }
  if (entry.texts.empty())
    return Error{concat("columns: ", quote(entry.name), ": expected a column or a list of them")};
  if (entry.is_list) out.type.shape = {static_cast<std::int64_t>(entry.texts.size())};
  if (out.is_text) {
    if (entry.is_list)
      return Error{
          concat("columns: ", quote(entry.name), ": expected one column for a text, found a list")};
    const bool ragged = params.text_shape == TextShape::ragged;
    out.type = {entry.name, u8, {ragged ? up_to(params.text_bytes) : Dim(params.text_bytes)}};
  }
  BRIGADE_TRY(read_missing(params, out));
  return out;
}

/// The table as the parameters want it, from its beginning.
struct Layout {
  char separator = ',';
  std::size_t fields = 0;
  std::vector<Column> columns;
};

Result<Layout> layout_of(const CsvParams& params, std::string_view head) {
  Layout out;
  BRIGADE_ASSIGN(out.separator, csv_separator(params.separator));
  BRIGADE_ASSIGN(const std::vector<std::string> names,
                 csv_names(params.file.path, head, out.separator, params.header));
  out.fields = names.size();
  if (params.columns.entries.empty())
    return Error{"`columns` is empty; write `columns: {TENSOR: COLUMN}`"};
  for (const TextMap::Entry& entry : params.columns.entries) {
    BRIGADE_ASSIGN(Column column, column_of(params, entry, names));
    out.columns.push_back(std::move(column));
  }
  for (const auto& [key, map] : {std::pair("dtypes", &params.dtypes), {"missing", &params.missing}})
    for (const TextMap::Entry& entry : map->entries)
      if (params.columns.find(entry.name) == nullptr)
        return Error{
            concat(key, ": unknown tensor ", quote(entry.name), "; declare it in `columns`")};
  return out;
}

CsvMissing missing_of(const CsvParams& params, const Layout& layout) {
  CsvMissing out;
  out.blank_lines = layout.fields == 1 && !params.missing.entries.empty();
  std::vector<Column> dropping;
  std::ranges::copy_if(layout.columns, std::back_inserter(dropping), &Column::drops);
  if (dropping.empty()) return out;
  std::vector<std::string> names;
  for (const Column& column : dropping) names.push_back(column.type.name);
  out.what = concat("records without a value in ", join(names, ", ", " or "));
  out.leaves_out = [dropping, count = layout.fields, separator = layout.separator,
                    fields = std::vector<CsvField>()](std::string_view record) mutable {
    std::size_t at = 0;
    if (!csv_split(record, separator, fields, at) || fields.size() != count) return false;
    return std::ranges::any_of(dropping, [&](const Column& column) {
      return std::ranges::any_of(column.columns,
                                 [&](std::size_t i) { return column.is_empty(fields[i]); });
    });
  };
  return out;
}

std::optional<SampleCount> csv_file_samples(const CsvParams& params, const FileMetadata& metadata) {
  const FileHeader* const file_header = metadata.find("file");
  if (file_header == nullptr) return std::nullopt;
  const auto layout = layout_of(params, file_header->header);
  if (!layout) return std::nullopt;
  return csv_samples(file_header, params.separator, params.header, missing_of(params, *layout));
}

Contract<CsvParams> csv_contract() {
  return Contract<CsvParams>("csv", "Reads columns of a text table (CSV), one sample per line.")
      .producer()
      .param("file", &CsvParams::file, "file in UTF-8 with fields as in RFC 4180, uncompressed")
      .required()
      .file_header()
      .param("columns", &CsvParams::columns,
             "columns of each tensor: one column, or a list of columns that form a vector")
      .required()
      .param("dtypes", &CsvParams::dtypes,
             "dtype of each tensor, or text for its bytes as u8; default: f32")
      .param("missing", &CsvParams::missing,
             "for each tensor: the value that replaces an empty field, or drop to omit the record; "
             "without it an empty number is an error")
      .param("text_bytes", &CsvParams::text_bytes, 1, kTextBytesMax,
             "most bytes of a text; a longer one is an error")
      .choice("text_shape", &CsvParams::text_shape,
              {{"ragged", TextShape::ragged}, {"fixed", TextShape::fixed}},
              "ragged: texts keep their length; fixed: texts are padded with zeros to text_bytes")
      .param("header", &CsvParams::header,
             "the first line names the columns; false: columns are numbered 1, 2, ...")
      .param("separator", &CsvParams::separator, "one character between fields")
      .outputs(
          [](const CsvParams& params, const Ports&, const FileMetadata& metadata) -> Result<Ports> {
            const FileHeader* const file_header = metadata.find("file");
            if (file_header == nullptr)
              return Error{concat(params.file.path, ": cannot read its first bytes")};
            BRIGADE_ASSIGN(const Layout layout, layout_of(params, file_header->header));
            Ports ports;
            for (const Column& column : layout.columns) ports.tensors.push_back(column.type);
            return ports;
          })
      .counts(csv_file_samples)
      .example(
          "producer: csv\n"
          "shuffle: true\n"
          "params:\n"
          "  file: iris.csv\n"
          "  columns: {features: [sepal_length, sepal_width], label: species}\n"
          "  dtypes: {label: i64}\n");
}

class Csv : public Producer, public SkipsInputs, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<CsvParams>();
    path_ = params.file.path;
    BRIGADE_ASSIGN(file_, MappedFile::open(path_));
    text_ = file_.bytes();
    if (text_.starts_with("\x1f\x8b"))
      return Error{
          concat(path_, ": is compressed with gzip and cannot be mapped; unpack it (gunzip)")};
    BRIGADE_ASSIGN(layout_, layout_of(params, text_.substr(0, kMetadataBytesMax)));
    for (std::size_t i = 0; i < layout_.columns.size(); ++i)
      if (i >= context.outputs.tensors.size() ||
          !(context.outputs.tensors[i] == layout_.columns[i].type))
        return Error{concat(path_, ": changed after the graph was checked: it now contains ",
                            layout_.columns[i].type.text())};
    BRIGADE_ASSIGN(records_, CsvRecords::find(path_, text_, layout_.separator, params.header,
                                              missing_of(params, layout_)));
    return {};
  }

  Result<std::uint64_t> size() override { return records_.size(); }
  std::vector<SkippedInputs> skipped() const override { return records_.skipped(); }

  // All of the text: open() has looked through it, too.
  std::uint64_t fingerprint() override {
    Fingerprint all;
    all.add(text_);
    return all.value();
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    const auto label = std::ranges::find(layout_.columns, "label",
                                         [](const Column& column) { return column.type.name; });
    if (label == layout_.columns.end() || label->columns.size() != 1)
      return Error{"the source has no tensor `label` with a single number"};
    const std::size_t begin = records_.begin(index);
    BRIGADE_TRY(split(begin));
    const CsvField& field = fields_[label->columns[0]];
    const std::string_view text = trim(value_of(*label, field));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    return Error{concat(csv_place(path_, text_, begin + field.at),
                        ": expected a whole number as the label, found ", quote(text))};
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const std::size_t begin = records_.begin(index);
    BRIGADE_TRY(split(begin));
    for (std::size_t i = 0; i < layout_.columns.size(); ++i)
      BRIGADE_TRY(read_column(layout_.columns[i], begin, out.at(i)));
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override {
    return csv_place(std::filesystem::path(path_).filename().string(), text_,
                     records_.begin(index));
  }

 private:
  Result<void> split(std::size_t begin) {
    const std::size_t end = csv_record_end(text_, begin, layout_.separator).value_or(text_.size());
    std::size_t at = 0;
    const auto done = csv_split(text_.substr(begin, end - begin), layout_.separator, fields_, at);
    if (!done) return done.error().within(csv_place(path_, text_, begin + at));
    if (fields_.size() == layout_.fields) return {};
    return Error{concat(csv_place(path_, text_, begin), ": expected ", layout_.fields,
                        " fields, as in the first line, found ", fields_.size())};
  }

  std::string_view value_of(const Column& column, const CsvField& field) {
    if (column.missing && column.is_empty(field)) return *column.missing;
    return csv_value(field, memory_);
  }

  Result<void> read_column(const Column& column, std::size_t record, TensorSlot slot) {
    if (column.is_text) return read_text(column, record, slot);
    const ReadValue read_value = reader_of(column.type.dtype);
    const std::size_t element = dtype_bytes(column.type.dtype);
    auto* out = static_cast<std::byte*>(slot.data());
    for (const std::size_t i : column.columns) {
      const std::string_view value = trim(value_of(column, fields_[i]));
      auto done = read_value(value, out);
      if (!done && value.empty())
        done = Error{concat(done.error().message, "; write `missing: {", column.type.name,
                            ": VALUE}` to replace empty fields")};
      if (!done) return done.error().within(csv_place(path_, text_, record + fields_[i].at));
      out += element;
    }
    return {};
  }

  Result<void> read_text(const Column& column, std::size_t record, TensorSlot slot) {
    const CsvField& field = fields_[column.columns[0]];
    const std::string_view value = value_of(column, field);
    const auto bytes_max = static_cast<std::size_t>(slot.bounds()[0]);
    if (value.size() > bytes_max)
      return Error{concat(csv_place(path_, text_, record + field.at), ": a text of ", value.size(),
                          " bytes, but text_bytes is ", bytes_max)};
    if (column.type.ragged()) {
      BRIGADE_TRY(slot.resize({static_cast<std::int64_t>(value.size())}));
    } else {
      std::memset(static_cast<char*>(slot.data()) + value.size(), 0, bytes_max - value.size());
    }
    if (!value.empty()) std::memcpy(slot.data(), value.data(), value.size());
    return {};
  }

  std::string path_;
  MappedFile file_;
  std::string_view text_;
  Layout layout_;
  CsvRecords records_;
  std::vector<CsvField> fields_;  // of the current record
  std::string memory_;
};

}  // namespace

void add_csv(StageTypes& types) { types.add<Csv>(csv_contract()); }

}  // namespace brigade
