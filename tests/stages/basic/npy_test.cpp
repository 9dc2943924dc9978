#include <gtest/gtest.h>

#include "stages/basic/basic_stages.h"
#include "tests/support/idx_files.h"
#include "tests/support/npy_files.h"
#include "tests/support/stage_harness.h"

namespace brigade {
namespace {

using namespace testing_support;

class NpyTest : public testing::Test {
 protected:
  NpyTest() { add_npy(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& files) {
    return StageHarness::open(types_.all()[0], {{{"files", files}}, {}, {}});
  }
  std::string error_of(const std::string& files) {
    const auto stage = open(files);
    return stage ? "no error" : stage.error().message;
  }

  StageTypes types_;
  TempFolder folder_;
  const std::string points_ = write_file(
      folder_ / "points.npy", npy_header("<f4", "(3, 2)") + raw_bytes<float>({1, 2, 3, 4, 5, 6}));
  const std::string labels_ = write_file(
      folder_ / "labels.npy", npy_header("<i8", "(3,)", 2) + raw_bytes<std::int64_t>({7, 8, 9}));
};

TEST_F(NpyTest, GivesARowOfEveryFile) {
  const auto stage = open("{point: " + points_ + ", label: " + labels_ + "}").value();
  EXPECT_EQ(stage->outputs(), (Ports{{"point", f32, {2}}, {"label", i64, {}}}));
  EXPECT_EQ(*stage->producer().size(), 3u);
  const HarnessCall call = stage->read(2).value();
  EXPECT_EQ(call["point"].as<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{9});
  EXPECT_EQ(stage->producer().describe(1), "row 1 of points.npy");
}

TEST_F(NpyTest, TheFingerprintIsThatOfTheFiles) {
  const auto fingerprint = [this](const std::string& labels) {
    return open("{point: " + points_ + ", label: " + labels + "}")
        .value()
        ->producer()
        .fingerprint();
  };
  const std::uint64_t first = fingerprint(labels_);
  EXPECT_NE(first, 0u);
  const auto labels = [this](const std::string& name, std::int64_t last) {
    return write_file(folder_ / name,
                      npy_header("<i8", "(3,)", 2) + raw_bytes<std::int64_t>({7, 8, last}));
  };
  EXPECT_EQ(fingerprint(labels("copied.npy", 9)), first);
  EXPECT_NE(fingerprint(labels("other.npy", 10)), first);
}

TEST_F(NpyTest, AllFilesHaveTheSameSamples) {
  const std::string two =
      write_file(folder_ / "two.npy", npy_header("|u1", "(2,)") + counting_bytes(2));
  EXPECT_EQ(error_of("{point: " + points_ + ", label: " + two + "}"),
            two + ": holds 2 samples, but " + points_ +
                " holds 3; all files must have the same first axis");
}

TEST_F(NpyTest, SaysWhichFileEndsEarlyOrGoesOn) {
  const std::string head = npy_header("<f4", "(3, 2)");
  const std::string cut = write_file(folder_ / "cut.npy", head + counting_bytes(23));
  EXPECT_EQ(error_of("{x: " + cut + "}"),
            cut + ": ends after 23 bytes of data; its header says f32[3, 2], which is 24");
  const std::string more = write_file(folder_ / "more.npy", head + counting_bytes(25));
  EXPECT_EQ(error_of("{x: " + more + "}"),
            more + ": goes on to 25 bytes of data; its header says f32[3, 2], which is 24");
}

TEST_F(NpyTest, SaysWhichHeaderIsWrong) {
  const std::string objects = write_file(folder_ / "o.npy", npy_header("|O", "(3,)"));
  EXPECT_TRUE(error_of("{x: " + objects + "}").starts_with(objects + ": holds Python objects"));
  const std::string none = folder_ / "none";
  EXPECT_EQ(error_of("{x: " + none + "}"), none + ": its header could not be read");
  EXPECT_EQ(error_of("{}"), "no files are named; write `files: {image: images.npy}`");
}

TEST_F(NpyTest, GzippedArraysAreRefused) {
  const std::string packed =
      write_gzip(folder_ / "a.npy.gz", npy_header("|u1", "(2,)") + counting_bytes(2));
  EXPECT_EQ(error_of("{x: " + packed + "}"),
            packed + ": is gzipped, so it cannot be mapped; unpack it (gunzip)");
}

TEST_F(NpyTest, AFileThatChangedAfterTheCheckIsRefused) {
  auto producer = types_.all()[0].make_producer();
  const auto params =
      make_params(types_.all()[0].contract, {{"files", "{x: " + points_ + "}"}}).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = types_.all()[0].contract.params_type;
  context.outputs = {{"x", f32, {5}}};
  EXPECT_EQ(producer->open(context).error().message,
            points_ + ": changed since the graph was checked: it now gives x f32[2]");
}

TEST_F(NpyTest, ItsContractCountsTheSamples) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts params{{"files", "{point: " + points_ + ", label: " + labels_ + "}"}};
  const auto parsed = make_params(contract, params).value();
  EXPECT_EQ(contract.samples(parsed.get(), read_facts(contract, params)), 3u);
  EXPECT_EQ(contract.samples(parsed.get(), {}), std::nullopt);
}

}  // namespace
}  // namespace brigade
