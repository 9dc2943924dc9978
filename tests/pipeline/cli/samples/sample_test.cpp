#include "pipeline/cli/samples/graph_cut.h"
#include "pipeline/cli/samples/sample_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "base/shared_path.h"
#include "tests/support/captured.h"
#include "tests/support/config/example_graphs.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct SampleCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();
  std::string out = folder.path() / "out";

  Captured run(const std::string& stage = "same", std::vector<std::string> flags = {}) {
    const std::string file = folder.write(
        "g.yaml",
        "epochs: 100\n"
        "stages:\n"
        "  images: {producer: synthetic, params: {count: 1000, shape: [4, 6, 3], dtype: u8}}\n"
        "  same: {transform: passthrough, from: images, replicas: 2}\n"
        "  end: {consumer: faulty, from: same, params: {open: crash}}\n");
    flags.insert(flags.begin(), {"sample", file, "--stage", stage, "-n", "3", "--out", out});
    return captured_command(flags, types);
  }
};

TEST_F(SampleCommand, WritesWhatAStageEmitsWithItsIds) {
  const Captured ran = run();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("sample 0 (epoch 0, id 0): 000000_"));
  EXPECT_THAT(ran.out, HasSubstr("3 samples in "));
  std::ostringstream table;
  table << std::ifstream(fs::path(out) / "samples.tsv").rdbuf();
  EXPECT_THAT(table.str(), HasSubstr("sample\tnumber\tepoch\tid\t"));
  EXPECT_THAT(table.str(), HasSubstr("\n000002\t2\t0\t2\t000002_"));
  const auto files = std::distance(fs::directory_iterator(out), {});
  EXPECT_GE(files, 4);
}

TEST_F(SampleCommand, AShortStreamGivesWhatThereIs) {
  const Captured ran = run("same", {"--limit", "2", "--set", "epochs=1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 samples in "));
}

TEST_F(SampleCommand, OfAStageThatNoStageReads) {
  const std::string unread = "stages.other={transform: passthrough, from: images}";
  for (const char* stage : {"other", "same"}) {
    const Captured ran = run(stage, {"--set", unread});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("3 samples in "));
  }
  const Captured consumer = run("end");
  EXPECT_EQ(consumer.code, 2);
  EXPECT_THAT(consumer.err, HasSubstr("stage \"end\" is a consumer, which has no output"));
}

TEST_F(SampleCommand, TheCheckpointOfTheGraphStaysAsItIs) {
  const std::string position = folder.write("line.ckpt.position", "of a run");
  const Captured ran =
      run("same", {"--set", "checkpoint.file=" + folder.path().string() + "/line.ckpt"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(*read_whole_file(position), "of a run");
}

template <class T>
struct Held {
  std::vector<T> elements;
  Shape shape;
  TensorView view() const { return {elements.data(), dtype_of<T>(), shape}; }
};

TEST(SampleWriter, PicturesBecomePng) {
  for (const Shape& shape : {Shape{4, 6}, Shape{8, 3, 1}, Shape{2, 4, 3}, Shape{2, 3, 4}}) {
    const Held<std::uint8_t> picture{std::vector<std::uint8_t>(24), shape};
    EXPECT_EQ(tensor_file(picture.view()).ending, ".png");
  }
}

TEST(SampleWriter, OtherTensorsBecomeNumpyFiles) {
  const Held<std::uint8_t> many_channels{std::vector<std::uint8_t>(40), {2, 4, 5}};
  const Held<std::uint8_t> flat{std::vector<std::uint8_t>(24), {24}};
  const Held<std::uint8_t> line{std::vector<std::uint8_t>(24), {1, 24}};
  const Held<float> floats{std::vector<float>(24), {4, 6}};
  EXPECT_EQ(tensor_file(many_channels.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(flat.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(line.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(floats.view()).ending, ".npy");
}

TEST(SampleWriter, ANumpyFileHasItsTypeShapeAndBytes) {
  const Held<float> held{{1.5f, -2.0f}, {2, 1}};
  const std::string bytes = encode_npy(held.view());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header =
      static_cast<std::uint8_t>(bytes[8]) + 256u * static_cast<std::uint8_t>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, ), ");
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  EXPECT_EQ(bytes.substr(10 + header), std::string("\0\0\xc0\x3f\0\0\0\xc0", 8));
}

TEST(SampleWriter, ScalarsAreShownAsText) {
  EXPECT_EQ(scalar_text(Held<std::int64_t>{{-7}, {}}.view()), "-7");
  EXPECT_EQ(scalar_text(Held<std::uint8_t>{{65}, {}}.view()), "65");
  EXPECT_EQ(scalar_text(Held<float>{{0.5f}, {}}.view()), "0.5");
  EXPECT_EQ(scalar_text(Held<Half>{{{0x3c00}}, {}}.view()), "bits 15360");
}

struct Cut : testing::Test {
  GraphBuilder graph = diamond_graph();
  StageTypes types;
  Cut() { add_sample_writer(types); }

  Result<ValidGraph> below(const std::string& stage) {
    return cut_below(graph.build(), stage, *types.find(kSampleWriter), "look");
  }
  static std::vector<std::string> names(const ValidGraph& cut) {
    std::vector<std::string> names;
    for (const ValidStage& stage : cut.stages) names.push_back(stage.name);
    return names;
  }
};

TEST_F(Cut, KeepsWhatIsAboveTheStage) {
  EXPECT_THAT(names(*below("flip")), ElementsAre("images", "flip", "look"));
  EXPECT_THAT(names(*below("pair")),
              ElementsAre("images", "masks", "flip", "blur", "pair", "look"));
  EXPECT_THAT(names(*below("masks")), ElementsAre("masks", "look"));
}

TEST_F(Cut, SourcesStayWhoTheyWere) {
  const ValidGraph cut = *below("blur");
  for (const StageNumber s : cut.stages.numbers(1)) {
    EXPECT_EQ(cut.stages[s].sources.at(0).stage, s.value() - 1);
  }
}

TEST_F(Cut, TheReaderSeesWhatTheStageEmits) {
  const ValidStage look = below("pair")->stages.back();
  EXPECT_EQ(look.kind, StageKind::consumer);
  EXPECT_EQ(look.sources.at(0).tensors, graph.stage("pair").outputs);
  EXPECT_FALSE(look.batched);
}

TEST_F(Cut, AStageThatIsNotThereIsGuessed) {
  EXPECT_EQ(below("flap").error().message,
            "there is no stage \"flap\"; did you mean \"flip\"?  The stages are images, masks, "
            "flip, blur, pair, train, watch");
}

}  // namespace
}  // namespace brigade
