#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// Folders cat, dog and emu, or ten numbers, with these keys.
struct WeightedGraph : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();

  WeightedGraph() {
    for (const char* name : {"cat/1.jpg", "dog/1.jpg", "emu/1.jpg"})
      folder.write(concat("train/", name), "");
  }

  PlannedGraph planned(const std::string& keys, const std::string& source,
                       const std::string& more) {
    const std::string file =
        folder.write("g.yaml", concat("stages:\n  images: {producer: ", source, ", ", keys, "}\n",
                                      more, "  sink: {consumer: count, from: images}\n"));
    return plan_files({{file}, {}, {}}, types);
  }
  std::string of_folders(const std::string& keys, const std::string& more = "") {
    return planned(concat("shuffle: true, ", keys), "image_folder, params: {root: train}", more)
        .messages;
  }
  std::string of_numbers(const std::string& keys, const std::string& more = "") {
    return planned(concat("shuffle: true, ", keys), "synthetic, params: {count: 10}", more)
        .messages;
  }
};

TEST_F(WeightedGraph, IsFine) {
  for (const char* keys :
       {"weights: balanced", "weights: balanced, samples: 1000", "repeat_factor: 0.001",
        "repeat_factor: 1%, samples: 5", "weights: {cat: 1, dog: 0, emu: 2.5}",
        "weights: {cat: 3, others: 1}", "weights: balanced, limit: 50%, skip: 1"})
    EXPECT_EQ(of_folders(keys), "") << keys;
}

TEST_F(WeightedGraph, KnowsTheSamplesOfAnEpochBeforeTheRun) {
  folder.write("w.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
  const auto count = [&](const std::string& keys) {
    const auto result =
        planned(concat("shuffle: true, ", keys), "synthetic, params: {count: 10}", "");
    EXPECT_EQ(result.messages, "");
    return result.sources.at(0).gives;
  };
  EXPECT_EQ(count("weights: w.txt"), 10u);
  EXPECT_EQ(count("weights: w.txt, limit: 4"), 4u);
  EXPECT_EQ(count("weights: w.txt, limit: 4, samples: 25"), 25u);
}

TEST_F(WeightedGraph, WithWeightsThatCannotBeIsRefused) {
  EXPECT_THAT(of_folders("weights: {cat: -1, others: 1}"),
              HasSubstr("class \"cat\": a weight is not negative, found -1"));
  EXPECT_THAT(of_folders("weights: {cat: nan, others: 1}"),
              HasSubstr("class \"cat\": a weight is a number, found nan"));
  EXPECT_THAT(of_folders("weights: {cat: much, others: 1}"),
              HasSubstr("class \"cat\": expected a number such as 2.5, found \"much\""));
  EXPECT_THAT(of_folders("weights: {cat: 0, others: 0}"), HasSubstr("all are 0"));
  EXPECT_THAT(of_folders("weights: [1, 2]"), HasSubstr("`weights`: expected balanced"));
  EXPECT_THAT(of_folders("weights: blanced"), HasSubstr("there is no file "));
  EXPECT_THAT(of_folders("repeat_factor: 0"), HasSubstr("`repeat_factor`: expected a share"));
  EXPECT_THAT(of_folders("repeat_factor: 2"), HasSubstr("`repeat_factor`: expected a share"));
}

TEST_F(WeightedGraph, WithClassesThatTheSourceDoesNotHaveIsRefused) {
  EXPECT_THAT(of_folders("weights: {cats: 1, others: 1}"), HasSubstr("no class \"cats\""));
  EXPECT_THAT(of_folders("weights: {cats: 1, others: 1}"), HasSubstr("did you mean \"cat\"?"));
  EXPECT_THAT(of_folders("weights: {cat: 1}"), HasSubstr("no weight for dog, emu"));
}

TEST_F(WeightedGraph, MayNameAColumnOfATable) {
  folder.write("t.csv", "path,weight\na.jpg,1\nb.jpg,2\n");
  EXPECT_THAT(of_numbers("weights: \"t.csv:weight\""),
              HasSubstr("t.csv has 2 weights, but the source has 10 samples"));
  EXPECT_EQ(of_folders("weights: \"t.csv:weight\""), "");
  EXPECT_THAT(of_folders("weights: \"t.csv:wait\""), HasSubstr("\"wait\""));
  EXPECT_THAT(of_folders("weights: \"u.csv:weight\""), HasSubstr("there is no file "));
  folder.write("u.csv:weight", "1\n2\n");
  EXPECT_EQ(of_folders("weights: \"u.csv:weight\""), "") << "a file that is called so";
}

TEST_F(WeightedGraph, OfAProgramAreOfAFile) {
  const std::string program = "exec: /bin/true, count: 3, tensors: {label: {dtype: u8, shape: []}}";
  const auto with = [&](const std::string& weights) {
    const std::string file =
        folder.write("p.yaml", concat("stages:\n  images: {shuffle: true, ", program, ", ", weights,
                                      "}\n  sink: {consumer: count, from: images}\n"));
    return plan_files({{file}, {}, {}}, types).messages;
  };
  EXPECT_THAT(with("weights: balanced"), HasSubstr("and a program tells none"));
  folder.write("w.txt", "1\n2\n3\n");
  EXPECT_EQ(with("weights: w.txt"), "");
}

TEST_F(WeightedGraph, WithAFileThatDoesNotFitIsRefused) {
  folder.write("w.txt", "1\n2\n");
  EXPECT_THAT(of_numbers("weights: w.txt"),
              HasSubstr("w.txt has 2 weights, but the source has 10 samples"));
  EXPECT_EQ(of_folders("weights: w.txt"), "") << "how many there are is found at the start";
  folder.write("w.txt", "1\n-2\n");
  EXPECT_THAT(of_folders("weights: w.txt"), HasSubstr("w.txt:2: a weight is not negative"));
  folder.write("w.txt", "0\n0\n");
  EXPECT_THAT(of_folders("weights: w.txt"), HasSubstr("all weights are 0"));
}

TEST_F(WeightedGraph, WithKeysThatDoNotGoTogetherIsRefused) {
  EXPECT_THAT(of_folders("weights: balanced, repeat_factor: 0.1"),
              HasSubstr("the same thing twice"));
  EXPECT_THAT(of_folders("samples: 10"), HasSubstr("`limit:` takes fewer of a source"));
  EXPECT_THAT(of_numbers("weights: balanced"),
              HasSubstr("`weights` goes by the tensor `label`, which \"synthetic\" does not give"));
  EXPECT_THAT(planned("weights: balanced", "lines, params: {file: g.yaml}", "").messages,
              HasSubstr("`weights` is for producers that read by index, this is a stream"));
  EXPECT_THAT(planned("weights: balanced", "image_folder, params: {root: train}", "").messages,
              HasSubstr("warning: stage \"images\": without `shuffle: true`"));
}

TEST_F(WeightedGraph, BelowACacheOrZippedIsRefused) {
  EXPECT_THAT(of_folders("weights: balanced",
                         "  kept: {transform: cache, from: images, params: {samples: 10}}\n"
                         "  end: {consumer: count, from: kept}\n"),
              HasSubstr("a cache keeps one epoch for all"));
  EXPECT_THAT(of_folders("weights: balanced",
                         "  other: {producer: image_folder, params: {root: train}, shuffle: true}\n"
                         "  end: {consumer: count, from: [images, other], join: zip}\n"),
              HasSubstr("zipped sources cannot draw their samples by `mix:`, `weights:`"));
}

}  // namespace
}  // namespace brigade
