#include "pipeline/cli/samples/sheet_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "base/atomic_file.h"
#include "pipeline/cli/samples/contact_sheet.h"
#include "pipeline/cli/samples/sample_writer.h"

namespace brigade {
namespace {

constexpr std::size_t kBytesMax = 256 << 20;

/// One sample, as it is drawn.
struct Drawn {
  std::vector<std::pair<std::string, std::vector<SheetPicture>>> tensors;  ///< that are pictures
  SheetBoxes boxes;
  std::vector<std::string> values;  ///< of its scalars, with their names
};

class SheetWriter : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<SheetWriterParams>();
    reporter_ = context.reporter;
    sheet_.emplace(static_cast<int>(params_.columns), static_cast<int>(params_.side));
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    if (drawn_ >= params_.count) return Next::emit;
    BRIGADE_ASSIGN(const Drawn sample, look_at(in));
    if (shown_.empty()) BRIGADE_TRY(begin(sample));
    const std::string place = sheet_->next_place();
    sheet_->add(cells_of(sample), sample.boxes);
    if (++drawn_ == params_.count) BRIGADE_TRY(write());
    reporter_->log(concat(place, ": sample ", in.info().number, " (epoch ", in.info().epoch,
                          ", id ", in.info().id, ")", sample.values.empty() ? "" : ": ",
                          join(sample.values, ", ")));
    return Next::emit;
  }

  Result<void> close() override {
    if (drawn_ == 0 || drawn_ >= params_.count) return {};
    return write();
  }

 private:
  /// The first sample decides which tensors are drawn, and how many pictures of each.
  Result<void> begin(const Drawn& first) {
    std::size_t pictures = 0;
    for (const auto& [name, all] : first.tensors) {
      shown_.emplace_back(name, all.size());
      pictures += all.size();
    }
    if (sheet_->bytes_for(params_.count, pictures) <= kBytesMax) return {};
    return Error{concat("a sheet of ", params_.count, " x ", pictures, " images of ", params_.side,
                        " pixels is larger than 256 MiB; choose a smaller -n or --size")};
  }

  std::vector<SheetPicture> cells_of(const Drawn& sample) const {
    std::vector<SheetPicture> cells;
    for (const auto& shown : shown_) {
      const auto there = std::find_if(sample.tensors.begin(), sample.tensors.end(),
                                      [&](const auto& one) { return one.first == shown.first; });
      for (std::size_t i = 0; i < shown.second; ++i) {
        const bool has = there != sample.tensors.end() && i < there->second.size();
        cells.push_back(has ? there->second[i] : SheetPicture{});
      }
    }
    return cells;
  }

  Result<Drawn> look_at(const Inputs& in) const {
    Drawn sample;
    std::vector<std::string> names;
    bool with_boxes = params_.boxes.empty();
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::string name(in.name(i));
      const TensorView tensor = in.at(i);
      names.push_back(concat(name, " ", dtype_name(tensor.dtype()), shape_text(tensor.shape())));
      if (name == params_.boxes) {
        const auto boxes = boxes_of(tensor);
        if (!boxes) return Error{concat("expected boxes as f32[n, 4], found ", names.back())};
        sample.boxes = *boxes;
        with_boxes = true;
      } else if (tensor.shape().rank() == 0) {
        sample.values.push_back(concat(name, " ", scalar_text(tensor)));
      } else if (params_.tensor.empty() || name == params_.tensor) {
        auto pictures = pictures_of(tensor);
        if (!pictures.empty()) sample.tensors.emplace_back(name, std::move(pictures));
      }
    }
    if (sample.tensors.empty() && shown_.empty())
      return Error{
          concat(params_.tensor.empty() ? "no tensor" : "no tensor called " + params_.tensor,
                 " is an image; the tensors are ", join(names, ", "))};
    if (!with_boxes)
      return Error{
          concat("there is no tensor ", params_.boxes, "; the tensors are ", join(names, ", "))};
    return sample;
  }

  Result<void> write() const { return write_file_atomically(params_.file.path, sheet_->png()); }

  SheetWriterParams params_;
  Reporter* reporter_ = nullptr;
  std::optional<ContactSheet> sheet_;
  std::vector<std::pair<std::string, std::size_t>> shown_;  ///< tensors, and pictures of each
  std::uint64_t drawn_ = 0;
};

}  // namespace

void add_sheet_writer(StageTypes& types) {
  types.add<SheetWriter>(
      Contract<SheetWriterParams>(kSheetWriter, "Draws samples into one image.")
          .consumer()
          .takes(Takes::samples)
          .param("file", &SheetWriterParams::file, "the PNG")
          .param("count", &SheetWriterParams::count, "samples to draw")
          .param("columns", &SheetWriterParams::columns, "cells side by side")
          .param("side", &SheetWriterParams::side, "pixels of a cell, in both directions")
          .param("tensor", &SheetWriterParams::tensor, "draw only this tensor")
          .param("boxes", &SheetWriterParams::boxes, "boxes over the first image"));
}

}  // namespace brigade
