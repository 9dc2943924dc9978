// What a program may do with the memory of a batch: rows, copies, stores.

#include "pipeline/application/held_batch.h"
#include "pipeline/application/run_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

/// Batches of 8 samples of 1 to 5 by 2 numbers, or of 5 by 2; every number is the sample's id.
std::string row_graph(bool ragged, const std::string& more = "") {
  return concat("stages:\n  numbers: {producer: synthetic, batch: 8, params: {count: 100, ",
                "shape: [5, 2], vary: ", ragged ? "true" : "false",
                "}}\n  train: {consumer: application, from: numbers, hold: 2}\n", more);
}
const std::string kAlsoRead = "  other: {consumer: count, from: numbers}\n";

void expect_row(const Batch& batch, std::int64_t i, bool ragged) {
  const Row row = batch.row(i);
  EXPECT_EQ(row.info().id, batch.sample(i).id);
  const TensorView data = row["data"];
  EXPECT_EQ(data.shape()[0], ragged ? row["data.shape"].as<std::int64_t>()[0] : 5);
  EXPECT_EQ(data.shape()[1], 2);
  for (const std::int64_t value : data.as<std::int64_t>())
    EXPECT_EQ(value, static_cast<std::int64_t>(row.info().id));
}

TEST(Batch, RowsAreSamplesInTheirRealShape) {
  const Program program{};
  for (const bool ragged : {false, true}) {
    std::set<std::int64_t> sizes;
    auto run = program.start(row_graph(ragged));
    for (const Batch& batch : run->output("train")) {
      for (std::int64_t i = 0; i < batch.size(); ++i) {
        expect_row(batch, i, ragged);
        sizes.insert(batch.row(i)["data"].shape()[0]);
      }
    }
    EXPECT_EQ(sizes.size(), ragged ? 5u : 1u);
    EXPECT_TRUE(run->wait().ok());
  }
}

TEST(Batch, ACopyHoldsNothing) {
  const Program program{};
  for (const bool ragged : {false, true}) {
    std::vector<Batch> copies;
    {
      auto run = program.start(row_graph(ragged, kAlsoRead));
      for (const Batch& batch : run->output("train")) {  // more than `hold:`
        copies.push_back(batch.clone());
        EXPECT_NE(copies.back()["data"].data(), batch["data"].data());
        EXPECT_FALSE(batch.writable(batch["data"]));
      }
      EXPECT_TRUE(run->wait().ok());
    }
    ASSERT_EQ(copies.size(), 13u);
    EXPECT_EQ(copies.back().size(), 4);
    for (const Batch& copy : copies) {
      EXPECT_TRUE(copy.writable(copy["data"]));
      for (std::int64_t i = 0; i < copy.size(); ++i) expect_row(copy, i, ragged);
    }
  }
}

TEST(Batch, TheOnlyReaderMayWrite) {
  const Program program{};
  auto run = program.start(concat("epochs: 20\n", row_graph(false)));
  for (const Batch& batch : run->output("train")) {
    const TensorView data = batch["data"];
    EXPECT_TRUE(batch.writable(data));
    EXPECT_EQ(access_to(data.data()), "rw-s");
    expect_row(batch, 0, false);  // what was written in the turn before is gone
    auto* const values = static_cast<std::int64_t*>(const_cast<void*>(data.data()));
    for (std::int64_t i = 0; i < data.elements(); ++i) values[i] = -1;
  }
  EXPECT_TRUE(run->wait().ok());
}

TEST(Batch, OneOfSeveralReadersMayNot) {
  const Program program{};
  auto run = program.start(row_graph(false, kAlsoRead));
  for (const Batch& batch : run->output("train")) {
    EXPECT_FALSE(batch.writable(batch["data"]));
    EXPECT_EQ(access_to(batch["data"].data()), "r--s");
  }
  EXPECT_TRUE(run->wait().ok());
}

TEST(Batch, SizesOfRaggedSamplesAreTheGraphs) {
  const Program program{};
  auto run = program.start(row_graph(true));
  for (const Batch& batch : run->output("train")) {
    EXPECT_TRUE(batch.writable(batch["data"]));
    EXPECT_FALSE(batch.dense(batch["data"]));
    EXPECT_TRUE(batch.dense(batch.row(0)["data"]) && batch.dense(batch["data.shape"]));
    EXPECT_TRUE(batch.writable(batch.row(1)["data"]));
    EXPECT_FALSE(batch.writable(batch["data.shape"]));
    EXPECT_FALSE(batch.writable(batch.row(1)["data.shape"]));
  }
  EXPECT_TRUE(run->wait().ok());
}

}  // namespace
}  // namespace brigade
