#include "stages/torch/loss_file.h"

#include <gtest/gtest.h>

#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(LossFileTest, GoesOnBehindWhatWasKept) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "loss.csv";
  std::uint64_t kept = 0;
  {
    LossFile file;
    ASSERT_TRUE(file.open(path, 0));
    file.add("1,1,0.5\n");
    kept = file.bytes();
    ASSERT_TRUE(file.write());
    EXPECT_EQ(file_text(path).size(), kept);
    file.add("1,2,0.25\n");
    ASSERT_TRUE(file.write());
  }
  LossFile file;
  ASSERT_TRUE(file.open(path, kept));
  EXPECT_EQ(file_text(path), "epoch,step,loss\n1,1,0.5\n");
  LossFile anew;
  ASSERT_TRUE(anew.open(path, 0));
  EXPECT_EQ(file_text(path), "epoch,step,loss\n");
}

TEST(LossFileTest, WithoutAPathThereIsNone) {
  LossFile file;
  ASSERT_TRUE(file.open("", 100));
  EXPECT_FALSE(file.is_open());
  EXPECT_TRUE(file.write());
  EXPECT_EQ(file.bytes(), 0u);
}

}  // namespace
}  // namespace brigade
