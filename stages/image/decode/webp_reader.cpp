#include <webp/decode.h>

#include <brigade/text.h>
#include "stages/image/decode/exif.h"
#include "stages/image/decode/imgcodecs.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {
namespace {

std::string_view status_text(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "libwebp does not support one of its features";
    default:
      return "its compressed data is damaged";
  }
}

class WebpReader : public ImageReader {
 public:
  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    bytes_ = bytes;
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(data(), bytes.size(), &features);
    if (status != VP8_STATUS_OK) return broken(status);
    if (features.has_animation != 0)
      return Error{"it is an animated WebP file; expected a single image"};
    height_ = features.height;
    width_ = features.width;
    channels_ = channels == Channels::stored && features.has_alpha != 0 ? 4 : 3;
    return ImageHeader{height_, width_, webp_orientation(bytes), 0, channels_};
  }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t stride = width_ * channels_;
    const auto size = static_cast<std::size_t>(stride * height_);
    std::uint8_t* const pixels = pixels_.at_least(size);
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      return Error{"the installed libwebp has an incompatible version"};
    config.output.colorspace = channels_ == 4 ? MODE_RGBA : MODE_RGB;  // alpha is not applied
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {pixels, static_cast<int>(stride), size};
    const VP8StatusCode status = WebPDecode(data(), bytes_.size(), &config);
    if (status != VP8_STATUS_OK) return broken(status);
    return Pixels{pixels + box.y * stride + box.x * channels_, stride, box.height, box.width,
                  channels_};
  }

  void give_back() override { pixels_.give_back(); }

 private:
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes_.data()); }

  static Error broken(VP8StatusCode status) {
    if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED)
      return Error{"the WebP data ends too early"};
    return Error{concat("the WebP data cannot be read: ", status_text(status))};
  }

  std::string_view bytes_;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  int channels_ = 3;
  PictureBytes pixels_;
};

}  // namespace

std::unique_ptr<ImageReader> make_webp_reader() { return std::make_unique<WebpReader>(); }

}  // namespace brigade
