#pragma once

// Draws samples as one image, a contact sheet, for people to view. As a consumer
// it takes any tensors; `brigade sheet` adds it downstream of the requested stage.

#include <cstdint>
#include <string>

#include <brigade/stage_types.h>

namespace brigade {

/// Its name as a stage type.
inline constexpr const char* kSheetWriter = "brigade_sheet_writer";

struct SheetWriterParams {
  OutputPath file;            ///< the PNG, written once all are drawn
  std::uint64_t count = 32;   ///< samples to draw; the rest is ignored
  std::uint64_t columns = 8;  ///< cells side by side
  std::uint64_t side = 128;   ///< pixels of a cell, in both directions
  std::string tensor;         ///< only this one; empty: all that are pictures
  std::string boxes;          ///< boxes to draw over the first picture; empty: none
};

/// A consumer that says a line per sample it has drawn.
void add_sheet_writer(StageTypes& types);

}  // namespace brigade
