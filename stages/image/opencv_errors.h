#pragma once

// What OpenCV has to say, caught: its log is switched off, and what its decoders throw, which it
// prints to std::cerr with the paths of its sources, goes to the call that is under way.

#include <string>

namespace brigade {

/// For one call of OpenCV, on its thread.
class OpenCvErrors {
 public:
  OpenCvErrors();
  ~OpenCvErrors();
  OpenCvErrors(const OpenCvErrors&) = delete;
  OpenCvErrors& operator=(const OpenCvErrors&) = delete;

  /// What it said, without places in its sources; empty where it said nothing.
  std::string text() const;

 private:
  std::string said_;
};

/// "reason" of "OpenCV(4.6.0) ./x.cpp:102: error: (-2:kind) reason in function 'f'".
std::string opencv_reason(const std::string& text);

}  // namespace brigade
