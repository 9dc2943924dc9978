// How fast JPEG files become 224 x 224 crops when there is no loader at all: on each core one
// thread that reads a file, decodes the rows and columns of a random cut with libjpeg-turbo,
// resizes and flips them into one and the same output. No processes, queues, batches, order or
// checks: what a loader should come close to. The cuts are those of a stage `decode` with the same
// seed.
//
//   raw_images FOLDER [--decoder libjpeg|brigade] [--resize antialias|bilinear|opencv|none]
//              [--epochs N] [--threads N]
//
// `libjpeg` is libjpeg-turbo as it comes, `brigade` the reader that decode_image has, in a bare
// loop: beside it stands what the rest of Brigade costs. `antialias` and `bilinear` resize by
// Brigade's own resampler, so that the work is the same; `opencv` is cv::resize(INTER_LINEAR) and
// cv::flip, which shares no code with it; `none` stops after the decoder. Prints one line of JSON.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <jpeglib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef BRIGADE_HAS_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

#include <brigade/text.h>
#include "stages/image/decode/image_reader.h"
#include "stages/image/geometry/crop.h"
#include "stages/image/geometry/resample.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSide = 224;
constexpr std::int64_t kChannels = 3;
constexpr std::uint64_t kSeed = 7;

enum class Decoder : std::uint8_t { libjpeg, brigade };
enum class Resize : std::uint8_t { antialias, bilinear, opencv, none };

struct Options {
  fs::path folder;
  Decoder decoder = Decoder::libjpeg;
  Resize resize = Resize::antialias;
  std::uint64_t epochs = 1;
  std::uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
};

/// In the order of image_folder, whose numbers the cuts depend on.
std::vector<std::string> list_files(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".jpg")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// One core's loop.
class Loop {
 public:
  Loop(Decoder decoder, Resize resize) : decoder_(decoder), resize_(resize) {
    jpeg_.err = jpeg_std_error(&errors_);  // a damaged file ends the program
    jpeg_create_decompress(&jpeg_);
    params_.flip = 0.5;
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { jpeg_destroy_decompress(&jpeg_); }

  void run(const std::string& file, std::uint64_t epoch, std::uint64_t id) {
    read(file);
    const Philox random(kSeed, stream_id("decode"), static_cast<std::uint32_t>(epoch), id);
    if (decoder_ == Decoder::brigade) return run_brigade(random);
    jpeg_mem_src(&jpeg_, bytes_.data(), size_);
    jpeg_read_header(&jpeg_, TRUE);
    const Cut cut = choose_cut(params_, jpeg_.image_height, jpeg_.image_width, random);
    const Pixels cut_pixels = decode(cut);
    if (resize_ == Resize::opencv) {
      resize_by_opencv(cut_pixels, cut);
    } else if (resize_ != Resize::none) {
      resize_by_brigade(cut_pixels, cut);
    }
    sum += image_[kSide * kSide];
  }

  std::uint64_t sum = 0;  // keeps the work from being left out

 private:
  void read(const std::string& file) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0) std::exit((std::perror(file.c_str()), 1));
    size_ = static_cast<std::size_t>(status.st_size);
    if (bytes_.size() < size_) bytes_.resize(size_);
    if (::read(fd, bytes_.data(), size_) != static_cast<ssize_t>(size_))
      std::exit((std::perror(file.c_str()), 1));
    close(fd);
  }

  /// All as decode_image does it.
  void run_brigade(Philox random) {
    const auto header = reader_->open({reinterpret_cast<const char*>(bytes_.data()), size_});
    if (!header) std::exit((std::cerr << header.error().message << '\n', 1));
    const Cut cut = choose_cut(params_, header->height, header->width, random);
    prepare(cut);
    const auto pixels = reader_->read({cut.rows.begin + rows_.first_needed(),
                                       cut.columns.begin + columns_.first_needed(),
                                       rows_.end_needed() - rows_.first_needed(),
                                       columns_.end_needed() - columns_.first_needed()});
    if (!pixels) std::exit((std::cerr << pixels.error().message << '\n', 1));
    if (cut.flip) columns_.mirror();
    resampler_.run(*pixels, rows_, columns_, image_.data(), kSide * kChannels);
    sum += image_[kSide * kSide];
  }

  void prepare(const Cut& cut) {
    rows_.prepare(cut.rows.resize(), resize_ == Resize::antialias);
    columns_.prepare(cut.columns.resize(), resize_ == Resize::antialias);
  }

  /// The pixels of the cut; around them lie those of a margin of one block of chroma.
  Pixels decode(const Cut& cut) {
    jpeg_start_decompress(&jpeg_);
    const auto block = static_cast<std::int64_t>(jpeg_.max_h_samp_factor) * DCTSIZE;
    const std::int64_t left = std::max<std::int64_t>(cut.columns.begin - block, 0);
    const std::int64_t right =
        std::min<std::int64_t>(cut.columns.begin + cut.columns.size + block, jpeg_.image_width);
    auto x = static_cast<JDIMENSION>(left), width = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(&jpeg_, &x, &width);
    const std::int64_t stride = width * kChannels;
    if (cut.rows.begin > 0) jpeg_skip_scanlines(&jpeg_, static_cast<JDIMENSION>(cut.rows.begin));
    const auto needed = static_cast<std::size_t>(cut.rows.size * stride);
    if (pixels_.size() < needed) pixels_.resize(needed);
    for (std::int64_t y = 0; y < cut.rows.size;) {
      JSAMPROW rows[16];
      const std::int64_t count = std::min<std::int64_t>(16, cut.rows.size - y);
      for (std::int64_t i = 0; i < count; ++i) rows[i] = pixels_.data() + (y + i) * stride;
      y += jpeg_read_scanlines(&jpeg_, rows, static_cast<JDIMENSION>(count));
    }
    jpeg_abort_decompress(&jpeg_);
    return {pixels_.data() + (cut.columns.begin - x) * kChannels, stride, cut.rows.size,
            cut.columns.size};
  }

  void resize_by_brigade(const Pixels& pixels, const Cut& cut) {
    prepare(cut);
    if (cut.flip) columns_.mirror();
    const Pixels part{
        pixels.data + rows_.first_needed() * pixels.stride + columns_.first_needed() * kChannels,
        pixels.stride, rows_.end_needed() - rows_.first_needed(),
        columns_.end_needed() - columns_.first_needed()};
    resampler_.run(part, rows_, columns_, image_.data(), kSide * kChannels);
  }

#ifdef BRIGADE_HAS_OPENCV
  void resize_by_opencv(const Pixels& pixels, const Cut& cut) {
    const cv::Mat from(static_cast<int>(pixels.height), static_cast<int>(pixels.width), CV_8UC3,
                       const_cast<std::uint8_t*>(pixels.data),
                       static_cast<std::size_t>(pixels.stride));
    cv::Mat to(kSide, kSide, CV_8UC3, image_.data());
    cv::resize(from, to, to.size(), 0, 0, cv::INTER_LINEAR);
    if (cut.flip) cv::flip(to, to, 1);
  }
#else
  void resize_by_opencv(const Pixels&, const Cut&) {}
#endif

  Decoder decoder_;
  Resize resize_;
  DecodeImageParams params_;
  std::unique_ptr<ImageReader> reader_ = make_jpeg_reader();
  jpeg_error_mgr errors_{};
  jpeg_decompress_struct jpeg_{};
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> image_ = std::vector<std::uint8_t>(kSide * kSide * kChannels);
  AxisWeights rows_, columns_;
  Resampler resampler_;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// All files once per epoch, each core every so manyeth.
int run(const Options& options) {
  const std::vector<std::string> files = list_files(options.folder);
  if (files.empty()) {
    std::cerr << "raw_images: there is no .jpg below " << options.folder.string() << '\n';
    return 1;
  }
  std::atomic<std::uint64_t> sum{0};
  const double cpu_before = cpu_seconds();
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < options.threads; ++number)
    threads.emplace_back([&, number] {
      Loop loop(options.decoder, options.resize);
      for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch)
        for (std::uint64_t id = number; id < files.size(); id += options.threads)
          loop.run(files[id], epoch, id);
      sum += loop.sum;
    });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  const auto images = static_cast<double>(files.size() * options.epochs);
  std::cout << concat("{\"images\": ", images, ", \"seconds\": ", seconds.count(),
                      ", \"images_per_second\": ", images / seconds.count(),
                      ", \"cpu_ms_per_image\": ", (cpu_seconds() - cpu_before) * 1e3 / images,
                      ", \"sum\": ", sum.load(), "}\n");
  return 0;
}

bool read_options(int argc, char** argv, Options& options) {
  if (argc < 2 || argc % 2 != 0) return false;
  options.folder = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string_view key = argv[i], value = argv[i + 1];
    constexpr std::string_view kNames[] = {"antialias", "bilinear", "opencv", "none"};
    if (key == "--resize") {
      const auto* const found = std::find(std::begin(kNames), std::end(kNames), value);
      if (found == std::end(kNames)) return false;
      options.resize = static_cast<Resize>(found - std::begin(kNames));
      continue;
    }
    if (key == "--decoder") {
      if (value != "libjpeg" && value != "brigade") return false;
      options.decoder = value == "libjpeg" ? Decoder::libjpeg : Decoder::brigade;
      continue;
    }
    std::uint64_t& number = key == "--epochs" ? options.epochs : options.threads;
    if (key != "--epochs" && key != "--threads") return false;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
    if (error != std::errc{} || end != value.end() || number == 0) return false;
  }
#ifdef BRIGADE_HAS_OPENCV
  cv::setNumThreads(0);  // inside one of our threads
#else
  if (options.resize == Resize::opencv) return false;
#endif
  return options.decoder == Decoder::libjpeg || options.resize == Resize::antialias ||
         options.resize == Resize::bilinear;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  brigade::Options options;
  if (!brigade::read_options(argc, argv, options)) {
    std::cerr << "raw_images FOLDER [--decoder libjpeg|brigade] [--epochs N] [--threads N]\n"
                 "           [--resize antialias|bilinear|opencv|none]\n";
    return 2;
  }
  return brigade::run(options);
}
