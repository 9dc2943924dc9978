// Makes a folder of JPEG files like ImageNet's: about 500 x 375 pixels, 4:2:0, quality 96 to 99,
// 85 to 110 KB on average, with a folder per class. They are parts of the photographs below a
// folder, by default those of Debian's package plasma-workspace-wallpapers. The same arguments make
// the same files, byte for byte, with the same libjpeg.
//
//   make_photographs OUT [--images 2000] [--classes 10] [--seed 7] [--from /usr/share/wallpapers]
//
// `--from made-up` needs no photographs: clouds of waves, whose files are about as large. They are
// for trying a benchmark out, not for its figures.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <brigade/random.h>
#include <brigade/text.h>
#include "stages/image/decode/file_bytes.h"
#include "stages/image/decode/image_reader.h"
#include "stages/image/geometry/resample.h"
#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kSourceSideMin = 1000;  // smaller photographs have too little to choose from
constexpr std::size_t kBytesMin = 65'000;      // of a file: skies and walls are passed over
constexpr std::size_t kBytesAim = 90'000;      // reached by a higher quality, where it can be
constexpr std::size_t kBytesMax = 170'000;
constexpr int kTries = 40;

struct Options {
  fs::path out;
  fs::path from = "/usr/share/wallpapers";
  std::uint64_t images = 2000;
  std::uint64_t classes = 10;
  std::uint64_t seed = 7;
};

struct Photograph {
  std::vector<std::uint8_t> bytes;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// The largest JPEG file of each folder, sorted: the others are the same picture, smaller.
std::vector<std::string> find_photographs(const fs::path& root) {
  std::map<std::string, std::string> largest;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    if (!entry.is_regular_file() || (extension != ".jpg" && extension != ".jpeg")) continue;
    if (entry.path().stem().string().find("screenshot") != std::string::npos) continue;
    std::string& best = largest[entry.path().parent_path()];
    const std::string path = entry.path();
    const auto order = [](const std::string& file) { return std::pair(fs::file_size(file), file); };
    if (best.empty() || order(best) < order(path)) best = path;
  }
  std::vector<std::string> paths;
  for (const auto& [folder, path] : largest) paths.push_back(path);
  return paths;
}

Result<Photograph> read_photograph(const std::string& path) {
  FileBytes file;
  BRIGADE_ASSIGN(const std::string_view bytes, file.read(path));
  const auto reader = make_jpeg_reader();
  BRIGADE_ASSIGN(const ImageHeader header, reader->open(bytes));
  BRIGADE_ASSIGN(const Pixels pixels, reader->read({0, 0, header.height, header.width}));
  Photograph out{{}, header.height, header.width};
  for (std::int64_t y = 0; y < out.height; ++y)
    out.bytes.insert(out.bytes.end(), pixels.data + y * pixels.stride,
                     pixels.data + y * pixels.stride + out.width * kChannels);
  return out;
}

/// Noise of many sizes, each as strong as it is large, as in pictures of nature.
Photograph make_up_photograph(std::uint64_t seed, std::uint64_t number) {
  constexpr std::int64_t kHeight = 1200, kWidth = 1600;
  std::vector<double> sums(static_cast<std::size_t>(kHeight * kWidth * kChannels), 128);
  for (std::int64_t cell = 2; cell <= 256; cell *= 2) {
    const auto at = [&](std::int64_t y, std::int64_t x, std::int64_t c) {
      const auto place = static_cast<std::uint64_t>(((y * 4096 + x) * 4 + c) * 512 + cell);
      return static_cast<double>(mix64(mix64(seed * 1000 + number) ^ place) % 1024) / 512 - 1;
    };
    for (std::int64_t y = 0; y < kHeight; ++y)
      for (std::int64_t x = 0; x < kWidth; ++x) {
        const double down = static_cast<double>(y % cell) / static_cast<double>(cell);
        const double right = static_cast<double>(x % cell) / static_cast<double>(cell);
        for (std::int64_t c = 0; c < kChannels; ++c) {
          // Colours differ less than what is light and dark.
          const std::int64_t channel = cell < 32 ? 0 : c;
          const double top = at(y / cell, x / cell, channel) * (1 - right) +
                             at(y / cell, x / cell + 1, channel) * right;
          const double bottom = at(y / cell + 1, x / cell, channel) * (1 - right) +
                                at(y / cell + 1, x / cell + 1, channel) * right;
          sums[static_cast<std::size_t>((y * kWidth + x) * kChannels + c)] +=
              (top * (1 - down) + bottom * down) * 4 * std::sqrt(static_cast<double>(cell));
        }
      }
  }
  Photograph out{std::vector<std::uint8_t>(sums.size()), kHeight, kWidth};
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.bytes[i] = static_cast<std::uint8_t>(std::clamp(sums[i], 0.0, 255.0));
  return out;
}

/// A part of the photograph, between life-size and all of it, made `height` x `width`.
std::vector<std::uint8_t> draw_part(const Photograph& from, std::int64_t height, std::int64_t width,
                                    Philox& random) {
  const double most = std::min(static_cast<double>(from.height) / static_cast<double>(height),
                               static_cast<double>(from.width) / static_cast<double>(width));
  const double factor = std::exp(random.uniform(0, std::log(most)));
  const auto part_height = static_cast<std::int64_t>(static_cast<double>(height) * factor);
  const auto part_width = static_cast<std::int64_t>(static_cast<double>(width) * factor);
  const auto draw = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const std::int64_t y = draw(from.height - part_height + 1);
  const std::int64_t x = draw(from.width - part_width + 1);
  AxisWeights rows, columns;
  rows.prepare({part_height, height, 0, height}, true);
  columns.prepare({part_width, width, 0, width}, true);
  const std::int64_t top = y + rows.first_needed(), left = x + columns.first_needed();
  const Pixels part{from.bytes.data() + (top * from.width + left) * kChannels,
                    from.width * kChannels, rows.end_needed() - rows.first_needed(),
                    columns.end_needed() - columns.first_needed()};
  std::vector<std::uint8_t> out(static_cast<std::size_t>(height * width * kChannels));
  Resampler().run(part, rows, columns, out.data(), width * kChannels);
  return out;
}

/// A file; draws again, the photograph as well, until it is neither nearly empty nor nearly noise.
std::string make_image(const std::vector<Photograph>& sources, Philox& random) {
  constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {
      {375, 500}, {375, 500}, {375, 500}, {375, 500}, {333, 500},
      {333, 500}, {500, 375}, {500, 333}, {400, 500}, {500, 500}};
  const auto [height, width] = kSizes[random.below(std::size(kSizes))];
  std::string file;
  for (int i = 0; i < kTries; ++i) {
    const Photograph& from = sources[random.below(sources.size())];
    const testing_support::Picture part{height, width, kChannels,
                                        draw_part(from, height, width, random)};
    // Smooth parts at the higher, busy ones at the lower qualities.
    for (int quality = 96; quality <= 99; ++quality) {
      file = testing_support::write_jpeg(part, {.quality = quality});  // 4:2:0
      if (file.size() >= kBytesAim) break;
    }
    if (file.size() >= kBytesMin && file.size() <= kBytesMax) return file;
  }
  return file;
}

std::string numbered(std::string_view before, std::uint64_t number, std::size_t digits) {
  std::string text = concat(number);
  return concat(before, std::string(digits - std::min(digits, text.size()), '0'), text);
}

Result<void> make_all(const Options& options) {
  const bool made_up = options.from == "made-up";
  const auto paths = made_up ? std::vector<std::string>{} : find_photographs(options.from);
  std::uint64_t bytes = 0, made = 0;
  std::vector<Photograph> sources;
  for (std::uint64_t i = 0; made_up && i < 2; ++i)
    sources.push_back(make_up_photograph(options.seed, i));
  for (const std::string& path : paths) {
    BRIGADE_ASSIGN(Photograph photograph, read_photograph(path));
    if (std::min(photograph.height, photograph.width) >= kSourceSideMin)
      sources.push_back(std::move(photograph));
  }
  if (sources.empty())
    return Error{concat(options.from.string(), ": no JPEG photographs of at least ", kSourceSideMin,
                        " pixels a side; install plasma-workspace-wallpapers")};
  for (std::uint64_t index = 0; index < options.images; ++index) {
    Philox random(options.seed, stream_id("photographs"), 0, index);
    const std::string file = make_image(sources, random);
    const fs::path folder = options.out / numbered("class_", index % options.classes, 3);
    fs::create_directories(folder);
    std::ofstream(folder / (numbered("", index, 6) + ".jpg"), std::ios::binary) << file;
    bytes += file.size();
    ++made;
  }
  std::cout << made << " images of " << bytes / std::max<std::uint64_t>(made, 1)
            << " bytes on average in " << options.out.string() << ", from " << sources.size()
            << " photographs\n";
  return {};
}

bool read_options(int argc, char** argv, Options& options) {
  if (argc < 2 || argc % 2 != 0) return false;
  options.out = argv[1];
  const auto number = [](std::string_view text, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
  };
  for (int i = 2; i < argc; i += 2) {
    const std::string_view key = argv[i];
    if (key == "--from") {
      options.from = argv[i + 1];
    } else if (!(key == "--images" && number(argv[i + 1], options.images)) &&
               !(key == "--classes" && number(argv[i + 1], options.classes)) &&
               !(key == "--seed" && number(argv[i + 1], options.seed))) {
      return false;
    }
  }
  return options.classes > 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  brigade::Options options;
  if (!brigade::read_options(argc, argv, options)) {
    std::cerr << "make_photographs OUT [--images N] [--classes K] [--seed S] [--from FOLDER]\n";
    return 2;
  }
  try {
    if (auto made = brigade::make_all(options); !made) {
      std::cerr << "make_photographs: " << made.error().message << '\n';
      return 1;
    }
  } catch (const std::exception& failure) {
    std::cerr << "make_photographs: " << failure.what() << '\n';
    return 1;
  }
  return 0;
}
