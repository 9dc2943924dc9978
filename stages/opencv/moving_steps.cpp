// Steps that move pixels. Each notes down how, for what belongs to the picture.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <opencv2/imgproc.hpp>

#include "stages/opencv/opencv_steps.h"

namespace brigade::opencv {
namespace {

int interpolation_of(const Moving& params) {
  constexpr std::array kFlags = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC,
                                 cv::INTER_LANCZOS4};
  return kFlags.at(static_cast<std::size_t>(params.interpolation));
}

cv::Scalar fill_of(const Moving& params) {
  return cv::Scalar::all(static_cast<double>(params.fill));
}

/// Of the result's places to the picture's, from matrices between pixel centres; false: they have
/// none, as where corners meet.
bool set_perspective(const cv::Mat& forward, PictureMove& move) {
  cv::Mat inverse;
  if (cv::invert(forward, inverse) == 0) return false;
  const cv::Matx33d to_centers(1, 0, -0.5, 0, 1, -0.5, 0, 0, 1);
  const cv::Matx33d to_places(1, 0, 0.5, 0, 1, 0.5, 0, 0, 1);
  const cv::Matx33d places = to_places * cv::Matx33d(inverse.ptr<double>()) * to_centers;
  for (std::size_t i = 0; i < move.perspective.size(); ++i)
    move.perspective[i] = places.val[i] / places.val[8];
  return std::all_of(move.perspective.begin(), move.perspective.end(),
                     [](double number) { return std::isfinite(number); });
}

class PerspectiveStep : public Step {
 public:
  explicit PerspectiveStep(const WarpPerspective& params) : params_(params) {}

  /// The corners are drawn as `random_perspective` of the stage `augment` draws them.
  void run(Work& work, Philox& random) override {
    if (!happens(random, params_.p)) return;
    const auto [height, width] = work.size();
    const auto far = [this](std::int64_t side) {
      return static_cast<std::uint64_t>(params_.distortion_scale * static_cast<double>(side / 2));
    };
    const auto near = [&random](std::uint64_t most) {
      return static_cast<float>(random.below(most + 1));
    };
    const auto right = static_cast<float>(width - 1);
    const auto bottom = static_cast<float>(height - 1);
    const std::array<cv::Point2f, 4> corners = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
    std::array<cv::Point2f, 4> moved = corners;
    for (std::size_t i = 0; i < 4; ++i) {
      const float x = near(far(width));
      const float y = near(far(height));
      moved[i].x += i == 1 || i == 2 ? -x : x;
      moved[i].y += i >= 2 ? -y : y;
    }
    const cv::Mat matrix = cv::getPerspectiveTransform(corners.data(), moved.data());
    PictureMove move{
        .kind = PictureMove::Kind::perspective, .from = work.size(), .to = work.size()};
    if (!set_perspective(matrix, move)) return;
    cv::warpPerspective(work.picture(), work.next(), matrix, work.picture().size(),
                        interpolation_of(params_), cv::BORDER_CONSTANT, fill_of(params_));
    work.done();
    work.moves.push_back(move);
  }

 private:
  WarpPerspective params_;
};

/// Where each pixel of the result lies in the picture.
struct Field {
  cv::Mat1f columns;
  cv::Mat1f rows;

  void move_by(const Moving& params, Work& work) const {
    cv::remap(work.picture(), work.next(), columns, rows, interpolation_of(params),
              cv::BORDER_CONSTANT, fill_of(params));
    work.done();
    work.moves.push_back({.kind = PictureMove::Kind::field,
                          .from = work.size(),
                          .to = work.size(),
                          .columns = {columns.ptr<float>(), columns.total()},
                          .rows = {rows.ptr<float>(), rows.total()}});
  }
};

/// The radial part of OpenCV's model of a camera, as cv2.initUndistortRectifyMap has it, of one
/// whose focal lengths are the picture's width and height.
class LensStep : public Step {
 public:
  explicit LensStep(const LensDistortion& params) : params_(params) {}
  void run(Work& work, Philox& random) override {
    if (!happens(random, params_.p)) return;
    const double k1 = params_.k1.draw(random);
    const double k2 = params_.k2.draw(random);
    const cv::Size size = work.picture().size();
    field_.columns.create(size);
    field_.rows.create(size);
    const double middle_x = (size.width - 1) / 2.0;
    const double middle_y = (size.height - 1) / 2.0;
    for (int row = 0; row < size.height; ++row) {
      const double y = (row - middle_y) / size.height;
      for (int column = 0; column < size.width; ++column) {
        const double x = (column - middle_x) / size.width;
        const double square = x * x + y * y;
        const double factor = 1 + (k2 * square + k1) * square;
        field_.columns(row, column) = static_cast<float>(size.width * (x * factor) + middle_x);
        field_.rows(row, column) = static_cast<float>(size.height * (y * factor) + middle_y);
      }
    }
    field_.move_by(params_, work);
  }

 private:
  LensDistortion params_;
  Field field_;
};

/// Simard, Steinkraus, Platt: "Best practices for convolutional neural networks applied to visual
/// document analysis" (2003): even noise, smoothed.
class ElasticStep : public Step {
 public:
  explicit ElasticStep(const Elastic& params) : params_(params) {}
  void run(Work& work, Philox& random) override {
    if (!happens(random, params_.p)) return;
    const auto alpha = static_cast<float>(params_.alpha.draw(random));
    const double sigma = params_.sigma.draw(random);
    const cv::Size size = work.picture().size();
    for (cv::Mat1f* const axis : {&field_.columns, &field_.rows}) {
      noise_.create(size);
      for (float& number : noise_)
        number = static_cast<float>(static_cast<std::int32_t>(random.next())) * 0x1p-31F;
      cv::GaussianBlur(noise_, *axis, cv::Size(0, 0), sigma);
    }
    for (int row = 0; row < size.height; ++row)
      for (int column = 0; column < size.width; ++column) {
        float& x = field_.columns(row, column);
        float& y = field_.rows(row, column);
        x = static_cast<float>(column) + alpha * x;
        y = static_cast<float>(row) + alpha * y;
      }
    field_.move_by(params_, work);
  }

 private:
  Elastic params_;
  cv::Mat1f noise_;
  Field field_;
};

}  // namespace

std::unique_ptr<Step> make_step_of(const WarpPerspective& params) {
  return std::make_unique<PerspectiveStep>(params);
}
std::unique_ptr<Step> make_step_of(const LensDistortion& params) {
  return std::make_unique<LensStep>(params);
}
std::unique_ptr<Step> make_step_of(const Elastic& params) {
  return std::make_unique<ElasticStep>(params);
}

}  // namespace brigade::opencv
