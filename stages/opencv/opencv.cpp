// opencv: a list of OpenCV's operations on each picture, one after another. What is drawn comes
// from the random numbers of the sample, in the order of the list.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include <opencv2/core.hpp>

#include <brigade/module.h>
#include <brigade/text.h>
#include "stages/image/targets/targets.h"
#include "stages/opencv/opencv_contract.h"
#include "stages/opencv/opencv_steps.h"

namespace brigade {
namespace {

class OpenCv : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    cv::setNumThreads(context.threads);
    params_ = context.params<OpenCvParams>();
    const auto operations = opencv::make_operations(params_.operations);
    for (const auto& operation : operations) steps_.push_back(opencv::make_step(operation));
    targets_ = make_targets(params_.targets);
    ragged_ = context.outputs.find("image")->ragged();
    geometry_ = std::any_of(operations.begin(), operations.end(), opencv::has_matrix) &&
                context.inputs.find("geometry") != nullptr;
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    const TensorView image = in["image"];
    const Shape shape = image.shape();
    const PictureSize size{shape[0], shape[1]};
    if (shape.elements() == 0) return Error{concat("the image is empty: ", shape_text(shape))};
    if (size.pixels() > params_.pixels_max || std::max(size.height, size.width) > kPictureSideMax)
      return Error{concat("the image has ", size.height, " x ", size.width,
                          " pixels; pixels_max is ", params_.pixels_max, ", the limit is ",
                          kPictureSideMax, " per side")};
    // OpenCV has no picture that is only read; no step writes the first one.
    work_.begin(cv::Mat(static_cast<int>(size.height), static_cast<int>(size.width),
                        CV_8UC(static_cast<int>(shape[2])), const_cast<void*>(image.data())));
    Philox random = in.random();
    for (std::size_t i = 0; i < steps_.size(); ++i) BRIGADE_TRY(run(i, random));
    TensorSlot slot = out["image"];
    BRIGADE_TRY(write(slot));
    const PictureTrip trip{size, work_.size(), work_.moves};
    for (const auto& target : targets_) BRIGADE_TRY(target->write(in, trip, out));
    if (geometry_) write_geometry(in, out);
    return Next::emit;
  }

 private:
  Error in_operation(std::size_t i, const Error& error) const {
    return in_listed("operation", params_.operations.entries, i, error);
  }

  Result<void> run(std::size_t i, Philox& random) {
    try {
      steps_[i]->run(work_, random);
      return {};
    } catch (const cv::Exception& error) {
      return in_operation(i,
                          {concat("OpenCV ", CV_VERSION, ": ", error.err, " (", error.func, ")")});
    } catch (const std::bad_alloc&) {
      return in_operation(i, {"not enough memory for its pixels; set a smaller pixels_max to "
                              "reject such images early"});
    }
  }

  Result<void> write(TensorSlot& slot) {
    const cv::Mat& picture = work_.picture();
    const PictureSize size = work_.size();
    const std::int64_t channels = picture.channels();
    const bool planes = params_.layout == OpenCvParams::Layout::chw;
    if (ragged_)
      BRIGADE_TRY(slot.resize(planes ? Shape{channels, size.height, size.width}
                                     : Shape{size.height, size.width, channels}));
    auto* const to = static_cast<std::uint8_t*>(slot.data());
    BRIGADE_CHECK(slot.bytes() == picture.total() * picture.elemSize(), slot.bytes());
    if (!planes || channels == 1) {
      std::memcpy(to, picture.data, slot.bytes());
      return {};
    }
    std::array<cv::Mat, kRgbChannels> parts;
    for (std::size_t c = 0; c < parts.size(); ++c)
      parts[c] = cv::Mat(picture.size(), CV_8UC1, to + c * picture.total());
    cv::split(picture, parts.data());
    return {};
  }

  /// With what stages before this one have done to the picture.
  void write_geometry(const Inputs& in, Outputs& out) const {
    PlaceMatrix before;
    const auto given = in["geometry"].as<float>();
    std::copy(given.begin(), given.end(), before.begin());
    write_matrix(chained(before, matrix_of(work_.moves)), out["geometry"].as<float>());
  }

  OpenCvParams params_;
  std::vector<std::unique_ptr<opencv::Step>> steps_;
  std::vector<std::unique_ptr<Target>> targets_;
  opencv::Work work_;
  bool ragged_ = false;
  bool geometry_ = false;
};

}  // namespace
}  // namespace brigade

BRIGADE_MODULE(brigade::stage_body<brigade::OpenCv>("opencv"))
