#include <dlfcn.h>

#include <array>
#include <optional>
#include <string>

#include <brigade/text.h>
#include "stages/image/decode/imgcodecs.h"

namespace brigade {
namespace {

using namespace std::string_view_literals;

struct CodecModule {
  const char* file;
  const char* symbol;
  std::string_view what;
};
constexpr CodecModule kOwnCodecs{"brigade_imgcodecs.so", kImageCodecsSymbol,
                                 "WebP and TIFF (built if libwebp and libtiff are installed)"};
constexpr CodecModule kOpenCvCodecs{
    "brigade_opencv_imgcodecs.so", kOpenCvCodecsSymbol,
    "JPEG 2000, OpenEXR, Radiance HDR and AVIF (built if libopencv-imgcodecs-dev is installed)"};

constexpr std::size_t kShownBytes = 8;

bool is_bmp(std::string_view bytes) { return bytes.starts_with("BM"); }
/// PFM ("Pf", "PF") and PAM ("P7") are others.
bool is_pnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (bytes[2] == '#' || bytes[2] == ' ' || (bytes[2] >= '\t' && bytes[2] <= '\r'));
}
bool has_at(std::string_view bytes, std::size_t at, std::string_view what) {
  return bytes.size() >= at && bytes.substr(at).starts_with(what);
}

bool is_webp(std::string_view bytes) {
  return bytes.starts_with("RIFF") && has_at(bytes, 8, "WEBP");
}
bool is_tiff(std::string_view bytes) {
  return bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv) ||
         bytes.starts_with("II+\0"sv) || bytes.starts_with("MM\0+"sv);
}

bool is_avif(std::string_view bytes) {  // by its brands
  constexpr std::size_t kBrandsBytesMax = 64;
  return has_at(bytes, 4, "ftyp") && bytes.substr(0, kBrandsBytesMax).find("avif") != bytes.npos;
}

/// What OpenCV reads.
std::optional<ImageCodec> opencv_codec(std::string_view bytes) {
  if (bytes.starts_with("\0\0\0\x0cjP  "sv) || bytes.starts_with("\xff\x4f\xff\x51"))
    return ImageCodec::jpeg2000;
  if (bytes.starts_with("v/1\x01")) return ImageCodec::openexr;
  if (bytes.starts_with("#?RADIANCE") || bytes.starts_with("#?RGBE"))
    return ImageCodec::radiance_hdr;
  if (is_avif(bytes)) return ImageCodec::avif;
  return std::nullopt;
}

struct OtherKind {
  std::string_view begin;
  std::string_view name;
};
/// What people have, and what is not read.
constexpr OtherKind kOtherKinds[] = {
    {"GIF8", "GIF"},       {"\xff\x0a", "JPEG XL"}, {"\0\0\0\x0cJXL "sv, "JPEG XL"},
    {"PF", "PFM"},         {"Pf", "PFM"},           {"P7", "PAM"},
    {"8BPS", "Photoshop"}, {"\0\0\1\0"sv, "icon"},  {"\x59\xa6\x6a\x95", "Sun raster"},
    {"DDS ", "DDS"},       {"%PDF", "PDF"},         {"<svg", "SVG"},
};

Error no_image(std::string_view bytes) {
  std::string what;
  for (const OtherKind& kind : kOtherKinds)
    if (what.empty() && bytes.starts_with(kind.begin))
      what = concat("it is a ", kind.name, " file");
  if (has_at(bytes, 4, "ftyp")) what = "it is a HEIF or video file";
  if (what.empty()) {
    what = "it begins with";
    for (const char c : bytes.substr(0, kShownBytes))
      what += concat(" ", "0123456789abcdef"[(c >> 4) & 15], "0123456789abcdef"[c & 15]);
  }
  return Error{concat("not a JPEG, PNG, WebP, TIFF, BMP or PNM file: ", what)};
}

/// The folder of the file with this code: the modules', or a test's.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&make_other_reader), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

/// Sets `make`; a module, once open, stays.
Result<void> open_module(const CodecModule& of, MakeImageReader*& make) {
  const std::string folder = own_folder();
  std::string why;
  for (const char* below : {"/", "/../lib/brigade/"}) {
    const std::string path = concat(folder, below, of.file);
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      if (const char* text = dlerror(); why.empty()) why = text;
      continue;
    }
    void* const symbol = dlsym(module, of.symbol);
    if (symbol == nullptr)
      return Error{concat(path, " belongs to another version of Brigade; reinstall Brigade")};
    make = reinterpret_cast<MakeImageReader*>(symbol);
    return {};
  }
  return Error{concat("cannot open the module that reads ", of.what, ": ", why)};
}

class OtherReader : public ImageReader {
 public:
  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    BRIGADE_ASSIGN(reader_, reader_of(bytes));
    return reader_->open(bytes, channels);
  }
  Result<Pixels> read(const Box& box) override { return reader_->read(box); }
  void give_back() override {
    if (reader_ != nullptr) reader_->give_back();
  }

 private:
  Result<ImageReader*> reader_of(std::string_view bytes) {
    if (is_bmp(bytes)) {
      if (!bmp_) bmp_ = make_bmp_reader();
      return bmp_.get();
    }
    if (is_pnm(bytes)) {
      if (!pnm_) pnm_ = make_pnm_reader();
      return pnm_.get();
    }
    if (is_webp(bytes)) return of_module(ImageCodec::webp);
    if (is_tiff(bytes)) return of_module(ImageCodec::tiff);
    if (const auto codec = opencv_codec(bytes)) return of_module(*codec);
    return no_image(bytes);
  }

  Result<ImageReader*> of_module(ImageCodec codec) {
    std::unique_ptr<ImageReader>& reader = codecs_[static_cast<std::size_t>(codec)];
    if (reader == nullptr) {
      MakeImageReader* make = nullptr;
      BRIGADE_TRY(open_module(is_of_opencv(codec) ? kOpenCvCodecs : kOwnCodecs, make));
      reader.reset(make(codec));
    }
    return reader.get();
  }

  std::unique_ptr<ImageReader> bmp_;
  std::unique_ptr<ImageReader> pnm_;
  std::array<std::unique_ptr<ImageReader>, kImageCodecs> codecs_;  // by ImageCodec
  ImageReader* reader_ = nullptr;
};

}  // namespace

std::unique_ptr<ImageReader> make_other_reader() { return std::make_unique<OtherReader>(); }

}  // namespace brigade
