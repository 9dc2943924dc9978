#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/sampling.h"
#include "pipeline/cli/samples/sample_writer.h"

namespace brigade {
namespace {

constexpr const char* kSampleExamples = R"(Examples:
  brigade sample train.yaml --stage augment
  brigade sample train.yaml --stage augment -n 100 --out /tmp/look

Writes images as PNG files and other tensors as npy files (for numpy.load); samples.tsv lists them
with number, epoch and id. Stages downstream do not run.)";

struct SampleArguments : SamplingArguments {
  std::string folder = "samples";
};

void declare(Options& options, SampleArguments& arguments) {
  declare_sampling(options, arguments);
  options.text("--out", arguments.folder, "folder to write to (samples)", "FOLDER");
}

int sample(const SampleArguments& arguments, const StageTypes& types, std::int64_t) {
  const SampleWriterParams params{{arguments.folder}, arguments.count};
  return run_sampling(arguments,
                      {kSampleWriter, add_sample_writer, &params, arguments.folder,
                       arguments.folder + "/samples.tsv"},
                      types);
}

}  // namespace

Command sample_command() {
  return make_command<SampleArguments>("sample", "write the output of a stage to files",
                                       kSampleExamples, declare, sample);
}

}  // namespace brigade
