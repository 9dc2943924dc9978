#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "base/units.h"
#include "stages/api/file_length.h"
#include "stages/api/npy_header.h"
#include "stages/api/npy_trailer.h"
#include "stages/basic/basic_stages.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"

namespace brigade {
namespace {

struct NpyParams {
  InputPaths files;
  TextMap dtypes;
};

Result<std::optional<DType>> said_dtype(const NpyParams& params, std::string_view name) {
  const TextMap::Entry* const said = params.dtypes.find(name);
  if (said == nullptr) return std::optional<DType>();
  const auto dtype = said->texts.size() == 1 ? parse_dtype(said->texts[0]) : std::nullopt;
  if (!dtype)
    return Error{concat("dtypes: ", quote(name), ": expected a dtype, found ",
                        quote(join(said->texts, ", ")))};
  return dtype;
}

Result<NpyHeader> header_of(const NpyParams& params, const std::string& name,
                            const std::string& path, std::string_view head) {
  BRIGADE_ASSIGN(const std::optional<DType> said, said_dtype(params, name));
  return parse_npy_header_to_convert(path, head, said);
}

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
  return Error{concat(path, ": is compressed with gzip and cannot be mapped; unpack it (gunzip)")};
}

Result<void> check_array(const std::string& path, const FileHeader& file, const NpyHeader& header) {
  return check_length(path, file, header.bytes, header.file_bytes(),
                      concat(dtype_name(header.dtype), shape_text(header.shape)));
}

Result<Ports> npy_outputs(const NpyParams& params, const Ports&, const FileMetadata& metadata) {
  const auto& files = params.files.files;
  if (files.empty()) return Error{"`files` is empty; write `files: {image: images.npy}`"};
  for (const TextMap::Entry& entry : params.dtypes.entries)
    if (std::ranges::find(files, entry.name, [](const auto& file) { return file.first; }) ==
        files.end())
      return Error{concat("dtypes: unknown tensor ", quote(entry.name), "; declare it in `files`")};
  Ports ports;
  std::int64_t samples = 0;
  for (const auto& [name, path] : files) {
    const FileHeader* const file_header = metadata.find(concat("files.", name));
    if (file_header == nullptr) return Error{concat(path, ": cannot read its header")};
    if (file_header->is_gzip) return gzipped(path);
    BRIGADE_ASSIGN(const NpyHeader header, header_of(params, name, path, file_header->header));
    // Whether a tail of that length is ours is seen when the file is opened.
    if (file_header->file_bytes != header.bytes + header.file_bytes() + kNpyTrailerBytes)
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
  const auto header = header_of(params, name, path, file_header->header);
  if (!header) return std::nullopt;
  return static_cast<std::uint64_t>(header->shape[0]);
}

Contract<NpyParams> npy_contract() {
  return Contract<NpyParams>("npy", "Reads NumPy arrays of .npy files, one sample per row.")
      .producer()
      .param("files", &NpyParams::files,
             "one .npy file per tensor; the first axis is the samples and has the same size in all "
             "files")
      .required()
      .file_header()
      .param("dtypes", &NpyParams::dtypes,
             "dtype of a tensor with a type unknown to NumPy: bf16 for bfloat16 of ml_dtypes")
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

  Result<void> read(std::uint64_t index, std::byte* out) const {
    const char* const data = file.bytes().data() + header.bytes;
    if (header.is_converted()) return convert(data, index, out);
    std::memcpy(out, data + index * header.sample_bytes, header.sample_bytes);
    return {};
  }

 private:
  Result<void> convert(const char* data, std::uint64_t index, std::byte* out) const {
    const std::size_t out_bytes = dtype_bytes(header.dtype);
    const std::size_t count = header.sample_bytes / out_bytes;
    for (std::size_t i = 0; i < count; ++i, out += out_bytes) {
      std::array<char, 8> element{};  // little-endian, zeros above
      std::memcpy(element.data(), data + place(index, i, count) * header.element_bytes,
                  header.element_bytes);
      if (header.is_big_endian) std::reverse(element.data(), element.data() + header.element_bytes);
      if (header.is_unsigned && (element.back() & 0x80) != 0)
        return Error{concat(path, ": row ", index, " has a number that does not fit i64 (uint64)")};
      std::memcpy(out, element.data(), out_bytes);
    }
    return {};
  }

  /// In elements, of element `i` of a row in the order of C.
  std::size_t place(std::uint64_t index, std::size_t i, std::size_t count) const {
    if (!header.is_fortran) return index * count + i;
    std::size_t stride = static_cast<std::size_t>(header.shape.elements());
    std::size_t at = index;
    for (int axis = header.shape.rank() - 1; axis > 0; --axis) {
      const auto size = static_cast<std::size_t>(header.shape[axis]);
      stride /= size;
      at += i % size * stride;
      i /= size;
    }
    return at;
  }
};

template <class Whole>
std::int64_t number_at(const std::byte* element) {
  Whole number;
  std::memcpy(&number, element, sizeof number);
  return number;
}

/// Nothing where the dtype has others, too.
std::optional<std::int64_t> whole_number(DType dtype, const std::byte* element) {
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

Result<Array> open_array(const NpyParams& params, const std::string& name,
                         const std::string& path) {
  Array out{name, path, {}, {}};
  BRIGADE_ASSIGN(out.file, MappedFile::open(path));
  const std::string_view bytes = out.file.bytes();
  if (bytes.starts_with("\x1f\x8b")) return gzipped(path);
  BRIGADE_ASSIGN(out.header, header_of(params, name, path, bytes));
  BRIGADE_TRY(check_array(path, {"", without_npy_trailer(bytes).size()}, out.header));
  return out;
}

class Npy : public Producer, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    Ports now;
    const auto& params = context.params<NpyParams>();
    for (const auto& [name, path] : params.files.files) {
      BRIGADE_ASSIGN(Array array, open_array(params, name, path));
      now.tensors.push_back(sample_type(name, array.header));
      arrays_.push_back(std::move(array));
      const Array& first = arrays_.front();
      BRIGADE_TRY(
          check_samples(path, arrays_.back().header.shape[0], first.path, first.header.shape[0]));
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (i >= context.outputs.tensors.size() || !(context.outputs.tensors[i] == now.tensors[i]))
        return Error{concat(arrays_[i].path,
                            ": changed after the graph was checked: it now contains ",
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
      BRIGADE_TRY(arrays_[i].read(index, static_cast<std::byte*>(out.at(i).data())));
    return Next::emit;
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    const auto label = std::ranges::find(arrays_, "label", &Array::tensor);
    if (label == arrays_.end()) return Error{"the source has no tensor `label`"};
    if (label->header.shape.rank() == 1) {
      std::array<std::byte, 8> element{};
      BRIGADE_TRY(label->read(index, element.data()));
      if (const auto number = whole_number(label->header.dtype, element.data())) return *number;
    }
    return Error{concat(label->path, ": expected one whole number per sample, found ",
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
