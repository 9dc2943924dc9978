// image_list: images named by a table, a line each. The table is mapped; a byte a line is kept, and
// the names of the classes where labels are names.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"
#include "stages/image/image_stages.h"
#include "stages/image/index/class_names.h"
#include "stages/image/index/image_index.h"
#include "stages/image/sources/read_ahead.h"

namespace brigade {
namespace {

enum class Labels { numbers, names };

struct ImageListParams {
  InputPath file;
  std::string path = "path";
  std::string label = "label";
  std::string mask;
  Labels labels = Labels::numbers;
  InputPath classes;
  std::vector<std::string> names;
  InputPath root;
  bool header = true;
  std::string separator = ",";
  bool read_ahead = true;

  bool has_labels() const { return label != "none"; }
  bool has_names() const {
    return labels == Labels::names || !classes.path.empty() || !names.empty();
  }
};

/// The table as the parameters want it, from its beginning.
struct Layout {
  char separator = ',';
  std::size_t fields = 0;
  std::size_t path = 0;
  std::size_t label = 0;
  std::optional<std::size_t> mask;
};

Result<Layout> layout_of(const ImageListParams& params, std::string_view head) {
  Layout out;
  const std::string& file = params.file.path;
  BRIGADE_ASSIGN(out.separator, csv_separator(params.separator));
  BRIGADE_ASSIGN(const std::vector<std::string> names,
                 csv_names(file, head, out.separator, params.header));
  out.fields = names.size();
  // Without a header the usual order, unless something was said.
  const ImageListParams usual;
  const auto column = [&](const std::string& name, const std::string& usual_name,
                          const char* usual_number) {
    const bool said = params.header || name != usual_name;
    return csv_find_column(file, names, said ? name : usual_number, params.header);
  };
  BRIGADE_ASSIGN(out.path, column(params.path, usual.path, "1"));
  if (!params.mask.empty()) {
    BRIGADE_ASSIGN(out.mask, csv_find_column(file, names, params.mask, params.header));
  }
  if (!params.has_labels()) return out;
  BRIGADE_ASSIGN(out.label, column(params.label, usual.label, "2"));
  return out;
}

std::optional<SampleCount> image_list_samples(const ImageListParams& params,
                                              const FileMetadata& metadata) {
  return csv_samples(metadata.find("file"), params.separator, params.header);
}

/// A table in memory, and where the labels lie in it.
struct Table {
  MappedFile file;
  std::string_view text;
  Layout layout;
  CsvRecords records;

  static Result<Table> open(const ImageListParams& params) {
    const std::string& path = params.file.path;
    Table out;
    BRIGADE_ASSIGN(out.file, MappedFile::open(path));
    out.text = out.file.bytes();
    if (out.text.starts_with("\x1f\x8b"))
      return Error{
          concat(path, ": is compressed with gzip and cannot be mapped; unpack it (gunzip)")};
    BRIGADE_ASSIGN(out.layout, layout_of(params, out.text.substr(0, kMetadataBytesMax)));
    BRIGADE_ASSIGN(out.records,
                   CsvRecords::find(path, out.text, out.layout.separator, params.header));
    return out;
  }

  /// `use(begin, fields)` with each line that is not broken; broken ones fail when they are read.
  template <class Use>
  Result<void> each(Use use) const {
    std::vector<CsvField> fields;
    std::size_t begin = records.begin(0);
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      const std::size_t end = csv_record_end(text, begin, layout.separator).value_or(text.size());
      std::size_t at = 0;
      if (csv_split(text.substr(begin, end - begin), layout.separator, fields, at) &&
          fields.size() == layout.fields)
        BRIGADE_TRY(use(begin, fields));
      begin = csv_skip_empty(text, end);
    }
    return {};
  }

  /// The names of all lines, sorted, and where each stands first.
  Result<std::vector<NamedClass>> classes(const std::string& path) const {
    std::vector<NamedClass> out;
    std::string memory;
    BRIGADE_TRY(each([&](std::size_t begin, const std::vector<CsvField>& fields) -> Result<void> {
      const CsvField& field = fields[layout.label];
      const std::string_view name = trim(csv_value(field, memory));
      if (name.empty())
        return Error{
            concat(csv_place(path, text, begin + field.at), ": expected a label, found nothing")};
      const auto at = std::lower_bound(
          out.begin(), out.end(), name,
          [](const NamedClass& one, std::string_view wanted) { return one.name < wanted; });
      if (at == out.end() || at->name != name)
        out.insert(at, {std::string(name), csv_place(path, text, begin + field.at)});
      return {};
    }));
    return out;
  }
};

std::optional<std::vector<NamedClass>> classes_of_table(const ImageListParams& params) {
  if (!params.has_labels()) return std::nullopt;
  const auto table = Table::open(params);
  if (!table) return std::nullopt;
  auto classes = table->classes(params.file.path);
  if (!classes) return std::nullopt;
  return std::move(*classes);
}

Contract<ImageListParams> image_list_contract() {
  return Contract<ImageListParams>("image_list",
                                   "Lists the images and labels of a text table (CSV).")
      .producer()
      .param("file", &ImageListParams::file, "table in UTF-8, one image per line, uncompressed")
      .required()
      .file_header()
      .param("path", &ImageListParams::path,
             "column of the image paths; its number if the table has no header (default: 1)")
      .param("label", &ImageListParams::label,
             "column of the labels; its number if the table has no header (default: 2); none: no "
             "labels")
      .param("mask", &ImageListParams::mask,
             "column of the mask paths, output as the tensor `mask_path` for decode_image; its "
             "number if the table has no header; none: no masks")
      .choice("labels", &ImageListParams::labels,
              {{"numbers", Labels::numbers}, {"names", Labels::names}},
              "how labels are written: integers, or names, which become 0, 1, ... in sorted order")
      .param("classes", &ImageListParams::classes,
             "file with the names of classes 0, 1, ..., one per line; labels are these names")
      .param("names", &ImageListParams::names,
             "class names as a list; if several sources of a graph have `labels: names`, all use "
             "the classes of the training source, or of the first source")
      .param("root", &ImageListParams::root,
             "folder that relative paths start from; none: the folder of the table")
      .param("header", &ImageListParams::header,
             "the first line names the columns; false: columns are numbered 1, 2, ...")
      .param("separator", &ImageListParams::separator, "one character between fields")
      .param("read_ahead", &ImageListParams::read_ahead,
             "prefetch upcoming files into the page cache while downstream stages work")
      .outputs([](const ImageListParams& params, const Ports&,
                  const FileMetadata& metadata) -> Result<Ports> {
        const FileHeader* const file_header = metadata.find("file");
        if (file_header == nullptr)
          return Error{concat(params.file.path, ": cannot read its first bytes")};
        if (auto layout = layout_of(params, file_header->header); !layout) return layout.error();
        if (!params.classes.path.empty() && !params.names.empty())
          return Error{"classes and names both define the labels; omit one of them"};
        Ports ports{{"path", u8, {up_to(kPathBytesMax)}}};
        if (!params.mask.empty())
          ports.tensors.push_back({"mask_path", u8, {up_to(kPathBytesMax)}});
        if (params.has_labels()) ports.tensors.push_back({"label", i64, {}});
        return ports;
      })
      .counts(image_list_samples)
      .named_classes(classes_of_table)
      .example(
          "producer: image_list\n"
          "shuffle: true\n"
          "params: {file: train.csv, path: image, label: species, labels: names}\n");
}

class ImageList : public Producer, public SkipsInputs, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<ImageListParams>();
    read_ahead_ = masks_ahead_ = ReadAhead(params_.read_ahead);
    const std::string& path = params_.file.path;
    BRIGADE_ASSIGN(table_, Table::open(params_));
    root_ = params_.root.path;
    if (root_.empty()) root_ = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
    return params_.has_labels() && params_.has_names() ? find_classes() : Result<void>{};
  }

  Result<std::uint64_t> size() override { return table_.records.size(); }
  std::vector<SkippedInputs> skipped() const override { return table_.records.skipped(); }

  std::uint64_t fingerprint() override {
    Fingerprint all;
    all.add(table_.text);
    return all.value();
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const std::size_t begin = table_.records.begin(index);
    BRIGADE_TRY(split(begin));
    BRIGADE_TRY(write_path(begin, layout().path, out["path"], read_ahead_));
    if (layout().mask)
      BRIGADE_TRY(write_path(begin, *layout().mask, out["mask_path"], masks_ahead_));
    if (params_.has_labels()) {
      BRIGADE_ASSIGN(out["label"].as<std::int64_t>()[0], label(begin));
    }
    return Next::emit;
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    if (!params_.has_labels()) return Error{"the source has `label: none`"};
    const std::size_t begin = table_.records.begin(index);
    BRIGADE_TRY(split(begin));
    return label(begin);
  }
  std::vector<std::string> label_names() const override { return classes_; }

  std::string describe(std::uint64_t index) const override {
    std::vector<CsvField> fields;
    std::string memory;
    std::size_t at = 0;
    const auto split = csv_split(table_.records.text(index), layout().separator, fields, at);
    if (!split || fields.size() <= layout().path) return concat("line ", index + 1);
    return std::string(csv_value(fields[layout().path], memory));
  }

 private:
  const Layout& layout() const { return table_.layout; }

  /// "list.csv:3:17", of a field of the record that begins there.
  std::string place(std::size_t begin, std::size_t field) const {
    return csv_place(params_.file.path, table_.text, begin + fields_[field].at);
  }

  Result<void> split(std::size_t begin) {
    const std::size_t end =
        csv_record_end(table_.text, begin, layout().separator).value_or(table_.text.size());
    std::size_t at = 0;
    const auto done =
        csv_split(table_.text.substr(begin, end - begin), layout().separator, fields_, at);
    if (!done) return done.error().within(csv_place(params_.file.path, table_.text, begin + at));
    if (fields_.size() == layout().fields) return {};
    return Error{concat(csv_place(params_.file.path, table_.text, begin), ": expected ",
                        layout().fields, " fields, as in the first line, found ", fields_.size())};
  }

  /// Of the current record, which begins there.
  Result<void> write_path(std::size_t begin, std::size_t field, TensorSlot slot, ReadAhead& ahead) {
    const std::string_view name = csv_value(fields_[field], memory_);
    if (name.empty()) return Error{concat(place(begin, field), ": the path is empty")};
    path_ = name.starts_with('/') ? std::string(name) : concat(root_, "/", name);
    if (path_.size() >= kPathBytesMax)
      return Error{
          concat(place(begin, field), ": the path is longer than ", kPathBytesMax - 1, " bytes")};
    ahead.file(path_);
    BRIGADE_ASSIGN(const auto bytes,
                   slot.resize<std::uint8_t>({static_cast<std::int64_t>(path_.size())}));
    std::memcpy(bytes.data(), path_.data(), path_.size());
    return {};
  }

  Result<std::int64_t> label(std::size_t begin) {
    const std::string_view text = trim(csv_value(fields_[layout().label], memory_));
    if (params_.has_names()) {
      const auto found = numbers_.find(text);
      if (found != numbers_.end()) return found->second;
      return Error{concat(place(begin, layout().label), ": ",
                          not_a_class(text, classes_.size(), params_.classes.path))};
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    return Error{concat(place(begin, layout().label), ": expected a whole number, found ",
                        text.empty() ? "nothing" : quote(text),
                        text.empty() ? "" : "; write `labels: names` if labels are names")};
  }

  /// Of the file, of the list, or of all lines.
  Result<void> find_classes() {
    if (!params_.classes.path.empty()) {
      BRIGADE_ASSIGN(const ClassNames read, ClassNames::read(params_.classes.path));
      for (const std::string_view name : brigade::split(trim(read.lines()), '\n'))
        classes_.emplace_back(name);
    } else if (!params_.names.empty()) {
      classes_ = params_.names;
    } else {
      BRIGADE_ASSIGN(const auto found, table_.classes(params_.file.path));
      for (const NamedClass& one : found) classes_.push_back(one.name);
    }
    for (std::size_t i = 0; i < classes_.size(); ++i)
      numbers_.emplace(classes_[i], static_cast<std::int64_t>(i));
    return {};
  }

  ImageListParams params_;
  Table table_;
  std::string root_;
  std::vector<std::string> classes_;  // by their numbers
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::vector<CsvField> fields_;  // of the current record
  std::string memory_;
  std::string path_;
  ReadAhead read_ahead_;
  ReadAhead masks_ahead_;  // apart: every so many files of a kind are looked at
};

}  // namespace

void add_image_list(StageTypes& types) { types.add<ImageList>(image_list_contract()); }

}  // namespace brigade
