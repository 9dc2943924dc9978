#include "pipeline/cli/commands/graph_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pipeline/host/module_loader.h"
#include "pipeline/session/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"
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
  expect_golden("process/init_idx.yaml", graph_template("fashion", idx_data(), true));
}

TEST(GraphTemplate, ForFoldersOfClassesTrainsAndTests) {
  FoundData data;
  data.kind = FoundData::Kind::classes;
  data.folder = "/data/pets";
  data.train = "train";
  data.test = "val";
  data.classes = {"cat", "dog", "emu"};
  expect_golden("process/init_classes.yaml", graph_template("pets", data, true));
}

TEST(GraphTemplate, ForNothingMakesSamplesUp) {
  expect_golden("process/init_nothing.yaml", graph_template("try", FoundData(), true));
}

TEST(GraphTemplate, WithoutLibTorchOrLabelsItCounts) {
  FoundData data = idx_data();
  EXPECT_THAT(graph_template("g", data, false), HasSubstr("consumer: count"));
  data.labels.clear();
  const std::string text = graph_template("g", data, true);
  EXPECT_THAT(text, HasSubstr("consumer: count"));
  EXPECT_THAT(text, Not(HasSubstr("labels:")));
}

TEST(GraphTemplate, WithoutTestFilesItOnlyTrains) {
  FoundData data = idx_data();
  data.test_labels.clear();
  const std::string text = graph_template("g", data, true);
  EXPECT_THAT(text, HasSubstr("from: {train: augment}\n"));
  EXPECT_THAT(text, Not(HasSubstr("test_images")));
}

struct InitCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string file = folder.path() / "graph.yaml";

  std::string path(const std::string& name) const { return folder.path() / name; }
  Captured run(const std::string& data, const StageTypes& with) {
    std::filesystem::remove(file);
    return captured_command({"init", data, "--out", file}, with);
  }
  /// What it says of data for which it writes a graph that `check` accepts.
  std::string found(const std::string& data) {
    const Captured ran = run(path(data), types);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
    const std::string end = "wrote " + file + "; `brigade run " + file + "` runs it\n";
    EXPECT_TRUE(ran.out.ends_with(end)) << ran.out;
    return ran.out.substr(0, ran.out.size() - std::min(end.size(), ran.out.size()));
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  /// What it says where it writes nothing.
  std::string refused(const Captured& ran) const {
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_FALSE(std::filesystem::exists(file));
    return ran.err;
  }
};

TEST_F(InitCommand, WritesAGraphThatChecksForEveryKindOfData) {
  for (const char* name : {"train/cat/1.JPG", "train/dog/1.jpg", "val/cat/2.jpg", "val/dog/2.png"})
    folder.write(name, "");
  EXPECT_EQ(found("."),
            "found images of 2 classes (cat, dog) in " + path("train") + "; to evaluate: val\n");
  if (find_module_file("torch")) {
    EXPECT_THAT(text(), HasSubstr("classes: 2, "));
  }
  EXPECT_THAT(text(), HasSubstr("# labels: 0 cat, 1 dog\n"));
  folder.write("list.txt", path("val/cat/2.jpg") + "\n" + path("train/cat/1.JPG") + "\n");
  EXPECT_EQ(found("list.txt"), "found a list of images (list.txt: column 1, no labels)\n");
  folder.write("table/iris.csv", "a,b,label\n1,2.5,0\n3,4,1\n");
  EXPECT_EQ(found("table"), "found a table of numbers (iris.csv: 2 columns, labels: label)\n");
  EXPECT_THAT(text(), HasSubstr("columns: {features: [\"a\", \"b\"], label: \"label\"}"));
}

TEST_F(InitCommand, WithoutDataOnlyWhereItIsAsked) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(refused(run(path("empty"), types)), HasSubstr("/empty: is empty; expected a folder"));
  const Captured ran = captured_command({"init", "--synthetic", "--out", file}, types);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "wrote " + file + "; `brigade run " + file + "` runs it\n");
  EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
}

TEST_F(InitCommand, WithoutTheStageTypesThatReadItSaysSo) {
  folder.write("data/cat/1.jpg", "");
  folder.write("data/dog/1.jpg", "");
  EXPECT_THAT(refused(run(path("data"), StageTypes())),
              HasSubstr("this program has no stage type \"image_folder\" to read it with\n"));
}

TEST_F(InitCommand, AFolderThatIsNotThereIsSaid) {
  EXPECT_EQ(refused(run("/nowhere", types)),
            "brigade: error: cannot look at /nowhere: No such file or directory\n");
}

TEST_F(InitCommand, AFileThatIsThereStaysAsItIs) {
  folder.write("graph.yaml", "mine");
  const Captured ran = captured_command({"init", "--synthetic", "--out", file}, types);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "brigade: error: " + file + " is there already; choose another name with --out\n");
  EXPECT_EQ(text(), "mine");
}

TEST_F(InitCommand, AFileThatCannotBeWrittenWholeIsSaidAndTakenAway) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit few{400, before.rlim_max};  // as a disk that is full; enough for what is captured
  setrlimit(RLIMIT_FSIZE, &few);
  const Captured ran = captured_command({"init", "--synthetic", "--out", file}, types);
  const Captured project =
      captured_command({"init", "stage", "mine", "--out", path("mine")}, types);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "brigade: error: cannot write " + file + ": File too large\n");
  EXPECT_EQ(project.code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("mine")));
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace brigade
