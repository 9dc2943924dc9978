#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include <brigade/text.h>
#include "stages/image/decode/byte_order.h"
#include "stages/image/decode/imgcodecs.h"
#include "stages/image/decode/picture_bytes.h"
#include "stages/image/decode/tiff_layout.h"

namespace brigade {
namespace {

constexpr int kColors = 3;
constexpr std::size_t kErrorBytes = 160;
/// A strip or tile may reach beyond the picture, but not by more than this.
constexpr std::uint64_t kBlockSlackBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kPixelBytesMax = 16;             // where three channels are wanted
constexpr tmsize_t kListBytesMax = tmsize_t{256} << 20;  // of strips, say
/// Strips or tiles that are alike may be stored once, and be read so often. Few bytes that a
/// million of them share would take a terabyte of reading.
constexpr std::uint64_t kReadsMax = 16;
constexpr std::uint64_t kReadSlackBytes = std::uint64_t{16} << 20;

/// The marker of a JPEG stream's frame, where libjpeg finds it; 0: there is none.
std::uint8_t jpeg_frame(std::string_view stream) {
  for (std::size_t at = 2; at + 1 < stream.size();) {
    const auto marker = static_cast<std::uint8_t>(stream[at + 1]);
    const bool table = marker == 0xc4 || marker == 0xc8 || marker == 0xcc;
    if (stream[at] != '\xff' || marker == 0xff)
      at += 1;
    else if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd7))  // no markers, or without a length
      at += 2;
    else if (marker == 0xda)
      return 0;
    else if (marker >= 0xc0 && marker <= 0xcf && !table)
      return marker;
    else
      at += 2 + number_at(stream, at + 2, 2, true);
  }
  return 0;
}

class TiffReader : public ImageReader {
 public:
  ~TiffReader() override { close(); }

  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    close();
    bytes_ = bytes;
    at_ = read_ = 0;
    error_[0] = 0;
    TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, kListBytesMax);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, pass_over, this);
    // "m": not by mmap; the calls below are all there is of files.
    tiff_ = TIFFClientOpenExt("image", "rm", this, read_bytes, write_nothing, seek, close_nothing,
                              size_of, nullptr, nullptr, options);
    TIFFOpenOptionsFree(options);
    if (tiff_ == nullptr) return broken();
    stored_ = channels == Channels::stored;
    BRIGADE_TRY(read_layout());
    channels_ = stored_ ? layout_.samples : kColors;
    return ImageHeader{layout_.height, layout_.width, layout_.orientation, layout_.left_out(),
                       channels_};
  }

  Result<Pixels> read(const Box& box) override {
    pixels_.at_least(static_cast<std::size_t>(box.height * box.width * channels_));
    const std::int64_t y_step = layout_.block_height, x_step = layout_.block_width;
    const int wanted = stored_ ? layout_.samples : layout_.colors();
    const int colors = layout_.apart() ? wanted : 1;
    const int planes = colors + (layout_.apart() && !stored_ && layout_.associated >= 0);
    for (std::int64_t y = box.y / y_step * y_step; y < box.y + box.height; y += y_step)
      for (std::int64_t x = box.x / x_step * x_step; x < box.x + box.width; x += x_step)
        for (int i = 0; i < planes; ++i) {
          const int plane = i < colors ? i : layout_.associated;
          BRIGADE_ASSIGN(const std::int64_t row_bytes, read_block(y, x, plane));
          stored_ ? take_stored(box, y, x, plane, row_bytes) : take(box, y, x, plane, row_bytes);
        }
    return Pixels{pixels_.at_least(0), box.width * channels_, box.height, box.width, channels_};
  }

  void give_back() override {
    pixels_.give_back();
    block_.give_back();
  }

 private:
  void close() {
    if (tiff_ != nullptr) TIFFClose(tiff_);
    tiff_ = nullptr;
  }

  Error broken() const {
    return Error{concat("the TIFF data cannot be read: ", error_[0] != 0 ? error_ : "damaged")};
  }

  Result<void> read_layout() {
    TiffLayout& in = layout_ = {};
    TIFFGetField(tiff_, TIFFTAG_IMAGELENGTH, &in.height);
    TIFFGetField(tiff_, TIFFTAG_IMAGEWIDTH, &in.width);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_BITSPERSAMPLE, &in.bits);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_SAMPLESPERPIXEL, &in.samples);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_PLANARCONFIG, &in.planes);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_COMPRESSION, &in.compression);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_SAMPLEFORMAT, &in.format);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_ORIENTATION, &in.orientation);
    if (TIFFGetField(tiff_, TIFFTAG_PHOTOMETRIC, &in.photometric) == 0)
      return Error{"the TIFF data cannot be read: it has no photometric interpretation"};
    if (in.orientation < 1 || in.orientation > 8) in.orientation = 1;
    if (in.photometric == PHOTOMETRIC_YCBCR && in.compression == COMPRESSION_JPEG && !in.apart()) {
      TIFFSetField(tiff_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      in.photometric = PHOTOMETRIC_RGB;
    }
    read_alphas();
    if (in.photometric == PHOTOMETRIC_PALETTE) stored_ = false;  // its colors are three
    BRIGADE_TRY(check_kind(in, TIFFIsCODECConfigured(in.compression) != 0, stored_));
    in.tiled = TIFFIsTiled(tiff_) != 0;
    in.block_height = in.height;
    in.block_width = in.width;
    if (in.tiled) {
      TIFFGetField(tiff_, TIFFTAG_TILELENGTH, &in.block_height);
      TIFFGetField(tiff_, TIFFTAG_TILEWIDTH, &in.block_width);
    } else {
      std::uint32_t rows = 0;
      TIFFGetFieldDefaulted(tiff_, TIFFTAG_ROWSPERSTRIP, &rows);
      in.block_height = std::min(rows, in.height);
    }
    if (in.height == 0 || in.width == 0 || in.block_height == 0 || in.block_width == 0)
      return Error{"the TIFF data cannot be read: it has no rows or no columns"};
    if (in.photometric == PHOTOMETRIC_PALETTE &&
        TIFFGetField(tiff_, TIFFTAG_COLORMAP, &map_[0], &map_[1], &map_[2]) == 0)
      return Error{"the TIFF data cannot be read: its palette is missing"};
    if (in.photometric == PHOTOMETRIC_PALETTE) palette_shift_ = palette_shift();
    return {};
  }

  void read_alphas() {
    TiffLayout& in = layout_;
    std::uint16_t count = 0;
    const std::uint16_t* kinds = nullptr;
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    for (int i = 0; i < count && i < in.samples; ++i) {
      in.alphas += kinds[i] != EXTRASAMPLE_UNSPECIFIED;
      if (kinds[i] == EXTRASAMPLE_ASSOCALPHA) in.associated = in.samples - count + i;
    }
    const bool first_three = in.associated >= 0 && in.associated < in.colors();
    if (first_three || (!in.rgb() && in.photometric != PHOTOMETRIC_MINISBLACK)) in.associated = -1;
  }

  /// From an entry to 8 bits. Entries have 16, but some programs write 0 to 255, and libtiff's own
  /// programs see that as here.
  int palette_shift() const {
    for (const std::uint16_t* const color : map_)
      for (int i = 0; i < 1 << layout_.bits; ++i)
        if (color[i] > 255) return 8;
    return 0;
  }

  /// Of `plane`, into block_; gives the bytes of a row there.
  Result<std::int64_t> read_block(std::int64_t y, std::int64_t x, int plane) {
    const auto row = static_cast<std::uint32_t>(y);
    const auto column = static_cast<std::uint32_t>(x);
    const auto sample = static_cast<std::uint16_t>(plane);
    const std::uint64_t bytes = layout_.tiled ? TIFFTileSize64(tiff_) : TIFFStripSize64(tiff_);
    const std::uint64_t row_bytes =
        layout_.tiled ? TIFFTileRowSize64(tiff_) : TIFFScanlineSize64(tiff_);
    const std::uint64_t samples = layout_.apart() ? 1 : layout_.samples;
    const std::uint64_t pixels = std::uint64_t{layout_.height} * layout_.width;
    const std::uint64_t pixel_bytes = (samples * layout_.bits + 7) / 8;
    if (row_bytes * 8 < samples * layout_.bits * layout_.block_width ||
        bytes < row_bytes * layout_.block_height)
      return Error{
          "the TIFF data cannot be read: the size of its strips or tiles does not match its "
          "pixels"};
    if (bytes > pixels * (stored_ ? pixel_bytes : kPixelBytesMax) + kBlockSlackBytes)
      return Error{stored_ || pixel_bytes <= kPixelBytesMax
                       ? "the TIFF data cannot be read: the size of its strips or tiles does not "
                         "match its pixels"
                       : concat("its strips or tiles are too large to read RGB from ", samples,
                                " channels; `channels: ", samples, "` reads all of them")};
    BRIGADE_TRY(check_length(row_bytes, y));
    std::uint8_t* const block = block_.at_least(bytes);
    std::memset(block, 0, bytes);  // what the file leaves out
    const auto size = static_cast<tmsize_t>(bytes);
    const std::uint32_t number = layout_.tiled ? TIFFComputeTile(tiff_, column, row, 0, sample)
                                               : TIFFComputeStrip(tiff_, row, sample);
    BRIGADE_TRY(check_frame(number));
    const tmsize_t got = layout_.tiled ? TIFFReadEncodedTile(tiff_, number, block, size)
                                       : TIFFReadEncodedStrip(tiff_, number, block, size);
    if (got < 0) return broken();
    return static_cast<std::int64_t>(row_bytes);
  }

  /// Of the block that begins at row `y`: that the file may hold it, before there is memory for it.
  Result<void> check_length(std::uint64_t row_bytes, std::int64_t y) const {
    const std::uint32_t rows =
        layout_.tiled
            ? layout_.block_height
            : std::min(layout_.block_height, layout_.height - static_cast<std::uint32_t>(y));
    const auto ratio = tiff_ratio_max(layout_.compression);
    if (!ratio || bytes_.size() >= row_bytes * rows / *ratio) return {};
    return Error{concat("the TIFF data ends too early: ", bytes_.size(), " bytes cannot hold ",
                        layout_.block_width, " x ", rows, " pixels")};
  }

  /// Of JPEG, what TIFF has it for. Of other kinds libtiff would take a hundred scans of a block,
  /// each of few bytes.
  Result<void> check_frame(std::uint32_t block) const {
    if (layout_.compression != COMPRESSION_JPEG) return {};
    const std::uint64_t at = TIFFGetStrileOffset(tiff_, block);
    if (at >= bytes_.size()) return {};
    if (jpeg_frame(bytes_.substr(at, TIFFGetStrileByteCount(tiff_, block))) <= 0xc1) return {};
    return Error{
        "it is a TIFF file with progressive or arithmetic JPEG, which is not supported; convert "
        "the file"};
  }

  /// One sample of a row of the block, as 8 bits.
  std::uint8_t sample(const std::uint8_t* row, std::int64_t at) const {
    if (layout_.bits == 8) return row[at];
    if (layout_.bits == 16) {
      std::uint16_t value;
      std::memcpy(&value, row + 2 * at, sizeof value);
      return static_cast<std::uint8_t>((value * 255U + 32895U) >> 16);
    }
    const std::int64_t bit = at * layout_.bits;
    const int most = (1 << layout_.bits) - 1;
    const int value = row[bit / 8] >> (8 - layout_.bits - static_cast<int>(bit % 8)) & most;
    const bool index = layout_.photometric == PHOTOMETRIC_PALETTE;
    return static_cast<std::uint8_t>(index ? value : value * 255 / most);
  }

  void set(std::uint8_t value, int plane, std::uint8_t* to) const {
    if (layout_.rgb())
      to[plane] = value;
    else if (layout_.photometric == PHOTOMETRIC_PALETTE)
      for (int c = 0; c < kColors; ++c)
        to[c] = static_cast<std::uint8_t>(map_[c][value] >> palette_shift_);
    else
      std::memset(to, layout_.photometric == PHOTOMETRIC_MINISWHITE ? 255 - value : value, 3);
  }

  /// The colors before they were multiplied by `alpha`; as Pillow does it, black where that is 0.
  static void divide(std::uint8_t* color, int alpha) {
    for (int c = 0; c < kColors; ++c)
      color[c] = static_cast<std::uint8_t>(alpha == 0 ? 0 : std::min(color[c] * 255 / alpha, 255));
  }

  /// What the box and the block at (top, left) share.
  void take(const Box& box, std::int64_t top, std::int64_t left, int plane,
            std::int64_t row_bytes) {
    const std::int64_t y_end = std::min(box.y + box.height, top + layout_.block_height);
    const std::int64_t x_begin = std::max(box.x, left);
    const std::int64_t x_end = std::min(box.x + box.width, left + layout_.block_width);
    const bool together = !layout_.apart();
    const int samples = together ? layout_.samples : 1;
    const int colors = together ? layout_.colors() : plane != layout_.associated;
    const int alpha = together ? layout_.associated : -colors;  // -1: none here
    for (std::int64_t y = std::max(box.y, top); y < y_end; ++y) {
      const std::uint8_t* const row = block_.at_least(0) + (y - top) * row_bytes;
      std::uint8_t* to =
          pixels_.at_least(0) + ((y - box.y) * box.width + x_begin - box.x) * kColors;
      for (std::int64_t x = x_begin; x < x_end; ++x, to += kColors) {
        const std::int64_t at = (x - left) * samples;
        for (int c = 0; c < colors; ++c) set(sample(row, at + c), plane + c, to);
        if (alpha >= 0) divide(to, sample(row, at + alpha));
      }
    }
  }

  /// The same of all samples as they are; white is 255.
  void take_stored(const Box& box, std::int64_t top, std::int64_t left, int plane,
                   std::int64_t row_bytes) {
    const std::int64_t y_end = std::min(box.y + box.height, top + layout_.block_height);
    const std::int64_t x_begin = std::max(box.x, left);
    const std::int64_t x_end = std::min(box.x + box.width, left + layout_.block_width);
    const int samples = layout_.apart() ? 1 : layout_.samples;
    const bool inverted = layout_.photometric == PHOTOMETRIC_MINISWHITE && plane == 0;
    for (std::int64_t y = std::max(box.y, top); y < y_end; ++y) {
      const std::uint8_t* const row = block_.at_least(0) + (y - top) * row_bytes;
      std::uint8_t* to =
          pixels_.at_least(0) + ((y - box.y) * box.width + x_begin - box.x) * channels_ + plane;
      for (std::int64_t x = x_begin; x < x_end; ++x, to += channels_) {
        for (int c = 0; c < samples; ++c) to[c] = sample(row, (x - left) * samples + c);
        if (inverted) to[0] = static_cast<std::uint8_t>(255 - to[0]);
      }
    }
  }

  // --- what libtiff calls; it is C, and the user's data is the reader ---------------------------

  static TiffReader& self(thandle_t handle) { return *static_cast<TiffReader*>(handle); }
  static tmsize_t read_bytes(thandle_t handle, void* out, tmsize_t size) {
    TiffReader& reader = self(handle);
    const std::uint64_t left =
        reader.at_ < reader.bytes_.size() ? reader.bytes_.size() - reader.at_ : 0;
    const auto count = std::min<std::uint64_t>(static_cast<std::uint64_t>(size), left);
    reader.read_ += count;
    if (reader.read_ > reader.bytes_.size() * kReadsMax + kReadSlackBytes) {
      if (reader.error_[0] == 0)
        std::snprintf(reader.error_, kErrorBytes, "its strips or tiles overlap");
      return 0;
    }
    if (count > 0) std::memcpy(out, reader.bytes_.data() + reader.at_, count);
    reader.at_ += count;
    return static_cast<tmsize_t>(count);
  }
  static tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t to, int from) {
    TiffReader& reader = self(handle);
    if (from == SEEK_CUR) to += reader.at_;
    if (from == SEEK_END) to += reader.bytes_.size();
    return reader.at_ = to;
  }
  static int close_nothing(thandle_t) { return 0; }
  static toff_t size_of(thandle_t handle) { return self(handle).bytes_.size(); }
  static int pass_over(TIFF*, void*, const char*, const char*, va_list) { return 1; }
  /// The first error is the cause.
  static int keep_error(TIFF*, void* reader, const char*, const char* format, va_list arguments) {
    char* const text = static_cast<TiffReader*>(reader)->error_;
    if (text[0] == 0) std::vsnprintf(text, kErrorBytes, format, arguments);
    std::replace_if(
        text, text + std::strlen(text), [](char c) { return c < ' '; }, ' ');
    return 1;
  }

  std::string_view bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t read_ = 0;  // in all
  TIFF* tiff_ = nullptr;
  char error_[kErrorBytes] = "";
  TiffLayout layout_;
  const std::uint16_t* map_[3] = {};
  int palette_shift_ = 8;
  bool stored_ = false;  // all samples as they are
  int channels_ = kColors;
  PictureBytes block_;
  PictureBytes pixels_;
};

}  // namespace

std::unique_ptr<ImageReader> make_tiff_reader() { return std::make_unique<TiffReader>(); }

}  // namespace brigade
