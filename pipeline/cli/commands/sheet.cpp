#include <filesystem>

#include <brigade/text.h>
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/sampling.h"
#include "pipeline/cli/samples/sheet_writer.h"

namespace brigade {
namespace {

constexpr const char* kSheetExamples = R"(Examples:
  brigade sheet train.yaml --stage augment
  brigade sheet detection.yaml --stage augment --tensor image --boxes boxes --out boxes.png

Draws images of [H, W], [H, W, C] or [C, H, W] with 1 or 3 channels, and of [H, W, C] with up to 32
channels (the first three, or the first of two). A tensor with one more leading dimension is several
images. Floating-point values are scaled from the smallest (black) to the largest (white) of
an image; each class number of a mask ([H, W]) has its own color. A line per sample prints its place
in the sheet and its scalars. Stages downstream do not run.)";

struct SheetArguments : SamplingArguments {
  SheetArguments() { count = 32; }
  std::string file = "sheet.png";
  std::uint64_t columns = 8;
  std::uint64_t side = 128;
  std::string tensor;
  std::string boxes;
};

void declare(Options& options, SheetArguments& arguments) {
  declare_sampling(options, arguments);
  options.text("--out", arguments.file, "file to write (sheet.png)", "FILE");
  options.number("--columns", arguments.columns, 1, 64, "images side by side (8)", "N");
  options.number("--size", arguments.side, 8, 1024, "pixels of the longer side (128)", "N");
  options.text("--tensor", arguments.tensor, "draw only this tensor (default: all images)", "NAME");
  options.text("--boxes", arguments.boxes,
               "f32 [n, 4] of left, top, right, bottom: drawn on the first image", "NAME");
}

int sheet(const SheetArguments& arguments, const StageTypes& types, std::int64_t) {
  const SheetWriterParams params{{arguments.file}, arguments.count,  arguments.columns,
                                 arguments.side,   arguments.tensor, arguments.boxes};
  return run_sampling(arguments,
                      {kSheetWriter, add_sheet_writer, &params,
                       std::filesystem::path(arguments.file).parent_path(), arguments.file},
                      types);
}

}  // namespace

Command sheet_command() {
  return make_command<SheetArguments>("sheet", "draw the output of a stage as one image",
                                      kSheetExamples, declare, sheet);
}

}  // namespace brigade
