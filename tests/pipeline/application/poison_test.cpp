// What a program has returned is filled, so that who still reads it sees (BRIGADE_POISON).

#include "pipeline/application/output_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::Each;

struct Poison : testing::Test {
  ~Poison() override { unsetenv(kPoisonVariable); }
  /// One batch, in a slot that is never written again; every element of sample i is i.
  void start(const char* poison, const std::string& params, const std::string& more = "") {
    setenv(kPoisonVariable, poison, 1);
    run_ = program_.start(concat("stages:\n  numbers: {producer: synthetic, batch: 4, params: {",
                                 "count: 4, shape: [3], ", params,
                                 "}}\n  train: {consumer: application, from: numbers}\n", more));
    train_.emplace(run_->output("train"));
  }
  /// What is there after a batch has been returned.
  template <class T>
  std::vector<T> read_after_return() {
    std::span<const T> data;
    {
      const Batch batch = *train_->next().value();
      data = batch["data"].as<T>();
    }
    return {data.begin(), data.end()};
  }

  const Program program_{};
  std::unique_ptr<brigade::Run> run_;
  std::optional<Output> train_;
};

TEST_F(Poison, WhatIsReadAfterItsReturnIsNoNumber) {
  start("1", "dtype: f32");
  for (const float value : read_after_return<float>()) EXPECT_TRUE(std::isnan(value)) << value;
}

TEST_F(Poison, WholeNumbersBecomeMinusOne) {
  start("1", "dtype: i64");
  EXPECT_THAT(read_after_return<std::int64_t>(), Each(-1));
}

TEST_F(Poison, ControlNothingIsFilledUnasked) {
  start("0", "dtype: i64");
  EXPECT_EQ(read_after_return<std::int64_t>(),
            (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST_F(Poison, WhatOthersReadIsLeft) {
  start("1", "dtype: i64", "  other: {consumer: count, from: numbers}\n");
  EXPECT_EQ(read_after_return<std::int64_t>(),
            (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST_F(Poison, WhatIsHeldAtTheEndIsFilledWhenItGoes) {
  start("1", "dtype: i64");
  std::optional<Batch> batch = train_->next().value();
  EXPECT_FALSE(train_->next()->has_value());
  EXPECT_TRUE(run_->wait().ok());
  const auto data = (*batch)["data"].as<std::int64_t>();
  EXPECT_EQ(data[11], 3);
  batch.reset();
  EXPECT_THAT(data, Each(-1));  // the output has the memory still
}

TEST_F(Poison, SizesOfRaggedSamplesStay) {
  start("1", "dtype: i64, vary: true");
  std::vector<std::int64_t> sizes;
  std::span<const std::int64_t> shapes;
  std::vector<std::span<const std::int64_t>> rows;
  {
    const Batch batch = *train_->next().value();
    shapes = batch["data.shape"].as<std::int64_t>();
    sizes.assign(shapes.begin(), shapes.end());
    for (std::int64_t i = 0; i < 4; ++i) rows.push_back(batch.row(i)["data"].as<std::int64_t>());
  }
  EXPECT_EQ(std::vector<std::int64_t>(shapes.begin(), shapes.end()), sizes);
  for (const auto& row : rows) EXPECT_THAT(row, Each(-1));
}

TEST_F(Poison, WhoLetsGoInTimeNeverSeesIt) {
  setenv(kPoisonVariable, "1", 1);
  for (const char* vary : {"false", "true"}) {
    auto run = program_.start(concat("epochs: 3\nstages:\n  numbers: {producer: synthetic, batch: ",
                                     "16, params: {count: 1000, shape: [3], vary: ", vary,
                                     "}}\n  train: {consumer: application, from: numbers}\n"));
    for (const Batch& batch : run->output("train")) {
      for (std::int64_t i = 0; i < batch.size(); ++i)
        EXPECT_THAT(batch.row(i)["data"].as<std::int64_t>(), Each(batch.sample(i).id));
    }
    EXPECT_TRUE(run->wait().ok());
  }
}

}  // namespace
}  // namespace brigade
