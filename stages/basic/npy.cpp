#include <algorithm>
#include <cstring>
#include <filesystem>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "base/units.h"
#include "stages/api/file_length.h"
#include "stages/api/npy_header.h"
#include "stages/basic/basic_stages.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"

namespace brigade {
namespace {

struct NpyParams {
  InputPaths files;
};

TensorType sample_type(const std::string& name, const NpyHeader& header) {
  TensorType type{name, header.dtype, {}};
  for (int i = 1; i < header.shape.rank(); ++i) type.shape.emplace_back(header.shape[i]);
  return type;
}

Result<void> check_samples(const std::string& path, std::int64_t samples,
                           const std::string& first_path, std::int64_t first) {
  if (samples == first) return {};
  const auto count = [](std::int64_t n) { return format_count(static_cast<std::uint64_t>(n)); };
  return Error{concat(path, ": holds ", count(samples), " samples, but ", first_path, " holds ",
                      count(first), "; all files must have the same first axis")};
}

Error gzipped(const std::string& path) {
  return Error{concat(path, ": is gzipped, so it cannot be mapped; unpack it (gunzip)")};
}

Result<void> check_array(const std::string& path, const FileHeader& file, const NpyHeader& header) {
  return check_length(path, file, header.bytes,
                      header.sample_bytes * static_cast<std::uint64_t>(header.shape[0]),
                      concat(dtype_name(header.dtype), shape_text(header.shape)));
}

Result<Ports> npy_outputs(const NpyParams& params, const Ports&, const FileMetadata& metadata) {
  const auto& files = params.files.files;
  if (files.empty()) return Error{"no files are named; write `files: {image: images.npy}`"};
  Ports ports;
  std::int64_t samples = 0;
  for (const auto& [name, path] : files) {
    const FileHeader* const file_header = metadata.find(concat("files.", name));
    if (file_header == nullptr) return Error{concat(path, ": its header could not be read")};
    if (file_header->is_gzip) return gzipped(path);
    BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(path, file_header->header));
    BRIGADE_TRY(check_array(path, *file_header, header));
    if (ports.tensors.empty()) samples = header.shape[0];
    BRIGADE_TRY(check_samples(path, header.shape[0], files[0].second, samples));
    ports.tensors.push_back(sample_type(name, header));
  }
  return ports;
}

std::optional<std::uint64_t> npy_samples(const NpyParams& params, const FileMetadata& metadata) {
  if (params.files.files.empty()) return std::nullopt;
  const auto& [name, path] = params.files.files.front();
  const FileHeader* const file_header = metadata.find(concat("files.", name));
  if (file_header == nullptr) return std::nullopt;
  const auto header = parse_npy_header(path, file_header->header);
  if (!header) return std::nullopt;
  return static_cast<std::uint64_t>(header->shape[0]);
}

Contract<NpyParams> npy_contract() {
  return Contract<NpyParams>("npy", "Reads NumPy arrays of .npy files, one sample per row.")
      .producer()
      .param("files", &NpyParams::files,
             "a .npy file per tensor; the first axis is the samples, as many in each")
      .required()
      .file_header()
      .outputs(npy_outputs)
      .counts(npy_samples)
      .example(
          "producer: npy\n"
          "shuffle: true\n"
          "params:\n"
          "  files: {image: images.npy, label: labels.npy}\n");
}

/// The rows of one mapped file.
struct Array {
  std::string tensor;
  std::string path;
  MappedFile file;
  NpyHeader header;

  const char* row(std::uint64_t index) const {
    return file.bytes().data() + header.bytes + index * header.sample_bytes;
  }
};

template <class Whole>
std::int64_t number_at(const char* element) {
  Whole number;
  std::memcpy(&number, element, sizeof number);
  return number;
}

/// Nothing where the dtype has others, too.
std::optional<std::int64_t> whole_number(DType dtype, const char* element) {
  switch (dtype) {
    case DType::u8:
      return number_at<std::uint8_t>(element);
    case DType::i32:
      return number_at<std::int32_t>(element);
    case DType::i64:
      return number_at<std::int64_t>(element);
    default:
      return std::nullopt;
  }
}

Result<Array> open_array(const std::string& name, const std::string& path) {
  Array out{name, path, {}, {}};
  BRIGADE_ASSIGN(out.file, MappedFile::open(path));
  const std::string_view bytes = out.file.bytes();
  if (bytes.starts_with("\x1f\x8b")) return gzipped(path);
  BRIGADE_ASSIGN(out.header, parse_npy_header(path, bytes));
  BRIGADE_TRY(check_array(path, {"", bytes.size()}, out.header));
  return out;
}

class Npy : public Producer, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    Ports now;
    for (const auto& [name, path] : context.params<NpyParams>().files.files) {
      BRIGADE_ASSIGN(Array array, open_array(name, path));
      now.tensors.push_back(sample_type(name, array.header));
      arrays_.push_back(std::move(array));
      const Array& first = arrays_.front();
      BRIGADE_TRY(
          check_samples(path, arrays_.back().header.shape[0], first.path, first.header.shape[0]));
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (i >= context.outputs.tensors.size() || !(context.outputs.tensors[i] == now.tensors[i]))
        return Error{concat(arrays_[i].path, ": changed since the graph was checked: it now gives ",
                            now.tensors[i].text())};
    return {};
  }

  Result<std::uint64_t> size() override {
    return static_cast<std::uint64_t>(arrays_.front().header.shape[0]);
  }

  std::uint64_t fingerprint() override {
    Fingerprint all;
    for (const Array& array : arrays_) all.add_file(array.file.bytes());
    return all.value();
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      std::memcpy(out.at(i).data(), arrays_[i].row(index), arrays_[i].header.sample_bytes);
    return Next::emit;
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    const auto label = std::ranges::find(arrays_, "label", &Array::tensor);
    if (label == arrays_.end()) return Error{"it gives no tensor `label`"};
    if (label->header.shape.rank() == 1)
      if (const auto number = whole_number(label->header.dtype, label->row(index))) return *number;
    return Error{concat(label->path, ": expected a whole number for each sample, found ",
                        sample_type("label", label->header).text())};
  }

  std::string describe(std::uint64_t index) const override {
    return concat("row ", index, " of ",
                  std::filesystem::path(arrays_.front().path).filename().string());
  }

 private:
  std::vector<Array> arrays_;
};

}  // namespace

void add_npy(StageTypes& types) { types.add<Npy>(npy_contract()); }

}  // namespace brigade
