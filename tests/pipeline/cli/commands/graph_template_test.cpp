#include "pipeline/cli/commands/graph_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/session/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/fake_types.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

FoundData idx_data() {
  FoundData data;
  data.kind = FoundData::Kind::idx;
  data.folder = "/data/fashion";
  data.images = "train-images-idx3-ubyte.gz";
  data.labels = "train-labels-idx1-ubyte.gz";
  data.test_images = "t10k-images-idx3-ubyte.gz";
  data.test_labels = "t10k-labels-idx1-ubyte.gz";
  return data;
}

TEST(GraphTemplate, ForIdxFilesTrainsAndTests) {
  expect_golden("process/init_idx.yaml",
                graph_template("fashion", idx_data(), builtin_stage_types(), true));
}

TEST(GraphTemplate, ForNothingKnownMakesSamplesUp) {
  expect_golden("process/init_nothing.yaml",
                graph_template("try", FoundData(), builtin_stage_types(), true));
}

TEST(GraphTemplate, WithoutLibTorchOrLabelsItCounts) {
  FoundData data = idx_data();
  EXPECT_THAT(graph_template("g", data, builtin_stage_types(), false),
              HasSubstr("consumer: count"));
  data.labels.clear();
  const std::string text = graph_template("g", data, builtin_stage_types(), true);
  EXPECT_THAT(text, HasSubstr("consumer: count"));
  EXPECT_THAT(text, Not(HasSubstr("labels:")));
}

TEST(GraphTemplate, WithoutTestFilesItOnlyTrains) {
  FoundData data = idx_data();
  data.test_labels.clear();
  const std::string text = graph_template("g", data, builtin_stage_types(), true);
  EXPECT_THAT(text, HasSubstr("from: {train: augment}\n"));
  EXPECT_THAT(text, Not(HasSubstr("test_images")));
}

TEST(GraphTemplate, ForImagesDecodesThemWhereItCan) {
  FoundData data;
  data.kind = FoundData::Kind::images;
  data.folder = "/data/pictures";
  StageTypes types;
  fake::add_producers(types);
  fake::add_transforms(types);
  EXPECT_THAT(graph_template("g", data, types, false), HasSubstr("transform: decode_image"));
  EXPECT_TRUE(can_read(data, types));
  EXPECT_FALSE(can_read(data, StageTypes()));
  const std::string text = graph_template("g", data, StageTypes(), false);
  EXPECT_THAT(text, HasSubstr("producer: synthetic"));
  EXPECT_THAT(text, HasSubstr("# Found in /data/pictures: images. This program has no stages"));
}

TEST(LookAtFolder, RecognisesIdxFiles) {
  const TemporaryFolder folder;
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                           "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}) {
    folder.write(name, "x");
  }
  const auto data = look_at_folder(folder.path());
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->kind, FoundData::Kind::idx);
  EXPECT_EQ(data->images, "train-images-idx3-ubyte.gz");
  EXPECT_EQ(data->test_labels, "t10k-labels-idx1-ubyte.gz");
}

TEST(LookAtFolder, RecognisesImagesAlsoOneLevelBelow) {
  const TemporaryFolder folder;
  folder.write("n01440764/a.JPEG", "x");
  EXPECT_EQ(look_at_folder(folder.path())->kind, FoundData::Kind::images);
}

TEST(LookAtFolder, AnEmptyFolderHoldsNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(look_at_folder(folder.path())->kind, FoundData::Kind::nothing);
}

TEST(LookAtFolder, AFolderThatIsNotThereIsAnError) {
  EXPECT_EQ(look_at_folder("/nowhere").error().message,
            "cannot look at /nowhere: No such file or directory");
}

struct InitCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string file = folder.path() / "graph.yaml";

  Captured run(const std::string& data) {
    return captured_command({"init", data, "--out", file}, types);
  }
};

TEST_F(InitCommand, WritesAGraphThatChecks) {
  std::filesystem::create_directory(folder.path() / "empty");
  const Captured ran = run(folder.path() / "empty");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("graph.yaml"));
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
}

TEST_F(InitCommand, SaysWhatItFound) {
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_THAT(run(folder.path() / "empty").out,
              HasSubstr("found nothing that `brigade init` knows (IDX files or images); the graph "
                        "makes samples up\nwrote "));
}

TEST_F(InitCommand, AFolderThatIsNotThereIsSaid) { EXPECT_EQ(run("/nowhere").code, 2); }

}  // namespace
}  // namespace brigade
