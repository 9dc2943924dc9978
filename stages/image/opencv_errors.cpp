#include "stages/image/opencv_errors.h"

#include <iostream>
#include <opencv2/core/utils/logger.hpp>
#include <streambuf>

namespace brigade {
namespace {

thread_local std::string* said = nullptr;

/// Of std::cerr, from the first call on: what a thread writes in the middle of a call is kept.
class Diverted : public std::streambuf {
 public:
  explicit Diverted(std::streambuf* through) : through_(through) {}

 protected:
  int_type overflow(int_type character) override {
    const char byte = traits_type::to_char_type(character);
    xsputn(&byte, 1);
    return traits_type::not_eof(character);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (said == nullptr) return through_->sputn(text, size);
    said->append(text, static_cast<std::size_t>(size));
    return size;
  }
  int sync() override { return said == nullptr ? through_->pubsync() : 0; }

 private:
  std::streambuf* through_;
};

bool divert() {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  std::cerr.rdbuf(new Diverted(std::cerr.rdbuf()));  // std::cerr outlives everything
  return true;
}

}  // namespace

OpenCvErrors::OpenCvErrors() {
  [[maybe_unused]] static const bool diverted = divert();
  said = &said_;
}

OpenCvErrors::~OpenCvErrors() { said = nullptr; }

std::string OpenCvErrors::text() const { return opencv_reason(said_); }

std::string opencv_reason(const std::string& text) {
  const std::size_t error = text.find(": error: (");
  if (error == std::string::npos) return "";
  const std::size_t kind_end = text.find(") ", error);
  if (kind_end == std::string::npos) return "";
  const std::size_t begin = kind_end + 2;
  const std::size_t end = text.find_first_of("\n", begin);
  const std::string reason = text.substr(begin, end == text.npos ? end : end - begin);
  return reason.substr(0, reason.rfind(" in function "));
}

}  // namespace brigade
