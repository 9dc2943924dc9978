#include "pipeline/cli/samples/sample_writer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <brigade/text.h>
#include "base/atomic_file.h"
#include "pipeline/cli/samples/png.h"

namespace brigade {
namespace {

constexpr std::int64_t kPictureSideMax = 1 << 14;

// Height, width and channels of a tensor that is a picture; nothing for others.
std::optional<std::array<std::uint32_t, 3>> picture_shape(const TensorView& tensor) {
  const Shape& shape = tensor.shape();
  if (tensor.dtype() != u8 || shape.rank() < 2 || shape.rank() > 3) return std::nullopt;
  const std::int64_t channels = shape.rank() == 3 ? shape[2] : 1;
  if (channels < 1 || channels > 4) return std::nullopt;
  for (int side : {0, 1}) {
    if (shape[side] < 2 || shape[side] > kPictureSideMax) return std::nullopt;
  }
  return std::array{static_cast<std::uint32_t>(shape[0]), static_cast<std::uint32_t>(shape[1]),
                    static_cast<std::uint32_t>(channels)};
}

std::string_view npy_type(DType dtype) {
  switch (dtype) {
    case boolean:
      return "|b1";
    case u8:
      return "|u1";
    case i8:
      return "|i1";
    case i16:
      return "<i2";
    case i32:
      return "<i4";
    case i64:
      return "<i8";
    case f16:
      return "<f2";
    case bf16:
      return "<u2";
    case f32:
      return "<f4";
    case f64:
      return "<f8";
  }
  return "|V1";
}

std::string padded(std::uint64_t number) {
  const std::string digits = concat(number);
  return digits.size() < 6 ? std::string(6 - digits.size(), '0') + digits : digits;
}

constexpr std::string_view kColumns[] = {"sample", "number", "epoch", "id"};

/// A name that no other column has.
std::string column_of(std::string_view tensor) {
  const bool taken =
      std::find(std::begin(kColumns), std::end(kColumns), tensor) != std::end(kColumns);
  return concat(tensor, taken ? " (tensor)" : "");
}

class SampleWriter : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<SampleWriterParams>();
    reporter_ = context.reporter;
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    if (written_ >= params_.count) return Next::emit;
    const SampleInfo& info = in.info();
    std::vector<std::string> names(std::begin(kColumns), std::end(kColumns));
    const std::string name = padded(info.number);
    std::vector<std::string> cells = {name, concat(info.number), concat(info.epoch),
                                      concat(info.id)};
    for (std::size_t i = 0; i < in.size(); ++i) {
      names.push_back(column_of(in.name(i)));
      BRIGADE_ASSIGN(std::string cell, write_tensor(name, in.name(i), in.at(i)));
      cells.push_back(std::move(cell));
    }
    if (written_ == 0) table_ = join(names, "\t") + "\n";
    table_ += join(cells, "\t") + "\n";
    BRIGADE_TRY(write_file_atomically(params_.folder.path + "/samples.tsv", table_));
    ++written_;
    reporter_->log(concat("sample ", info.number, " (epoch ", info.epoch, ", id ", info.id,
                          "): ", join(std::vector(cells.begin() + 4, cells.end()), "  ")));
    return Next::emit;
  }

 private:
  // What stands for it in the table: a scalar's value, else the file's name.
  Result<std::string> write_tensor(const std::string& sample, std::string_view name,
                                   const TensorView& tensor) {
    if (tensor.shape().rank() == 0) return scalar_text(tensor);
    const TensorFile file = tensor_file(tensor);
    const std::string file_name = concat(sample, "_", name, file.ending);
    BRIGADE_TRY(write_file_atomically(concat(params_.folder.path, "/", file_name), file.bytes));
    return file_name;
  }

  SampleWriterParams params_;
  Reporter* reporter_ = nullptr;
  std::uint64_t written_ = 0;
  std::string table_;
};

}  // namespace

void add_sample_writer(StageTypes& types) {
  types.add<SampleWriter>(Contract<SampleWriterParams>(kSampleWriter, "Writes samples to files.")
                              .consumer()
                              .takes(Takes::samples)
                              .param("folder", &SampleWriterParams::folder, "where to write")
                              .param("count", &SampleWriterParams::count, "samples to write"));
}

TensorFile tensor_file(const TensorView& tensor) {
  const auto picture = picture_shape(tensor);
  if (!picture) return {".npy", encode_npy(tensor)};
  const auto [height, width, channels] = *picture;
  return {".png", encode_png(tensor.as<std::uint8_t>(), height, width, channels)};
}

std::string encode_npy(const TensorView& tensor) {
  std::string shape;
  for (std::int64_t size : tensor.shape()) shape += concat(size, ", ");
  std::string header = concat("{'descr': '", npy_type(tensor.dtype()),
                              "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr std::size_t kPrefix = 10;  // magic, version, length of the header
  while ((kPrefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.data()), tensor.bytes());
  return bytes;
}

std::string scalar_text(const TensorView& tensor) {
  switch (tensor.dtype()) {
    case boolean:
      return tensor.as<bool>()[0] ? "true" : "false";
    case u8:
      return concat(static_cast<int>(tensor.as<std::uint8_t>()[0]));
    case i8:
      return concat(static_cast<int>(tensor.as<std::int8_t>()[0]));
    case i16:
      return concat(tensor.as<std::int16_t>()[0]);
    case i32:
      return concat(tensor.as<std::int32_t>()[0]);
    case i64:
      return concat(tensor.as<std::int64_t>()[0]);
    case f32:
      return concat(tensor.as<float>()[0]);
    case f64:
      return concat(tensor.as<double>()[0]);
    case f16:
    case bf16:
      break;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.data(), sizeof bits);
  return concat("bits ", bits);
}

}  // namespace brigade
