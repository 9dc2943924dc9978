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

Pictures of [H, W], [H, W, C] or [C, H, W] with 1 or 3 channels, or [H, W, C] with up to 32, of
which the first three are drawn (of two the first); a tensor with one more dimension in front is
several. Floating-point numbers are shown from the least (black) to the largest (white) of
a picture, class numbers ([H, W], as masks have them) each in a colour of its own. A line per sample
says where it stands, and its scalars. Nothing below the stage runs.)";

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
  options.number("--columns", arguments.columns, 1, 64, "pictures side by side (8)", "N");
  options.number("--size", arguments.side, 8, 1024, "pixels of the longer side (128)", "N");
  options.text("--tensor", arguments.tensor, "only this one, not all that are pictures", "NAME");
  options.text("--boxes", arguments.boxes,
               "f32 [n, 4] of left, top, right, bottom: drawn on the first picture", "NAME");
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
  return make_command<SheetArguments>("sheet", "draw what a stage emits as one picture",
                                      kSheetExamples, declare, sheet);
}

}  // namespace brigade
