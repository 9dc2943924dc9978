#include "stages/opencv/opencv_steps.h"

#include <array>

#include <opencv2/imgproc.hpp>

namespace brigade::opencv {
namespace {

/// One below(count), unless there is one side.
int draw_side(const NumberOrRange& sides, Philox& random) {
  const auto first = static_cast<int>(sides.low);
  const auto count = static_cast<std::uint64_t>((static_cast<int>(sides.high) - first) / 2 + 1);
  return count > 1 ? first + 2 * static_cast<int>(random.below(count)) : first;
}

/// Of a color picture its lightness, L of CIE L*a*b*.
class ClaheStep : public Step {
 public:
  explicit ClaheStep(const Clahe& params)
      : params_(params), clahe_(cv::createCLAHE(40, cv::Size(tiles(), tiles()))) {}
  void run(Work& work, Philox& random) override {
    if (!happens(random, params_.p)) return;
    clahe_->setClipLimit(params_.clip_limit.draw(random));
    if (work.picture().channels() == 1) {
      clahe_->apply(work.picture(), work.next());
    } else {
      cv::cvtColor(work.picture(), lab_, cv::COLOR_RGB2Lab);
      cv::extractChannel(lab_, lightness_, 0);
      clahe_->apply(lightness_, equalized_);
      cv::insertChannel(equalized_, lab_, 0);
      cv::cvtColor(lab_, work.next(), cv::COLOR_Lab2RGB);
    }
    work.done();
  }

 private:
  int tiles() const { return static_cast<int>(params_.tiles); }
  Clahe params_;
  cv::Ptr<cv::CLAHE> clahe_;
  cv::Mat lab_;
  cv::Mat lightness_;
  cv::Mat equalized_;
};

void change(const MedianBlur& params, Work& work, Philox& random) {
  cv::medianBlur(work.picture(), work.next(), draw_side(params.ksize, random));
}

void change(const BilateralFilter& params, Work& work, Philox& random) {
  const double color = params.sigma_color.draw(random);
  const double space = params.sigma_space.draw(random);
  cv::bilateralFilter(work.picture(), work.next(), static_cast<int>(params.d), color, space);
}

void change(const MorphologyEx& params, Work& work, Philox& random) {
  constexpr std::array kOps = {cv::MORPH_ERODE,   cv::MORPH_DILATE,   cv::MORPH_OPEN,
                               cv::MORPH_CLOSE,   cv::MORPH_GRADIENT, cv::MORPH_TOPHAT,
                               cv::MORPH_BLACKHAT};
  constexpr std::array kShapes = {cv::MORPH_RECT, cv::MORPH_CROSS, cv::MORPH_ELLIPSE};
  const int side = draw_side(params.ksize, random);
  const cv::Mat kernel = cv::getStructuringElement(
      kShapes.at(static_cast<std::size_t>(params.shape)), cv::Size(side, side));
  cv::morphologyEx(work.picture(), work.next(), kOps.at(static_cast<std::size_t>(params.op)),
                   kernel, cv::Point(-1, -1), static_cast<int>(params.iterations));
}

void change(const Canny& params, Work& work, Philox& random) {
  const double first = params.threshold1.draw(random);
  const double second = params.threshold2.draw(random);
  cv::Canny(work.picture(), work.next(), first, second, static_cast<int>(params.aperture_size),
            params.l2_gradient);
}

void change(const CvtColor& params, Work& work, Philox&) {
  constexpr std::array kCodes = {cv::COLOR_RGB2GRAY,     cv::COLOR_RGB2BGR,   cv::COLOR_RGB2HSV,
                                 cv::COLOR_RGB2HSV_FULL, cv::COLOR_RGB2HLS,   cv::COLOR_RGB2Lab,
                                 cv::COLOR_RGB2Luv,      cv::COLOR_RGB2YCrCb, cv::COLOR_RGB2YUV,
                                 cv::COLOR_RGB2XYZ,      cv::COLOR_GRAY2RGB,  cv::COLOR_HSV2RGB,
                                 cv::COLOR_HLS2RGB,      cv::COLOR_Lab2RGB,   cv::COLOR_Luv2RGB,
                                 cv::COLOR_YCrCb2RGB,    cv::COLOR_YUV2RGB,   cv::COLOR_XYZ2RGB};
  static_assert(kCodes.size() == static_cast<std::size_t>(ColorCode::xyz2rgb) + 1);
  cv::cvtColor(work.picture(), work.next(), kCodes.at(static_cast<std::size_t>(params.code)));
}

/// A call that keeps nothing.
template <class P>
class CallStep : public Step {
 public:
  explicit CallStep(const P& params) : params_(params) {}
  void run(Work& work, Philox& random) override {
    if constexpr (requires { params_.p; })
      if (!happens(random, params_.p)) return;
    change(params_, work, random);
    work.done();
  }

 private:
  P params_;
};

std::unique_ptr<Step> make_step_of(const Clahe& params) {
  return std::make_unique<ClaheStep>(params);
}
template <class P>
std::unique_ptr<Step> make_step_of(const P& params) {
  return std::make_unique<CallStep<P>>(params);
}

}  // namespace

std::unique_ptr<Step> make_step(const OperationParams& operation) {
  return std::visit([](const auto& params) { return make_step_of(params); }, operation);
}

}  // namespace brigade::opencv
