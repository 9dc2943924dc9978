#include "pipeline/run/source_names.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/fake_stages.h"

namespace brigade {
namespace {

PlanStage source(const std::string& name, bool indexed = true) {
  PlanStage stage;
  stage.name = name;
  stage.indexed = indexed;
  return stage;
}

Result<std::shared_ptr<Producer>> make(int& opened) {
  ++opened;
  return std::shared_ptr<Producer>(std::make_shared<support::LambdaProducer>(
      10, [](std::uint64_t, Outputs&) -> Result<Next> { return Next::emit; }));
}

TEST(SourceNames, AreTheProducersAndItIsOpenedOnce) {
  int opened = 0;
  SourceNames names([&](const PlanStage&) { return make(opened); });
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(names.name(source("files"), 3), "file_3");
  EXPECT_EQ(names.name(source("files"), 4), "file_4");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(names.name(source("others"), 4), "file_4");
  EXPECT_EQ(opened, 2);
}

TEST(SourceNames, StreamsHaveNone) {
  int opened = 0;
  SourceNames names([&](const PlanStage&) { return make(opened); });
  EXPECT_EQ(names.name(source("lines", false), 3), "");
  EXPECT_EQ(opened, 0);
}

TEST(SourceNames, ASourceThatCannotBeOpenedIsTriedOnce) {
  int tried = 0;
  SourceNames names([&](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    ++tried;
    return Error{"no such file"};
  });
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(tried, 1);
}

TEST(SourceNames, AnExceptionIsNoName) {
  SourceNames names([&](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    throw std::runtime_error("broken");
  });
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(SourceNames().name(source("files"), 3), "");
}

}  // namespace
}  // namespace brigade
