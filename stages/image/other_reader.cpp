#include <dlfcn.h>

#include <limits>
#include <string>

#include "base/text.h"
#include "stages/image/image_reader.h"
#include "stages/image/imgcodecs.h"
#include "stages/image/picture_bytes.h"

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr const char* kModuleFile = "brigade_imgcodecs.so";

/// The folder of the file with this code: the modules', or a test's.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&make_other_reader), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

/// Sets `decode`; a module, once open, stays.
Result<void> open_module(ImageDecode*& decode) {
  const std::string folder = own_folder();
  std::string why;
  for (const char* below : {"/", "/../lib/brigade/"}) {
    const std::string path = concat(folder, below, kModuleFile);
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      if (const char* text = dlerror(); why.empty()) why = text;
      continue;
    }
    void* const symbol = dlsym(module, kImageDecodeSymbol);
    if (symbol == nullptr) return Error{concat(path, " is of another version of Brigade")};
    decode = reinterpret_cast<ImageDecode*>(symbol);
    return {};
  }
  return Error{why};
}

class OtherReader : public ImageReader {
 public:
  Result<ImageHeader> open(std::string_view bytes) override {
    BRIGADE_TRY(open_codecs());
    if (bytes.size() > std::numeric_limits<int>::max()) return Error{"the file is above 2 GB"};
    char error[256] = "";
    if (!decode_(bytes.data(), bytes.size(), place, this, error, sizeof error))
      return Error{concat("neither JPEG nor PNG, and ", error)};
    return ImageHeader{height_, width_, 1};
  }

  void give_back() override { pixels_.give_back(); }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t stride = width_ * kChannels;
    return Pixels{pixels_.at_least(0) + box.y * stride + box.x * kChannels, stride, box.height,
                  box.width};
  }

 private:
  static std::uint8_t* place(void* context, std::int64_t height, std::int64_t width) {
    auto& self = *static_cast<OtherReader*>(context);
    self.height_ = height;
    self.width_ = width;
    return self.pixels_.at_least(static_cast<std::size_t>(height * width * kChannels));
  }

  Result<void> open_codecs() {
    if (decode_ != nullptr) return {};
    if (auto opened = open_module(decode_); !opened)
      return Error{
          concat("neither JPEG nor PNG, and the module that reads other formats (built "
                 "where OpenCV is installed) does not open: ",
                 opened.error().message)};
    return {};
  }

  ImageDecode* decode_ = nullptr;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  PictureBytes pixels_;
};

}  // namespace

std::unique_ptr<ImageReader> make_other_reader() { return std::make_unique<OtherReader>(); }

}  // namespace brigade
