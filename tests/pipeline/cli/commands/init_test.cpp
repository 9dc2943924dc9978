#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/api/file_patterns.h"
#include "stages/builtin.h"
#include "tests/pipeline/cli/templates/hostile_names.h"
#include "tests/support/captured.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct InitCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string file = folder.path() / "graph.yaml";
  std::string script = folder.path() / "train.py";

  void SetUp() override { setenv("BRIGADE_PYTHON", "/nowhere/python", 1); }
  void TearDown() override { unsetenv("BRIGADE_PYTHON"); }

  std::string path(const std::string& name) const { return folder.path() / name; }
  Captured run(const std::string& data, const StageTypes& with) {
    std::filesystem::remove(file);
    std::filesystem::remove(script);
    return captured_command({"init", data, "--python", "--out", file}, with);
  }
  /// What it says of data for which it writes a graph that `check` accepts.
  std::string found(const std::string& data) {
    const Captured ran = run(path(data), types);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
    const bool trains = std::filesystem::exists(script);
    const std::string end =
        trains ? concat("wrote ", file, " and ", script, "; `/nowhere/python ", script,
                        "` trains, evaluates and resumes\n", script,
                        " does not run yet: there is no Python interpreter /nowhere/python\n")
               : concat("wrote ", file, "; `brigade run ", file, "` runs it\n");
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
  const std::string classes = found(".");
  EXPECT_THAT(classes, StartsWith("found images of 2 classes (cat, dog) in " + path("train") +
                                  "; for evaluation: val\n"));
  EXPECT_THAT(text(), HasSubstr("  evaluate:                     # train.py reads it"));
  EXPECT_TRUE(std::filesystem::exists(script));
  EXPECT_THAT(text(), HasSubstr("# labels: 0 cat, 1 dog\n"));
  folder.write("list.txt", path("val/cat/2.jpg") + "\n" + path("train/cat/1.JPG") + "\n");
  EXPECT_EQ(found("list.txt"),
            "found a list of images (list.txt: column 1, no labels)\n"
            "the graph only counts batches: the data has no labels\n");
  folder.write("table/iris.csv", "a,b,label\n1,2.5,0\n3,4,1\n");
  EXPECT_EQ(found("table"),
            "found a table of numbers (iris.csv: 2 columns, labels: label)\n"
            "the graph only counts batches: no stage type trains on numbers; use a program "
            "(`brigade docs PYTHON` and `brigade docs PROGRAMS`)\n");
  EXPECT_FALSE(std::filesystem::exists(script));
  EXPECT_THAT(text(), HasSubstr("columns: {features: [\"a\", \"b\"], label: \"label\"}"));
}

TEST_F(InitCommand, ForNamesOfEveryKindWritesAGraphThatChecks) {
  for (const std::string& name : hostile_names()) {
    const TemporaryFolder inside;
    const std::string data = concat(inside.path().string(), "/", name);
    for (const std::string& image :
         {concat("train/", name, "/1.jpg"), std::string("train/z/1.jpg")})
      inside.write(concat(name, "/", image), "");
    const Captured ran = run(data, types);
    EXPECT_EQ(ran.code, 0) << name << ": " << ran.err;
    EXPECT_EQ(ran.err, "") << name;
  }
  std::filesystem::create_directories(path("latin/caf\xE9"));
  folder.write("latin/caf\xE9/1.jpg", "");
  folder.write("latin/dog/1.jpg", "");
  EXPECT_EQ(run(path("latin"), types).code, 0);
  EXPECT_THAT(refused(run(path("latin/caf\xE9"), types)), HasSubstr("brigade: error: "));
}

TEST_F(InitCommand, ForArchivesWithNamesOfWildcardsStandsForThemAlone) {
  const std::string shard = testing_support::tar_member("a.jpg", "x") + testing_support::tar_end();
  for (const char* name : {"a*", "a?", "[a]", "a\\b[", "$HOME", "${HOME}x", "plain"}) {
    const bool is_list = std::string(name).find('{') != std::string::npos;
    for (const std::string& file_name : {std::string("0.tar"), concat(name, "0.tar")}) {
      const TemporaryFolder inside;
      inside.write("ab/0.tar", "");
      const std::string data = concat(inside.path().string(), "/", name);
      inside.write(concat(name, "/", file_name), shard);
      if (is_list) {
        EXPECT_THAT(refused(run(data, types)), HasSubstr("contains {, which begins"));
        continue;
      }
      EXPECT_EQ(run(data, types).code, 0);
      inside.write(concat(name, "/", name, "1.tar"), shard);
      EXPECT_EQ(run(data, types).code, 0);
      std::filesystem::remove_all(data);
      if (is_wildcard(name)) {
        EXPECT_FALSE(plan_files({{file}, {}, {}}, types).plan) << text();
      }
    }
  }
}

TEST_F(InitCommand, WithoutDataOnlyWhereItIsAsked) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(refused(run(path("empty"), types)),
              HasSubstr("/empty: is empty; expected class folders ("));
  const Captured ran = captured_command({"init", "--synthetic", "--out", file}, types);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "wrote " + file + "; `brigade run " + file + "` runs it\n");
  EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
}

TEST_F(InitCommand, WithoutTheStageTypesThatReadItSaysSo) {
  folder.write("data/cat/1.jpg", "");
  folder.write("data/dog/1.jpg", "");
  EXPECT_THAT(refused(run(path("data"), StageTypes())),
              HasSubstr("this program has no stage type \"image_folder\" to read it\n"));
}

TEST_F(InitCommand, AFolderThatIsNotThereIsSaid) {
  EXPECT_EQ(refused(run("/nowhere", types)),
            "brigade: error: cannot stat /nowhere: No such file or directory\n");
}

TEST_F(InitCommand, AFileThatIsThereStaysAsItIs) {
  folder.write("graph.yaml", "mine");
  const Captured ran = captured_command({"init", "--synthetic", "--out", file}, types);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "brigade: error: " + file + " already exists; choose another name with --out\n");
  EXPECT_EQ(text(), "mine");
}

TEST_F(InitCommand, AProgramThatIsThereStaysAndNoGraphIsWritten) {
  for (const char* name : {"train/cat/1", "train/dog/1", "val/cat/2", "val/dog/2"})
    folder.write(concat("data/", name, ".jpg"), "");
  folder.write("train.py", "mine");
  const Captured ran = captured_command({"init", path("data"), "--python", "--out", file}, types);
  EXPECT_EQ(refused(ran),
            "brigade: error: " + script +
                " already exists; choose another folder with --out FOLDER/NAME.yaml\n");
  std::filesystem::remove(script);
  folder.write("graph.yaml", "mine");
  EXPECT_EQ(captured_command({"init", path("data"), "--python", "--out", file}, types).code, 2);
  EXPECT_EQ(text(), "mine");
  EXPECT_FALSE(std::filesystem::exists(script)) << "half of a project is left";
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
