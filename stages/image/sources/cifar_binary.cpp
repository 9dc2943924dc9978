// cifar_binary: the files of CIFAR-10 and CIFAR-100, "binary version"
// (https://www.cs.toronto.edu/~kriz/cifar.html): records of one or two labels and 32 x 32 pixels,
// all red ones first, then green, then blue. The files are mapped, nothing else is kept.

#include <algorithm>
#include <filesystem>
#include <utility>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/api/file_patterns.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"
#include "stages/image/image_stages.h"

namespace brigade {
namespace {

enum class Format { cifar10, cifar100 };

struct CifarParams {
  InputFiles files;
  Format format = Format::cifar10;
};

constexpr std::int64_t kSide = 32;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::size_t kPlanes = 3;

std::size_t labels_of(Format format) { return format == Format::cifar10 ? 1 : 2; }
std::size_t record_bytes(Format format) { return labels_of(format) + kPlanes * kPixels; }
std::string_view name_of(Format format) {
  return format == Format::cifar10 ? "cifar10" : "cifar100";
}

/// By the files' sizes, where no wildcard stands for them.
std::optional<std::uint64_t> cifar_samples(const CifarParams& params,
                                           const FileMetadata& metadata) {
  const auto files = expand_all_braces(params.files.patterns);
  if (!files) return std::nullopt;
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < files->size(); ++i) {
    const FileHeader* const file_header = metadata.find(concat("files.", i));
    if (file_header == nullptr || file_header->file_bytes % record_bytes(params.format) != 0)
      return std::nullopt;
    samples += file_header->file_bytes / record_bytes(params.format);
  }
  return samples;
}

Contract<CifarParams> cifar_binary_contract() {
  return Contract<CifarParams>("cifar_binary",
                               "Reads the images and labels of CIFAR-10 or CIFAR-100.")
      .producer()
      .param("files", &CifarParams::files,
             "unpacked files of the binary version, such as data_batch_{1..5}.bin")
      .required()
      .file_header()
      .choice("format", &CifarParams::format,
              {{"cifar10", Format::cifar10}, {"cifar100", Format::cifar100}},
              "cifar10: one label, 0 to 9; cifar100: label, 0 to 99, and coarse_label, 0 to 19")
      .outputs([](const CifarParams& params, const Ports&) -> Result<Ports> {
        Ports ports{{"image", u8, {kSide, kSide, Dim(kPlanes)}}, {"label", i64, {}}};
        if (params.format == Format::cifar100) ports.tensors.push_back({"coarse_label", i64, {}});
        return ports;
      })
      .counts(cifar_samples)
      .example(
          "producer: cifar_binary\n"
          "shuffle: true\n"
          "params: {files: \"cifar-10-batches-bin/data_batch_{1..5}.bin\"}\n");
}

Error wrong_size(std::string_view bytes, Format format) {
  if (bytes.starts_with("\x1f\x8b")) return Error{"is compressed with gzip; unpack it (tar -xzf)"};
  if (bytes.empty()) return Error{"is empty"};
  const Format other = format == Format::cifar10 ? Format::cifar100 : Format::cifar10;
  const bool fits_other = bytes.size() % record_bytes(other) == 0;
  return Error{concat("has ", format_count(bytes.size()), " bytes, expected a multiple of ",
                      format_count(record_bytes(format)), " for ", name_of(format),
                      fits_other ? concat("; its size matches ", name_of(other),
                                          ": write `format: ", name_of(other), "`")
                                 : "; check that the download is complete")};
}

class CifarBinary : public Producer, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<CifarParams>();
    format_ = params.format;
    BRIGADE_ASSIGN(paths_, list_files(params.files.patterns));
    for (const std::string& path : paths_) {
      BRIGADE_ASSIGN(MappedFile file, MappedFile::open(path));
      const std::string_view bytes = file.bytes();
      if (bytes.empty() || bytes.size() % record_bytes(format_) != 0)
        return wrong_size(bytes, format_).within(path);
      count_ += bytes.size() / record_bytes(format_);
      files_.push_back(std::move(file));
      ends_.push_back(count_);
    }
    return {};
  }

  Result<std::uint64_t> size() override { return count_; }

  // Labels alone would not be cheaper: one lies in every page.
  std::uint64_t fingerprint() override {
    Fingerprint all;
    for (const MappedFile& file : files_) all.add_file(file.bytes());
    return all.value();
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    const auto [file, record] = place_of(index);
    const auto label_at = [bytes = record_of(file, record)](std::size_t i) {
      return static_cast<std::uint8_t>(bytes[i]);
    };
    const bool fine = format_ == Format::cifar100;
    const std::int64_t label = label_at(fine ? 1 : 0);
    if (label >= (fine ? 100 : 10) || (fine && label_at(0) >= 20))
      return Error{concat(paths_[file], ": image ", record, " has label ",
                          fine ? concat(label, ", coarse ", label_at(0)) : concat(label),
                          ", expected 0 to ", fine ? "99, coarse 0 to 19" : "9",
                          "; check that this is a file of ", name_of(format_))};
    return label;
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    BRIGADE_ASSIGN(out["label"].as<std::int64_t>()[0], label_of(index));
    const auto [file, record] = place_of(index);
    const std::string_view bytes = record_of(file, record);
    if (format_ == Format::cifar100)
      out["coarse_label"].as<std::int64_t>()[0] = static_cast<std::uint8_t>(bytes[0]);
    const char* const planes = bytes.data() + labels_of(format_);
    std::uint8_t* pixel = out["image"].as<std::uint8_t>().data();
    for (std::size_t i = 0; i < kPixels; ++i)
      for (std::size_t c = 0; c < kPlanes; ++c)
        *pixel++ = static_cast<std::uint8_t>(planes[c * kPixels + i]);
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override {
    const auto [file, record] = place_of(index);
    return concat(std::filesystem::path(paths_[file]).filename().string(), ": image ", record);
  }

 private:
  std::string_view record_of(std::size_t file, std::uint64_t record) const {
    return files_[file].bytes().substr(record * record_bytes(format_), record_bytes(format_));
  }

  std::pair<std::size_t, std::uint64_t> place_of(std::uint64_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto file = static_cast<std::size_t>(end - ends_.begin());
    return {file, index - (file == 0 ? 0 : ends_[file - 1])};
  }

  Format format_ = Format::cifar10;
  std::vector<std::string> paths_;
  std::vector<MappedFile> files_;
  std::vector<std::uint64_t> ends_;  // samples up to the end of each file
  std::uint64_t count_ = 0;
};

}  // namespace

void add_cifar_binary(StageTypes& types) { types.add<CifarBinary>(cifar_binary_contract()); }

}  // namespace brigade
