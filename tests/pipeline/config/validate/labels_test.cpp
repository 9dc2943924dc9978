#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/builtin.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/saved_index.h"
#include "tests/support/other_user.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// A graph that trains on folders of classes, and what `check` says of it with one thing changed.
struct TrainingGraph : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string train = "params: {classes: 3}";
  std::string train_root = "train";
  int test_size = 32;
  std::string source_keys;
  std::string learner = "torch_classifier";

  TrainingGraph() {
    for (const char* part : {"train", "val"})
      for (const char* name : {"cat/1.jpg", "dog/1.JPG", "emu/deep/1.png"})
        folder.write(concat(part, "/", name), "");
  }

  std::string messages() {
    const std::string file = folder.write(
        "g.yaml", concat("stages:\n"
                         "  images: {producer: image_folder, params: {root: ",
                         train_root, "}", source_keys,
                         "}\n"
                         "  decode: {transform: decode_image, from: images, params: {size: 32}, "
                         "batch: 4}\n"
                         "  others: {producer: image_folder, params: {root: val}",
                         source_keys,
                         "}\n"
                         "  test: {transform: decode_image, from: others, params: {size: ",
                         test_size,
                         "}, batch: 4}\n"
                         "  learn: {consumer: ",
                         learner,
                         ", from: {train: decode, test: test}, "
                         "join: epochs,\n"
                         "    ",
                         train, "}\n"));
    return plan_files({{file}, {}, {}}, types).messages;
  }
};

/// What the stage `learn` is told, each behind a space.
std::string names_of_classes(const PlannedGraph& planned) {
  std::string text;
  if (!planned.plan) return planned.messages;
  for (const PlanStage& stage : planned.plan->stages)
    for (const auto& [param, value] : stage.params)
      if (stage.name == "learn" && param == "names")
        for (const ParamValue& name : value.items) text += concat(' ', name.text);
  return text;
}

TEST_F(TrainingGraph, TellsTheLearnerTheNamesOfItsClasses) {
  const auto names = [&] {
    EXPECT_EQ(messages(), "");
    return names_of_classes(plan_files({{folder.path() / "g.yaml"}, {}, {}}, types));
  };
  train = "params: {classes: 3}";
  EXPECT_EQ(names(), " cat dog emu");
  source_keys = ", limit: 2";
  EXPECT_EQ(names(), " cat dog emu");
  train = "params: {classes: 2}";
  EXPECT_EQ(names(), "") << "more names than classes";
  train = "params: {classes: 3, names: [a, b]}";
  EXPECT_EQ(names(), " a b");
}

TEST_F(TrainingGraph, KnowsTheNamesThatAFileOfClassesHas) {
  folder.write("a.tar", "");
  folder.write("names", "\xef\xbb\xbfwolf\n elk\nyak\n\n");
  const std::string file = folder.write(
      "shards.yaml",
      "stages:\n"
      "  shards: {producer: tar_shards, params: {shards: a.tar, classes: names}}\n"
      "  decode: {transform: decode_image, from: shards, params: {size: 32}, batch: 4}\n"
      "  mixed: {transform: mix_batch, from: decode, batch: 4, params: {classes: 5}}\n"
      "  learn: {consumer: torch_classifier, from: mixed, params: {classes: 5}}\n");
  EXPECT_EQ(names_of_classes(plan_files({{file}, {}, {}}, types)), " wolf elk yak");
  const std::vector<std::string> sets{"stages.learn.params.classes=2", "stages.learn.from=decode",
                                      "stages.mixed="};
  EXPECT_THAT(plan_files({{file}, sets, {}}, types).messages,
              HasSubstr("is 2, but the labels of \"decode\" have 3 classes"));
}

TEST_F(TrainingGraph, WithAConsumerOfAnotherTypeIsThatTypesMatter) {
  StageType mine = *types.find("torch_classifier");
  mine.contract.type = learner = "contrast";
  types.add(mine);
  test_size = 48;
  for (const char* params : {"params: {classes: 2}", "params: {classes: 2}, replicas: 2"}) {
    train = params;
    EXPECT_EQ(messages(), "") << params;
    learner = "torch_classifier";
    EXPECT_NE(messages(), "") << params;
    learner = "contrast";
  }
}

TEST_F(TrainingGraph, WithAnIndexThatHoldsLooksAtNoFolder) {
  if (!testing_support::may_become_another_user()) GTEST_SKIP() << "root makes the index";
  std::filesystem::permissions(folder.path() / "train/dog", std::filesystem::perms::none);
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "train"))
    if (entry.is_directory())
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(folder.path() / "train",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string index = folder.path() / "index";
  IndexSource source;
  source.kind = IndexKind::image_folder;
  source.file = index;
  const std::string root = folder.path() / "train";
  source.is_current = [&](const IndexFile& file) { return ImageIndex::is_current(file, root); };
  source.make = [&] { return ImageIndex::scan(root); };
  ASSERT_TRUE(SavedIndex::open(source).ok());
  train_root = "train, index: index";
  EXPECT_EQ(messages(), "");
  const auto is_fine = [&] { return messages().empty(); };
  const auto is_said = [&] {
    std::fputs("said", stderr);
    train_root = "train";
    return messages().find("Permission denied") != std::string::npos;
  };
  for (const std::filesystem::path& path :
       {folder.path(), folder.path() / "g.yaml", std::filesystem::path(index)})
    std::filesystem::permissions(path, std::filesystem::perms::all);
  testing_support::as_other_user(is_fine);
  testing_support::as_other_user(is_said);
  std::filesystem::permissions(folder.path() / "train/dog", std::filesystem::perms::all);
}

struct TrainingTables : testing::Test {
  TemporaryFolder folder;
  std::string keys = "labels: names";
  std::optional<std::vector<std::string>> read;

  PlannedGraph planned(const std::string& train, const std::string& val) {
    folder.write("train.csv", "path,label\n" + train);
    folder.write("val.csv", "path,label\n" + val);
    const std::string file = folder.write(
        "g.yaml",
        concat("stages:\n"
               "  others: {producer: image_list, params: {file: val.csv, ",
               keys,
               "}}\n"
               "  images: {producer: image_list, params: {file: train.csv, ",
               keys,
               "}}\n"
               "  decode: {transform: decode_image, from: images, params: {size: 32}, batch: 4}\n"
               "  test: {transform: decode_image, from: others, params: {size: 32}, batch: 4}\n"
               "  learn: {consumer: torch_classifier, from: {train: decode, test: test}, join: "
               "epochs,\n    params: {classes: 3}}\n"));
    return plan_files({{file}, {}, {}, {}, read}, builtin_stage_types());
  }
  /// Of the stage `others`.
  static std::vector<std::string> names_of(const PlannedGraph& graph) {
    std::vector<std::string> names;
    for (const PlanStage& stage : graph.plan->stages)
      for (const auto& [param, value] : stage.params)
        if (stage.name == "others" && param == "names")
          for (const ParamValue& name : value.items) names.push_back(name.text);
    return names;
  }
};

TEST_F(TrainingTables, AreNumberedByTheOneThatIsTrainedOn) {
  const PlannedGraph fewer = planned("a,cat\nb,dog\nc,fox\n", "d,fox\ne,dog\n");
  ASSERT_TRUE(fewer.plan) << fewer.messages;
  EXPECT_EQ(fewer.messages, "");
  EXPECT_EQ(names_of(fewer), (std::vector<std::string>{"cat", "dog", "fox"}));
  read = {"test"};
  const PlannedGraph alone = planned("a,cat\nb,dog\nc,fox\n", "d,fox\ne,dog\n");
  ASSERT_TRUE(alone.plan) << alone.messages;
  EXPECT_EQ(alone.plan->stages.size(), 3u) << "the table that is trained on only names classes";
  EXPECT_EQ(names_of(alone), (std::vector<std::string>{"cat", "dog", "fox"}));
}

TEST_F(TrainingTables, AFileOfClassesSaysTheNumbers) {
  folder.write("classes.txt", "fox\ndog\ncat\n");
  keys = "classes: classes.txt";
  const PlannedGraph said = planned("a,cat\nb,dog\n", "d,fox\n");
  ASSERT_TRUE(said.plan) << said.messages;
  EXPECT_TRUE(names_of(said).empty());
}

}  // namespace
}  // namespace brigade
