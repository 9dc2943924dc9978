#include "stages/image/imgcodecs.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string_view>

#include "stages/image/opencv_errors.h"

namespace {

bool fail(std::string_view text, char* error, std::size_t error_bytes) {
  const std::size_t length = std::min(text.size(), error_bytes - 1);
  std::copy_n(text.data(), length, error);
  error[length] = 0;
  std::replace(error, error + length, '\n', ' ');
  return false;
}

}  // namespace

bool brigade_imgcodecs_v1(const void* bytes, std::size_t size, brigade::ImagePlace place,
                          void* context, char* error, std::size_t error_bytes) {
  const brigade::OpenCvErrors errors;
  try {
    const cv::Mat encoded(1, static_cast<int>(size), CV_8UC1, const_cast<void*>(bytes));
    const cv::Mat image = cv::imdecode(encoded, cv::IMREAD_COLOR);
    if (image.empty()) {
      const std::string why = errors.text();
      return fail(why.empty() ? "it is no image in a format that OpenCV reads" : why, error,
                  error_bytes);
    }
    std::uint8_t* const out = place(context, image.rows, image.cols);
    if (out == nullptr) return fail("the image is too large", error, error_bytes);
    for (int y = 0; y < image.rows; ++y) {
      const std::uint8_t* from = image.ptr(y);
      std::uint8_t* to = out + static_cast<std::ptrdiff_t>(y) * image.cols * 3;
      for (int x = 0; x < image.cols; ++x, from += 3, to += 3) {
        to[0] = from[2];  // OpenCV has blue first
        to[1] = from[1];
        to[2] = from[0];
      }
    }
    return true;
  } catch (const cv::Exception& failure) {  // what() has places in its sources
    return fail(failure.err, error, error_bytes);
  } catch (const std::exception& failure) {
    return fail(failure.what(), error, error_bytes);
  }
}
