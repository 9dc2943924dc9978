#pragma once

// One step of the stage `opencv`: an operation with the memory that it keeps between
// images. It calls the OpenCV function of its name; the two steps that move pixels by
// a field compute the field themselves. run() throws OpenCV's exceptions. One thread.

#include <memory>
#include <vector>

#include <opencv2/core.hpp>

#include <brigade/random.h>
#include "stages/image/geometry/picture_move.h"
#include "stages/opencv/opencv_operations.h"

namespace brigade::opencv {

/// The picture of a sample on its way. The first one is the stage's input and is only read; results
/// alternate between two.
class Work {
 public:
  void begin(const cv::Mat& picture) {
    picture_ = picture;
    moves.clear();
  }
  const cv::Mat& picture() const { return picture_; }
  /// Where the next picture is written: never picture().
  cv::Mat& next() { return made_[which_ ^ 1]; }
  /// The next picture is there.
  void done() {
    which_ ^= 1;
    picture_ = made_[which_];
  }
  PictureSize size() const { return {picture_.rows, picture_.cols}; }

  std::vector<PictureMove> moves;

 private:
  cv::Mat picture_;
  cv::Mat made_[2];
  int which_ = 0;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void run(Work& work, Philox& random) = 0;
};

std::unique_ptr<Step> make_step(const OperationParams& operation);

// By kind, one file each.
std::unique_ptr<Step> make_step_of(const WarpPerspective& params);
std::unique_ptr<Step> make_step_of(const LensDistortion& params);
std::unique_ptr<Step> make_step_of(const Elastic& params);

}  // namespace brigade::opencv
