#include "pipeline/cli/commands/graph_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <brigade/text.h>
#include "pipeline/config/yaml/variables.h"
#include "pipeline/host/module_loader.h"
#include "pipeline/session/load_and_plan.h"
#include "stages/api/file_patterns.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/golden.h"
#include "tests/support/reads_yaml.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

/// The lines of the stage of this name that follow its producer's, up to `params:`.
std::string keys_of(const std::string& graph, const std::string& stage) {
  const auto begin = graph.find(concat("\n  ", stage, ":\n    producer: "));
  if (begin == graph.npos) return "no such stage";
  const auto producer = graph.find("producer", begin);
  const auto keys = graph.find('\n', producer) + 1;
  return graph.substr(keys, graph.find("    params:", keys) - keys);
}

TEST(GraphTemplate, WithoutFilesToEvaluateKeepsATenthApart) {
  FoundData idx = idx_data();
  idx.test_labels.clear();
  FoundData classes;
  classes.kind = FoundData::Kind::classes;
  classes.folder = "/data/pets";
  classes.classes = {"cat", "dog"};
  for (const FoundData& data : {idx, classes}) {
    const std::string text = graph_template("g", data, true);
    EXPECT_THAT(keys_of(text, "images"), HasSubstr("    split: {train: 0.9, seed: 1}  #"));
    EXPECT_THAT(keys_of(text, "images"), HasSubstr("\n    part: train\n"));
    EXPECT_EQ(keys_of(text, "test_images"), "    split: {train: 0.9, seed: 1}\n    part: val\n");
    EXPECT_TRUE(is_divided(data, true));
    EXPECT_THAT(graph_template("g", data, false), Not(HasSubstr("split:")));
    EXPECT_FALSE(is_divided(data, false));
  }
  EXPECT_THAT(graph_template("g", idx, true), Not(HasSubstr("t10k")));
  classes.test = "val";
  for (const FoundData& data : {idx_data(), classes}) {
    EXPECT_THAT(graph_template("g", data, true), Not(HasSubstr("split:")));
    EXPECT_FALSE(is_divided(data, true));
  }
}

TEST(GraphTemplate, OfListedImagesSaysWhatIsMissingToTrain) {
  FoundData data;
  data.folder = "/data";
  for (const FoundData::Kind kind : {FoundData::Kind::shards, FoundData::Kind::list}) {
    data.kind = kind;
    data.train = "train-*.tar";
    data.table = "images.csv";
    data.image = "path";
    data.label = "cls";
    EXPECT_THAT(graph_template("g", data, true), HasSubstr("#     consumer: torch_classifier\n"));
    EXPECT_THAT(graph_template("g", data, false), Not(HasSubstr("torch_classifier")));
    data.label.clear();
    EXPECT_THAT(graph_template("g", data, true), HasSubstr("\n# No labels were found"));
    EXPECT_THAT(graph_template("g", data, true), Not(HasSubstr("torch_classifier")));
  }
}

TEST(GraphTemplate, OfListedImagesWhoseClassesAreCountedTrainsAndEvaluates) {
  FoundData data;
  data.folder = "/data";
  data.image = "path";
  data.label = "cls";
  data.class_count = 3;
  for (const FoundData::Kind kind : {FoundData::Kind::shards, FoundData::Kind::list}) {
    data.kind = kind;
    data.train = "train-*.tar";
    data.table = "images.csv";
    data.test.clear();
    const std::string divided = graph_template("g", data, true);
    EXPECT_THAT(divided, HasSubstr("{model: resnet18, classes: 3, "));
    EXPECT_THAT(divided, HasSubstr("    part: train\n"));
    EXPECT_THAT(divided, HasSubstr("    part: val\n"));
    data.test = kind == FoundData::Kind::shards ? "val-*.tar" : "val.csv";
    const std::string apart = graph_template("g", data, true);
    EXPECT_THAT(apart, HasSubstr(concat("\"${data}/", data.test, "\"\n")));
    EXPECT_THAT(apart, Not(HasSubstr("split:")));
    EXPECT_THAT(graph_template("g", data, false), HasSubstr("consumer: count"));
  }
}

/// Whatever people, and people who would do harm, call their files.
std::vector<std::string> hostile_names() {
  std::vector<std::string> names{"a\n    plugin: evil.so\n    #",
                                 "a\"\n    plugin: evil.so\n    #",
                                 "a', plugin: evil.so #",
                                 "a #idx3",
                                 "a: b",
                                 "- a",
                                 " a ",
                                 "null",
                                 "~",
                                 "@labels@",
                                 "@folder@",
                                 "${HOME}",
                                 "$$",
                                 "$",
                                 "{a: b}",
                                 "[a]",
                                 "&a",
                                 "*a",
                                 "!a",
                                 "\\x41\\",
                                 "%YAML",
                                 "---",
                                 "\xC3\xA9\xC2\x85\xE2\x80\xA8\xE2\x80\xAE",
                                 "\xEF\xBB\xBF a",
                                 "\xEF\xBF\xBE",
                                 "\xEF\xBF\xBF",
                                 "\xF0\x9F\x90\x88",
                                 "@"};
  for (char c = 1; c < 0x7F; ++c)
    if (c != '/') names.push_back(concat('a', c, 'b'));
  names.push_back("\x7F");
  return names;
}

FoundData with_names(FoundData::Kind kind, const std::string& name, std::size_t classes = 0) {
  FoundData data;
  data.class_count = classes;
  data.kind = kind;
  data.folder = concat("/data/", name, "/folder");
  data.images = data.labels = data.test_images = data.test_labels = name;
  data.train = kind == FoundData::Kind::shards ? "*.tar" : concat(name, "/train");
  data.test = concat(name, "/test");
  data.classes = {name, "z"};
  data.image = data.label = concat(name, ".column");
  data.table = concat(name, ".csv");
  data.root = name;
  data.features = {name, concat("1", name)};
  return data;
}

struct HostileNames : ReadsYaml {
  YamlNode tree(const FoundData& data) { return tree_of(graph_template("graph", data, true)); }
  YamlNode tree_of(const std::string& yaml) {
    YamlNode root = read(yaml);
    expand_variables(
        root, [](const std::string&) { return std::optional<std::string>("SECRET"); }, source_,
        diagnostics_);
    return root;
  }
  static void rename(YamlNode& node, const std::string& from, const std::string& to) {
    for (auto at = node.text.find(from); at != node.text.npos;
         at = node.text.find(from, at + to.size()))
      node.text.replace(at, from.size(), to);
    for (YamlNode& item : node.items) rename(item, from, to);
    for (YamlEntry& entry : node.entries) rename(entry.value, from, to);
  }
  static std::string text(const YamlNode& node) {
    std::string out = concat(static_cast<int>(node.kind), '<', node.text, '>');
    for (const YamlNode& item : node.items) out += concat("- ", text(item));
    for (const YamlEntry& entry : node.entries) out += concat(entry.key, ": ", text(entry.value));
    return out;
  }
};

TEST_F(HostileNames, AreReadBackAndChangeNothingElse) {
  using Kind = FoundData::Kind;
  for (const Kind kind : {Kind::idx, Kind::classes, Kind::shards, Kind::list, Kind::numbers}) {
    for (const std::string& name : hostile_names()) {
      if (kind == Kind::shards && name.find_first_of("*?[{\\") != name.npos) continue;
      for (const std::size_t classes : {0, 3}) {
        YamlNode expected = tree(with_names(kind, "QQQ", classes));
        rename(expected, "QQQ", name);
        EXPECT_EQ(text(tree(with_names(kind, name, classes))), text(expected)) << name;
        ASSERT_EQ(messages(), "") << name;
      }
    }
  }
}

TEST_F(HostileNames, OfTheGraphAreReadBack) {
  for (const std::string& name : hostile_names())
    EXPECT_EQ(tree_of(graph_template(name, FoundData(), false)).find("name")->value.text, name);
  EXPECT_EQ(messages(), "");
}

TEST_F(HostileNames, ThatAreNotUtf8AreRefusedButForClasses) {
  FoundData data = with_names(FoundData::Kind::classes, "a");
  data.classes = {"caf\xE9"};
  EXPECT_EQ(unwritable(data), "");
  EXPECT_THAT(graph_template("g", data, true), HasSubstr("# labels: 0 \"caf\\xe9\"\n"));
  data.train = "caf\xE9";
  EXPECT_EQ(unwritable(data),
            "the name \"caf\\xe9\" is not UTF-8, which a YAML has to be; rename it");
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
  const bool trains = find_module_file("torch").has_value();
  const std::string classes = found(".");
  EXPECT_THAT(classes, StartsWith("found images of 2 classes (cat, dog) in " + path("train") +
                                  "; to evaluate: val\n"));
  EXPECT_EQ(classes.find("it counts what comes: what trains, torch_classifier, is not here: its "
                         "module \"torch\" is missing\n") == classes.npos,
            trains);
  EXPECT_EQ(text().find("classes: 2, ") != std::string::npos, trains);
  EXPECT_THAT(text(), HasSubstr("# labels: 0 cat, 1 dog\n"));
  folder.write("list.txt", path("val/cat/2.jpg") + "\n" + path("train/cat/1.JPG") + "\n");
  EXPECT_EQ(found("list.txt"),
            "found a list of images (list.txt: column 1, no labels)\n"
            "it counts what comes: there are no labels to learn\n");
  folder.write("table/iris.csv", "a,b,label\n1,2.5,0\n3,4,1\n");
  EXPECT_EQ(found("table"),
            "found a table of numbers (iris.csv: 2 columns, labels: label)\n"
            "it counts what comes: no stage type learns from numbers; a program does "
            "(docs/PYTHON.md, docs/PROGRAMS.md)\n");
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
        EXPECT_THAT(refused(run(data, types)), HasSubstr("has a {, with which `shards:` begins"));
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
