#include "stages/torch/class_tally.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/serialize.h>

#include <sstream>

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MATCHER_P2(IsShare, name, accuracy, "") { return arg.name == name && arg.accuracy == accuracy; }

at::Tensor numbers(std::vector<std::int64_t> values) { return at::tensor(values); }
at::Tensor truths(std::vector<std::int64_t> values) { return at::tensor(values).to(at::kBool); }

ClassTally two_batches() {
  ClassTally tally({"cat", "dog", "emu"}, 4);
  tally.add(numbers({0, 1, 0}), truths({1, 0, 0}));
  tally.add(numbers({0, 3, 0}), truths({1, 1, 1}));
  return tally;
}

TEST(ClassTallyTest, CountsEachClassThatCameByItsName) {
  EXPECT_THAT(two_batches().accuracies(),
              ElementsAre(IsShare("cat", 0.75), IsShare("dog", 0.0), IsShare("class 3", 1.0)));
}

TEST(ClassTallyTest, BeginsAnewAndCountsNothingWithoutNames) {
  ClassTally tally = two_batches();
  tally.begin_anew();
  EXPECT_THAT(tally.accuracies(), IsEmpty());
  ClassTally nameless({}, 4);
  nameless.add(numbers({0, 1}), truths({1, 1}));
  EXPECT_FALSE(nameless.counts());
  EXPECT_THAT(nameless.accuracies(), IsEmpty());
}

TEST(ClassTallyTest, GoesOnFromAnArchiveThatHasTheNames) {
  std::stringstream file;
  torch::serialize::OutputArchive saved;
  two_batches().save(saved);
  saved.save_to(file);
  torch::serialize::InputArchive archive;
  archive.load_from(file);
  c10::IValue names;
  ASSERT_TRUE(archive.try_read("classes", names));
  EXPECT_EQ(names.toListRef()[1].toStringRef(), "dog");
  ClassTally resumed({"cat", "dog", "emu"}, 4);
  resumed.load(archive);
  resumed.add(numbers({1}), truths({1}));
  EXPECT_THAT(resumed.accuracies(),
              ElementsAre(IsShare("cat", 0.75), IsShare("dog", 0.5), IsShare("class 3", 1.0)));
}

TEST(ClassTallyTest, TheLeastAccurateComeFirst) {
  EXPECT_EQ(least_accurate(two_batches().accuracies()), "dog 0.000, cat 0.750, class 3 1.000");
  EXPECT_EQ(least_accurate({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 0.5}}),
            "f 0.500, a 1.000, b 1.000, c 1.000, d 1.000");
}

}  // namespace
}  // namespace brigade
