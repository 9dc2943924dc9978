#include "pipeline/cli/templates/graph_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/cli/templates/found_data.h"
#include "pipeline/config/yaml/variables.h"
#include "tests/pipeline/cli/templates/hostile_names.h"
#include "tests/support/config/reads_yaml.h"
#include "tests/support/golden.h"

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
                graph_template("fashion", idx_data(), Trainer::classifier));
}

TEST(GraphTemplate, ForFoldersOfClassesTrainsAndTests) {
  FoundData data;
  data.kind = FoundData::Kind::classes;
  data.folder = "/data/pets";
  data.train = "train";
  data.test = "val";
  data.classes = {"cat", "dog", "emu"};
  expect_golden("process/init_classes.yaml", graph_template("pets", data, Trainer::classifier));
}

TEST(GraphTemplate, ForAScriptHasTwoConsumersThatItReads) {
  expect_golden("process/init_script.yaml", graph_template("fashion", idx_data(), Trainer::script));
}

TEST(GraphTemplate, ForNothingMakesSamplesUp) {
  expect_golden("process/init_nothing.yaml",
                graph_template("try", FoundData(), Trainer::classifier));
}

TEST(GraphTemplate, WithoutLibTorchOrLabelsItCounts) {
  FoundData data = idx_data();
  EXPECT_THAT(graph_template("g", data, Trainer::none), HasSubstr("consumer: count"));
  data.labels.clear();
  const std::string text = graph_template("g", data, Trainer::classifier);
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
    const std::string text = graph_template("g", data, Trainer::classifier);
    EXPECT_THAT(keys_of(text, "images"), HasSubstr("    split: {train: 0.9, seed: 1}  #"));
    EXPECT_THAT(keys_of(text, "images"), HasSubstr("\n    part: train\n"));
    EXPECT_EQ(keys_of(text, "test_images"), "    split: {train: 0.9, seed: 1}\n    part: val\n");
    EXPECT_TRUE(is_divided(data, Trainer::classifier));
    EXPECT_THAT(graph_template("g", data, Trainer::none), Not(HasSubstr("split:")));
    EXPECT_FALSE(is_divided(data, Trainer::none));
  }
  EXPECT_THAT(graph_template("g", idx, Trainer::classifier), Not(HasSubstr("t10k")));
  classes.test = "val";
  for (const FoundData& data : {idx_data(), classes}) {
    EXPECT_THAT(graph_template("g", data, Trainer::classifier), Not(HasSubstr("split:")));
    EXPECT_FALSE(is_divided(data, Trainer::classifier));
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
    EXPECT_THAT(graph_template("g", data, Trainer::classifier),
                HasSubstr("#     consumer: torch_classifier\n"));
    EXPECT_THAT(graph_template("g", data, Trainer::none), Not(HasSubstr("torch_classifier")));
    data.label.clear();
    EXPECT_THAT(graph_template("g", data, Trainer::classifier),
                HasSubstr("\n# No labels were found"));
    EXPECT_THAT(graph_template("g", data, Trainer::classifier), Not(HasSubstr("torch_classifier")));
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
    const std::string divided = graph_template("g", data, Trainer::classifier);
    EXPECT_THAT(divided, HasSubstr("{model: resnet18, classes: 3, "));
    EXPECT_THAT(divided, HasSubstr("    part: train\n"));
    EXPECT_THAT(divided, HasSubstr("    part: val\n"));
    data.test = kind == FoundData::Kind::shards ? "val-*.tar" : "val.csv";
    const std::string apart = graph_template("g", data, Trainer::classifier);
    EXPECT_THAT(apart, HasSubstr(concat("\"${data}/", data.test, "\"\n")));
    EXPECT_THAT(apart, Not(HasSubstr("split:")));
    EXPECT_THAT(graph_template("g", data, Trainer::none), HasSubstr("consumer: count"));
  }
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
  YamlNode tree(const FoundData& data) {
    return tree_of(graph_template("graph", data, Trainer::classifier));
  }
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
    EXPECT_EQ(tree_of(graph_template(name, FoundData(), Trainer::none)).find("name")->value.text,
              name);
  EXPECT_EQ(messages(), "");
}

TEST_F(HostileNames, ThatAreNotUtf8AreRefusedButForClasses) {
  FoundData data = with_names(FoundData::Kind::classes, "a");
  data.classes = {"caf\xE9"};
  EXPECT_EQ(unwritable(data), "");
  EXPECT_THAT(graph_template("g", data, Trainer::classifier),
              HasSubstr("# labels: 0 \"caf\\xe9\"\n"));
  data.train = "caf\xE9";
  EXPECT_EQ(unwritable(data), "the name \"caf\\xe9\" is not UTF-8, which YAML requires; rename it");
}

}  // namespace
}  // namespace brigade
