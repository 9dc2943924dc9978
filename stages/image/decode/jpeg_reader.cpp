#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE, which it does not include
#include <string>

#include <jpeglib.h>

#include <jerror.h>

#include <brigade/text.h>
#include "stages/image/decode/decode_index.h"
#include "stages/image/decode/exif.h"
#include "stages/image/decode/image_reader.h"
#include "stages/image/decode/jpeg_huffman.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {
namespace {

constexpr int kChannels = 3;
constexpr JDIMENSION kRowsAtOnce = 16;
constexpr int kLosslessFrame = 0xc3;
constexpr int kReductionMax = 8;   // then a block is a pixel
constexpr int kTooManyScans = -1;  // among libjpeg's own codes
// Blocks of chroma around a box: upsampling looks at one, and where scans have left out the last
// bits of coefficients, libjpeg guesses them from two more.
constexpr std::int64_t kMarginBlocks = 1, kSmoothMarginBlocks = 3;
/// Less than the 512 from which on libjpeg-turbo takes its fast Huffman decoder (jdhuff.c).
constexpr std::size_t kCarefulBytes = 256;

/// libjpeg's way to fail is a jump, over frames that must own nothing: guarded() calls only code
/// whose frames are plain.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg's pointer to it is one to this
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
  int code;      // of what `text` says
  bool damaged;  // the data went on where it could not
};

JpegErrors& errors_of(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

[[noreturn]] void fail(j_common_ptr info) {
  JpegErrors& errors = errors_of(info);
  if (!errors.damaged) {  // else that was the cause
    errors.code = info->err->msg_code;
    info->err->format_message(info, errors.text);
  }
  std::longjmp(errors.jump, 1);
}

/// Warnings. Some are only remarks about how a file was written.
void warn(j_common_ptr info, int level) {
  if (level >= 0) return;
  JpegErrors& errors = errors_of(info);
  ++info->err->num_warnings;
  const int code = info->err->msg_code;
  const bool damage = code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                      code == JWRN_JPEG_EOF || code == JWRN_MUST_RESYNC ||
                      code == JWRN_ARITH_BAD_CODE;
  if (!damage || errors.damaged) return;
  errors.damaged = true;
  errors.code = code;
  info->err->format_message(info, errors.text);
}

void say_nothing(j_common_ptr) {}

struct JpegProgress {
  jpeg_progress_mgr manager;  // first: libjpeg's pointer to it is one to this
  std::int64_t scans_max;
};

void count_scans(j_common_ptr info) {
  const auto& progress = *reinterpret_cast<const JpegProgress*>(info->progress);
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= progress.scans_max) return;
  JpegErrors& errors = errors_of(info);
  if (!errors.damaged) errors.code = kTooManyScans;
  std::longjmp(errors.jump, 1);
}

/// A file in small pieces.
struct JpegPieces {
  const JOCTET* at = nullptr;  // behind the piece that libjpeg has
  const JOCTET* end = nullptr;
  boolean (*at_end)(j_decompress_ptr) = nullptr;
};

boolean give_piece(j_decompress_ptr jpeg) {
  JpegPieces& pieces = *static_cast<JpegPieces*>(jpeg->client_data);
  if (pieces.at == pieces.end) return pieces.at_end(jpeg);
  jpeg->src->next_input_byte = pieces.at;
  jpeg->src->bytes_in_buffer =
      std::min(kCarefulBytes, static_cast<std::size_t>(pieces.end - pieces.at));
  pieces.at += jpeg->src->bytes_in_buffer;
  return TRUE;
}

class JpegReader : public ImageReader {
 public:
  explicit JpegReader(DecodeIndex* index) : index_(index) {
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = fail;
    errors_.manager.emit_message = warn;
    errors_.manager.output_message = say_nothing;
  }
  ~JpegReader() override { jpeg_destroy_decompress(&jpeg_); }

  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    errors_.damaged = false;
    // From the beginning each time, which takes a tenth of a microsecond: a file without tables
    // would otherwise be read with those of the file before it.
    jpeg_destroy_decompress(&jpeg_);
    const bool good = guarded([&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      jpeg_read_header(&jpeg_, TRUE);
    });
    if (!good || errors_.damaged) return broken();
    if (fewest_bytes() > bytes.size())
      return Error{concat("the JPEG data ends too early: ", bytes.size(), " bytes cannot hold ",
                          jpeg_.image_width, " x ", jpeg_.image_height, " pixels")};
    stored_ = channels == Channels::stored;
    bytes_ = bytes;
    reduction_ = 1;
    return ImageHeader{jpeg_.image_height, jpeg_.image_width, jpeg_orientation(bytes), 0,
                       stored_ ? jpeg_.num_components : kChannels};
  }

  int reduce(int most) override {
    reduction_ = std::bit_floor(static_cast<unsigned>(std::clamp(most, 1, kReductionMax)));
    return static_cast<int>(reduction_);
  }

  Result<Pixels> read(const Box& box) override {
    const bool four_colors = jpeg_.num_components == 4;
    const bool gray = stored_ && jpeg_.num_components == 1;
    const int channels = stored_ ? jpeg_.num_components : kChannels;
    jpeg_.out_color_space = four_colors ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    const bool indexed = index_ != nullptr && JpegHuffman::starts_in(jpeg_);
    const DecodeIndex::Key key = indexed ? DecodeIndex::key_of(bytes_) : DecodeIndex::Key();
    if (indexed) positions_ = index_->find(key);
    const std::int64_t known = positions_.known;
    Window window;
    if (!guarded([&] { window = start(box, indexed ? &positions_ : nullptr); })) return broken();
    const std::int64_t mcus = std::int64_t{jpeg_.MCUs_per_row} * jpeg_.MCU_rows_in_scan;
    window.stride = window.width * (four_colors ? 4 : channels);
    window.pixels = pixels_.at_least(static_cast<std::size_t>(window.stride * window.rows));
    if (!guarded([&] { read_rows(window); }) || errors_.damaged) return broken();
    if (indexed && huffman_.finish_positions() && is_much_more(known, mcus) &&
        is_much_more(index_->newest_known(key), mcus))  // others may have added meanwhile
      index_->add(key, positions_);
    if (four_colors) stored_ ? to_inks(window) : to_rgb(window);
    const std::uint8_t* const first =
        window.pixels + (box.y - window.y) * window.stride + (box.x - window.x) * channels;
    return Pixels{first, window.stride, box.height, box.width, channels};
  }

  void give_back() override {
    jpeg_abort_decompress(&jpeg_);
    pixels_.give_back();
  }

 private:
  /// What is decoded: the box and a margin.
  struct Window {
    std::int64_t y = 0;
    std::int64_t x = 0;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    std::int64_t stride = 0;
    std::uint8_t* pixels = nullptr;
  };

  /// Whether it is worth a record that replaces one with so many known units: half of the rest, and
  /// an eighth of the image. An image has at most four records then.
  bool is_much_more(std::int64_t known, std::int64_t mcus) const {
    const std::int64_t more = positions_.known - known;
    return 2 * more >= mcus - known && 8 * more >= mcus;
  }

  template <class Body>
  bool guarded(Body body) {
    if (setjmp(errors_.jump) != 0) return false;
    body();
    return true;
  }

  /// That the blocks of the largest component take: a Huffman code has a bit. An arithmetic one may
  /// have nearly nothing.
  std::uint64_t fewest_bytes() const {
    std::uint64_t blocks = 0;
    for (int i = 0; i < jpeg_.num_components; ++i) {
      const jpeg_component_info& component = jpeg_.comp_info[i];
      blocks =
          std::max(blocks, std::uint64_t{component.width_in_blocks} * component.height_in_blocks);
    }
    return jpeg_.arith_code ? 0 : blocks / 8;
  }

  Error broken() {
    jpeg_abort_decompress(&jpeg_);
    if (errors_.code == JWRN_JPEG_EOF || errors_.code == JERR_INPUT_EOF)
      return Error{"the JPEG data ends too early"};
    if (errors_.code == kTooManyScans)
      return Error{concat("the JPEG data cannot be read: more than ", progress_.scans_max,
                          " scans of ", jpeg_.image_width, " x ", jpeg_.image_height, " pixels")};
    if (errors_.code == JERR_SOF_UNSUPPORTED && errors_.manager.msg_parm.i[0] == kLosslessFrame)
      return Error{concat("it is a lossless JPEG file (SOF3), which libjpeg-turbo ",
                          LIBJPEG_TURBO_VERSION_NUMBER / 1000000, ".",
                          LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000, ".",
                          LIBJPEG_TURBO_VERSION_NUMBER % 1000, " does not read")};
    return Error{concat("the JPEG data cannot be read: ", errors_.text)};
  }

  /// Before all scans are read, of a file that has several.
  void prepare_scans() {
    progress_ = {
        {count_scans, 0, 0, 0, 0},
        jpeg_scans_max(std::int64_t{jpeg_.image_width} * jpeg_.image_height, jpeg_.arith_code)};
    jpeg_.progress = &progress_.manager;
    if (jpeg_.progressive_mode || jpeg_.arith_code) return;
    // libjpeg's fast decoder passes over codes that do not exist; its careful one says so.
    jpeg_source_mgr& source = *jpeg_.src;
    pieces_ = {source.next_input_byte, source.next_input_byte + source.bytes_in_buffer,
               source.fill_input_buffer};
    source.fill_input_buffer = give_piece;
    jpeg_.client_data = &pieces_;
    give_piece(&jpeg_);
  }

  /// Whether the last bits of coefficients are guessed from the blocks around.
  bool smooths() const {
    constexpr int kGuessed = 10;  // the first so many
    if (!jpeg_.progressive_mode || jpeg_.coef_bits == nullptr) return false;
    for (int i = 0; i < jpeg_.num_components; ++i)
      for (int k = 1; k < kGuessed; ++k)
        if (jpeg_.coef_bits[i][k] != 0) return true;
    return false;
  }

  Window start(const Box& box, JpegPositions* positions) {
    if (jpeg_has_multiple_scans(&jpeg_)) prepare_scans();
    jpeg_.scale_num = 1;
    jpeg_.scale_denom = reduction_;
    jpeg_start_decompress(&jpeg_);
    const bool one_component = jpeg_.num_components == 1;  // its blocks stand alone
    const std::int64_t block_side = DCTSIZE / reduction_;
    const std::int64_t block_height = jpeg_.max_v_samp_factor * block_side;
    const std::int64_t block_width = (one_component ? 1 : jpeg_.max_h_samp_factor) * block_side;
    Window window;
    const std::int64_t margin = (smooths() ? kSmoothMarginBlocks : kMarginBlocks) * block_width;
    const std::int64_t left = std::max<std::int64_t>(box.x - margin, 0);
    const std::int64_t right =
        std::min<std::int64_t>(box.x + box.width + margin, jpeg_.output_width);
    JDIMENSION x = static_cast<JDIMENSION>(left);
    JDIMENSION width = static_cast<JDIMENSION>(right - left);
    if (width < jpeg_.output_width) jpeg_crop_scanline(&jpeg_, &x, &width);
    window.x = x;
    window.width = jpeg_.output_width;
    window.y = std::max<std::int64_t>(box.y / block_height - 1, 0) * block_height;
    window.rows = box.y + box.height - window.y;
    if (JpegHuffman::starts_in(jpeg_))
      huffman_.start(jpeg_, window.x / block_width,
                     (window.x + window.width + block_width - 1) / block_width - 1, positions);
    if (window.y > 0) jpeg_skip_scanlines(&jpeg_, static_cast<JDIMENSION>(window.y));
    return window;
  }

  void read_rows(const Window& window) {
    JSAMPROW rows[kRowsAtOnce];
    for (std::int64_t y = 0; y < window.rows;) {
      const auto count =
          static_cast<JDIMENSION>(std::min<std::int64_t>(kRowsAtOnce, window.rows - y));
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = window.pixels + (y + i) * window.stride;
      y += jpeg_read_scanlines(&jpeg_, rows, count);
    }
    // What lies below the window is not looked at.
    jpeg_abort_decompress(&jpeg_);
  }

  /// In place. Adobe's programs write CMYK inverted; all readers take it so, with Adobe's marker or
  /// without.
  static void to_inks(const Window& window) {
    std::uint8_t* const end = window.pixels + window.rows * window.stride;
    for (std::uint8_t* ink = window.pixels; ink != end; ++ink)
      *ink = static_cast<std::uint8_t>(255 - *ink);
  }

  /// In place, of inks that are inverted.
  void to_rgb(const Window& window) {
    for (std::int64_t y = 0; y < window.rows; ++y) {
      const std::uint8_t* from = window.pixels + y * window.stride;
      std::uint8_t* to = window.pixels + y * window.stride;
      for (std::int64_t x = 0; x < window.width; ++x, from += 4, to += kChannels) {
        const int light = from[3];
        for (int c = 0; c < kChannels; ++c)
          to[c] = static_cast<std::uint8_t>((from[c] * light + 127) / 255);
      }
    }
  }

  DecodeIndex* const index_;
  std::string_view bytes_;  // of the file in hand
  JpegPositions positions_;
  bool stored_ = false;
  unsigned reduction_ = 1;
  JpegErrors errors_{};
  JpegProgress progress_{};
  JpegPieces pieces_;
  jpeg_decompress_struct jpeg_{};
  JpegHuffman huffman_;
  PictureBytes pixels_;
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

std::unique_ptr<ImageReader> make_jpeg_reader(DecodeIndex* index) {
  return std::make_unique<JpegReader>(index);
}

}  // namespace brigade
