#include <brigade/labels.h>

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/builtin.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

/// What a source tells of its labels.
struct ToldLabels : testing::Test {
  StageTypes types = builtin_stage_types();
  TemporaryFolder folder;
  std::vector<std::string> names;

  /// Of all samples: as it reads them, or `none` where one is not told.
  std::vector<std::string> labels(const std::string& type, ParamTexts params) {
    auto stage = StageHarness::open(*types.find(type), {std::move(params), {}, {}});
    EXPECT_TRUE(stage) << stage.error().message;
    if (!stage) return {};
    auto* const source = dynamic_cast<TellsLabels*>(&(*stage)->producer());
    EXPECT_NE(source, nullptr) << type;
    if (source == nullptr) return {};
    std::vector<std::string> out;
    for (std::uint64_t i = 0; i < (*stage)->producer().size().value(); ++i) {
      const auto label = source->label_of(i);
      out.push_back(label ? concat(*label) : "none");
      if (!label) continue;
      const auto read = (*stage)->read(i);
      EXPECT_TRUE(read) << type << " " << i;
      if (read) {
        EXPECT_EQ((*read)["label"].as<std::int64_t>()[0], *label);
      }
    }
    names = source->label_names();
    return out;
  }
};

using Texts = std::vector<std::string>;

TEST_F(ToldLabels, OfFoldersAndLists) {
  for (const char* path : {"a/cat/1.jpg", "a/dog/1.jpg", "a/dog/2.jpg"}) folder.write(path, "");
  EXPECT_EQ(labels("image_folder", {{"root", folder.path() / "a"}}), (Texts{"0", "1", "1"}));
  EXPECT_EQ(names, (Texts{"cat", "dog"}));
  const std::string table = folder.write("list.csv", "path,label\nx.jpg,dog\ny.jpg,cat\n");
  EXPECT_EQ(labels("image_list", {{"file", table}, {"labels", "names"}}), (Texts{"1", "0"}));
  EXPECT_EQ(names, (Texts{"cat", "dog"}));
  EXPECT_EQ(labels("image_list", {{"file", table}}), (Texts{"none", "none"}));
}

TEST_F(ToldLabels, OfArchives) {
  const std::string shard = folder.write(
      "s.tar", tar_member("a.jpg", "x") + tar_member("a.cls", "dog") + tar_member("b.jpg", "x") +
                   tar_member("c.jpg", "x") + tar_member("c.cls", "cat") + tar_end());
  EXPECT_EQ(labels("tar_shards", {{"shards", shard}, {"labels", "names"}}),
            (Texts{"1", "none", "0"}));
  EXPECT_EQ(names, (Texts{"cat", "dog"}));
  EXPECT_EQ(labels("tar_shards", {{"shards", shard}, {"label", "none"}}),
            (Texts{"none", "none", "none"}));
}

TEST_F(ToldLabels, OfNumbers) {
  const std::string table = folder.write("t.csv", "x,label\n1,3\n2,-1\n3,1.5\n");
  const Texts told{"3", "-1", "none"};
  EXPECT_EQ(
      labels("csv", {{"file", table}, {"columns", "{label: label}"}, {"dtypes", "{label: i64}"}}),
      told);
  std::string record(3073, '\7');
  const std::string batch = folder.write("batch.bin", record + std::string(3073, '\1'));
  EXPECT_EQ(labels("cifar_binary", {{"files", batch}}), (Texts{"7", "1"}));
  EXPECT_EQ(labels("synthetic", {{"count", "2"}, {"name", "label"}}), (Texts{"0", "1"}));
}

}  // namespace
}  // namespace brigade
