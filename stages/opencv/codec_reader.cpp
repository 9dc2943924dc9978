// The door of the module `opencv_imgcodecs`: JPEG 2000, OpenEXR, Radiance HDR and AVIF, decoded by
// OpenCV, all of the picture.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include <brigade/text.h>
#include "stages/image/decode/imgcodecs.h"
#include "stages/image/decode/picture_bytes.h"
#include "stages/opencv/codec_header.h"

namespace brigade::opencv {
namespace {

constexpr const char* kExrVariable = "OPENCV_IO_ENABLE_OPENEXR";

/// As OpenCV reads its variables.
bool is_exr_enabled() {
  const char* const text = std::getenv(kExrVariable);
  const std::string_view value = text == nullptr ? "" : text;
  return value == "1" || value == "true" || value == "True" || value == "TRUE";
}

bool has_avif() {
  const std::string facts = cv::getBuildInformation();
  const std::size_t at = facts.find("AVIF:");
  if (at == facts.npos) return false;
  return facts.substr(at, facts.find('\n', at) - at).find("NO") == facts.npos;
}

/// OpenCV's readers of OpenEXR and Radiance HDR take files only. This one has no name, so that a
/// process that is killed leaves none.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("brigade image", MFD_CLOEXEC)) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t written = write(file_, bytes.data(), bytes.size());
      if (written <= 0) {
        close(file_);
        file_ = -1;
      } else {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      }
    }
  }
  ~MemoryFile() {
    if (file_ >= 0) close(file_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool is_open() const { return file_ >= 0; }
  std::string path() const { return concat("/proc/self/fd/", file_); }

 private:
  int file_;
};

class CodecReader : public ImageReader {
 public:
  explicit CodecReader(ImageCodec codec) : codec_(codec) {
    cv::setNumThreads(1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  }

  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    if (codec_ == ImageCodec::avif && !has_avif())
      return Error{concat("it is an AVIF file, which OpenCV ", CV_VERSION,
                          " cannot decode; convert it to PNG, JPEG or WebP, or build with an "
                          "OpenCV that supports AVIF (4.8 or later, with libavif)")};
    if (codec_ == ImageCodec::openexr && !is_exr_enabled())
      return Error{
          concat("it is an OpenEXR file, which OpenCV decodes only with the environment variable ",
                 kExrVariable, "=1; set it if you trust your files")};
    BRIGADE_ASSIGN(header_, read_codec_header(codec_, bytes));
    bytes_ = bytes;
    stored_ = channels == Channels::stored;
    if (!stored_) header_.channels = kColors;
    if (stored_ && (codec_ == ImageCodec::openexr || codec_ == ImageCodec::avif))
      return Error{
          concat(codec_name(codec_), " files can be read only as colors; ", "omit `channels:`")};
    if (header_.channels != 1 && header_.channels != kColors && header_.channels != kColors + 1)
      return Error{concat("it has ", header_.channels, " channels; ", codec_name(codec_),
                          " files need 1, 3 or 4")};
    return ImageHeader{header_.height, header_.width, 1, 0, header_.channels};
  }

  Result<Pixels> read(const Box& box) override {
    cv::Mat picture;
    try {
      picture = decode();
    } catch (const cv::Exception& error) {
      return broken(error.err);
    }
    if (picture.empty())
      return broken(
          "the file is damaged, of an unsupported kind, or needs more memory than pixels_max "
          "allows");
    if (picture.rows != header_.height || picture.cols != header_.width ||
        picture.channels() != header_.channels)
      return broken(concat("it has ", picture.cols, " x ", picture.rows, " x ", picture.channels(),
                           " values, the header declares ", header_.width, " x ", header_.height,
                           " x ", header_.channels));
    const std::int64_t stride = box.width * header_.channels;
    std::uint8_t* const to = pixels_.at_least(static_cast<std::size_t>(stride * box.height));
    for (std::int64_t y = 0; y < box.height; ++y)
      BRIGADE_TRY(write_row(picture, static_cast<int>(box.y + y), box, to + y * stride));
    return Pixels{to, stride, box.height, box.width, header_.channels};
  }

  void give_back() override { pixels_.give_back(); }

 private:
  static constexpr int kColors = 3;

  Error broken(std::string_view why) const {
    return Error{concat("the ", codec_name(codec_), " data cannot be read by OpenCV ", CV_VERSION,
                        ": ", why)};
  }

  cv::Mat decode() const {
    const int flags = stored_
                          ? cv::IMREAD_UNCHANGED
                          : cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH | cv::IMREAD_IGNORE_ORIENTATION;
    if (codec_ == ImageCodec::openexr || codec_ == ImageCodec::radiance_hdr) {
      const MemoryFile file(bytes_);
      return file.is_open() ? cv::imread(file.path(), flags) : cv::Mat();
    }
    // Only read.
    const cv::Mat bytes(1, static_cast<int>(bytes_.size()), CV_8UC1,
                        const_cast<char*>(bytes_.data()));
    return cv::imdecode(bytes, flags);
  }

  Result<void> write_row(const cv::Mat& picture, int row, const Box& box, std::uint8_t* to) const {
    const auto whole = [this](auto value) {
      const std::int64_t most = (std::int64_t{1} << header_.bits) - 1;
      return static_cast<std::uint8_t>(
          std::min<std::int64_t>((std::int64_t{value} * 255 + most / 2) / most, 255));
    };
    switch (picture.depth()) {
      case CV_8U:
        if (header_.bits >= 8)  // of a palette 8, whatever its indices have
          convert<std::uint8_t>(picture, row, box, to, [](std::uint8_t value) { return value; });
        else
          convert<std::uint8_t>(picture, row, box, to, whole);
        return {};
      case CV_16U:
        convert<std::uint16_t>(picture, row, box, to, whole);
        return {};
      case CV_32F:
        convert<float>(picture, row, box, to, [](float value) {
          // A number that is none fails both comparisons.
          const float level = value > 0 ? (value < 1 ? value * 255 : 255) : 0;
          return static_cast<std::uint8_t>(std::nearbyintf(level));
        });
        return {};
      default:
        return broken("the type of its values is not supported");
    }
  }

  /// OpenCV has blue first.
  template <class T, class Convert>
  void convert(const cv::Mat& picture, int row, const Box& box, std::uint8_t* to,
               const Convert& level) const {
    const int channels = header_.channels;
    const T* from = picture.ptr<T>(row) + box.x * channels;
    for (std::int64_t x = 0; x < box.width; ++x, from += channels, to += channels) {
      for (int c = 0; c < channels; ++c)
        to[c] = level(from[channels >= kColors && c < kColors ? kColors - 1 - c : c]);
    }
  }

  ImageCodec codec_;
  CodecHeader header_;
  std::string_view bytes_;
  bool stored_ = false;
  PictureBytes pixels_;
};

}  // namespace
}  // namespace brigade::opencv

brigade::ImageReader* brigade_opencv_imgcodecs_v1(brigade::ImageCodec codec) {
  return new brigade::opencv::CodecReader(codec);
}
