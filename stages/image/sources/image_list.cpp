// image_list: images named by a table, a line each. The table is mapped; a byte a line is kept, and
// the names of the classes where labels are names.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"
#include "stages/image/image_stages.h"
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
  InputPath root;
  bool header = true;
  std::string separator = ",";
  bool read_ahead = true;

  bool has_labels() const { return label != "none"; }
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

Contract<ImageListParams> image_list_contract() {
  return Contract<ImageListParams>("image_list",
                                   "Lists the images that a text table (CSV) names, with labels.")
      .producer()
      .param("file", &ImageListParams::file, "table in UTF-8, an image per line; not packed")
      .required()
      .file_header()
      .param("path", &ImageListParams::path,
             "column of the images' paths; without a header its number, 1 if nothing is said")
      .param("label", &ImageListParams::label,
             "column of the labels; without a header its number, 2 if nothing is said; none: no "
             "labels")
      .param("mask", &ImageListParams::mask,
             "column of the paths of masks, which become the tensor `mask_path` for decode_image "
             "(without a header its number); none: no masks")
      .choice("labels", &ImageListParams::labels,
              {{"numbers", Labels::numbers}, {"names", Labels::names}},
              "labels are whole numbers, or names, which become 0, 1, ... in their sorted order")
      .param("root", &ImageListParams::root,
             "folder that relative paths begin in; none: that of the table")
      .param("header", &ImageListParams::header,
             "the first line names the columns; without it they are 1, 2, ...")
      .param("separator", &ImageListParams::separator, "one character between fields")
      .param("read_ahead", &ImageListParams::read_ahead,
             "ask the kernel for each file while the stages below are busy with those before it")
      .outputs([](const ImageListParams& params, const Ports&,
                  const FileMetadata& metadata) -> Result<Ports> {
        const FileHeader* const file_header = metadata.find("file");
        if (file_header == nullptr)
          return Error{concat(params.file.path, ": its beginning could not be read")};
        if (auto layout = layout_of(params, file_header->header); !layout) return layout.error();
        Ports ports{{"path", u8, {up_to(kPathBytesMax)}}};
        if (!params.mask.empty())
          ports.tensors.push_back({"mask_path", u8, {up_to(kPathBytesMax)}});
        if (params.has_labels()) ports.tensors.push_back({"label", i64, {}});
        return ports;
      })
      .counts(image_list_samples)
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
    BRIGADE_ASSIGN(file_, MappedFile::open(path));
    text_ = file_.bytes();
    if (text_.starts_with("\x1f\x8b"))
      return Error{concat(path, ": is gzipped, so it cannot be mapped; unpack it (gunzip)")};
    BRIGADE_ASSIGN(layout_, layout_of(params_, text_.substr(0, kMetadataBytesMax)));
    BRIGADE_ASSIGN(records_, CsvRecords::find(path, text_, layout_.separator, params_.header));
    root_ = params_.root.path;
    if (root_.empty()) root_ = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
    return params_.has_labels() && params_.labels == Labels::names ? find_classes()
                                                                   : Result<void>{};
  }

  Result<std::uint64_t> size() override { return records_.size(); }
  std::vector<SkippedInputs> skipped() const override { return records_.skipped(); }

  std::uint64_t fingerprint() override {
    Fingerprint all;
    all.add(text_);
    return all.value();
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const std::size_t begin = records_.begin(index);
    BRIGADE_TRY(split(begin));
    BRIGADE_TRY(write_path(begin, layout_.path, out["path"], read_ahead_));
    if (layout_.mask) BRIGADE_TRY(write_path(begin, *layout_.mask, out["mask_path"], masks_ahead_));
    if (params_.has_labels()) {
      BRIGADE_ASSIGN(out["label"].as<std::int64_t>()[0], label(begin));
    }
    return Next::emit;
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    if (!params_.has_labels()) return Error{"it has `label: none`"};
    const std::size_t begin = records_.begin(index);
    BRIGADE_TRY(split(begin));
    return label(begin);
  }
  std::vector<std::string> label_names() const override { return classes_; }

  std::string describe(std::uint64_t index) const override {
    std::vector<CsvField> fields;
    std::string memory;
    std::size_t at = 0;
    const auto split = csv_split(records_.text(index), layout_.separator, fields, at);
    if (!split || fields.size() <= layout_.path) return concat("line ", index + 1);
    return std::string(csv_value(fields[layout_.path], memory));
  }

 private:
  /// "list.csv:3:17", of a field of the record that begins there.
  std::string place(std::size_t begin, std::size_t field) const {
    return csv_place(params_.file.path, text_, begin + fields_[field].at);
  }

  Result<void> split(std::size_t begin) {
    const std::size_t end = csv_record_end(text_, begin, layout_.separator).value_or(text_.size());
    std::size_t at = 0;
    const auto done = csv_split(text_.substr(begin, end - begin), layout_.separator, fields_, at);
    if (!done) return done.error().within(csv_place(params_.file.path, text_, begin + at));
    if (fields_.size() == layout_.fields) return {};
    return Error{concat(csv_place(params_.file.path, text_, begin), ": expected ", layout_.fields,
                        " fields as in the first line, found ", fields_.size())};
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
    const std::string_view text = trim(csv_value(fields_[layout_.label], memory_));
    if (params_.labels == Labels::names) {
      const auto found = std::lower_bound(classes_.begin(), classes_.end(), text);
      if (found != classes_.end() && *found == text) return found - classes_.begin();
      return Error{concat(place(begin, layout_.label), ": the table changed since it was opened")};
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    return Error{concat(place(begin, layout_.label), ": expected a whole number, found ",
                        text.empty() ? "nothing" : quote(text),
                        text.empty() ? "" : "; `labels: names` numbers names")};
  }

  /// The names of all lines, sorted; lines that are broken fail when they are read.
  Result<void> find_classes() {
    std::size_t begin = records_.begin(0);
    for (std::uint64_t i = 0; i < records_.size(); ++i) {
      const std::size_t end =
          csv_record_end(text_, begin, layout_.separator).value_or(text_.size());
      if (split(begin)) {
        const std::string_view name = trim(csv_value(fields_[layout_.label], memory_));
        const auto at = std::lower_bound(classes_.begin(), classes_.end(), name);
        if (name.empty())
          return Error{concat(place(begin, layout_.label), ": expected a label, found nothing")};
        if (at == classes_.end() || *at != name) classes_.emplace(at, name);
      }
      begin = csv_skip_empty(text_, end);
    }
    return {};
  }

  ImageListParams params_;
  MappedFile file_;
  std::string_view text_;
  Layout layout_;
  CsvRecords records_;
  std::string root_;
  std::vector<std::string> classes_;
  std::vector<CsvField> fields_;  // of the current record
  std::string memory_;
  std::string path_;
  ReadAhead read_ahead_;
  ReadAhead masks_ahead_;  // apart: every so many files of a kind are looked at
};

}  // namespace

void add_image_list(StageTypes& types) { types.add<ImageList>(image_list_contract()); }

}  // namespace brigade
