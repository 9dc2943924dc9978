#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class LinesTest : public testing::Test {
 protected:
  Result<std::unique_ptr<StageHarness>> open(const std::string& path,
                                             const OpenContext& context = {}) {
    StageTypes types;
    add_lines(types);
    return StageHarness::open(types.all()[0], {{{"file", path}, {"max_bytes", "8"}}, {}, context});
  }

  /// "text", "wait", "end", or "error: ...".
  static std::string next(StageHarness& stage) {
    const auto answer = stage.process({});
    if (!answer) return "error: " + answer.error().message;
    if (answer->next == Next::wait) return "wait";
    if (answer->next == Next::end) return "end";
    const auto bytes = (*answer)["text"].as<std::uint8_t>();
    return std::string(bytes.begin(), bytes.end());
  }
  static std::vector<std::string> all(StageHarness& stage) {
    std::vector<std::string> seen;
    while (seen.empty() || seen.back() != "end") seen.push_back(next(stage));
    return seen;
  }

  TemporaryFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(LinesTest, APipeIsReadAsItIsWritten) {
  const std::string path = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto stage = open(path).value();
  EXPECT_EQ(next(*stage), "wait");  // nobody has opened it
  const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(next(*stage), "wait");
  ASSERT_EQ(write(writer, "ab\ncd", 5), 5);
  EXPECT_EQ(next(*stage), "ab");
  EXPECT_EQ(next(*stage), "wait");
  ASSERT_EQ(write(writer, "ef\n", 3), 3);
  EXPECT_EQ(next(*stage), "cdef");
  close(writer);
  EXPECT_EQ(next(*stage), "end");
}

TEST_F(LinesTest, ASuccessorGoesOnWhereTheFileWasLeftAndReadsItAnewInTheNextEpoch) {
  OpenContext context;
  context.epochs = 2;
  context.samples_done = 3;  // one of them was too long
  const std::string path =
      folder_.write("a.txt", "1\n123456789\n" + std::string(99, 'x') + "\n4\n");
  const auto stage = open(path, context).value();
  EXPECT_EQ(all(*stage), (Texts{"4", "end"}));
  ASSERT_TRUE(stage->epoch_end(0).ok());
  EXPECT_EQ(next(*stage), "1");
}

TEST_F(LinesTest, ReplicasShareTheLinesOfAFile) {
  const std::string path = folder_.write("a.txt", "0\n1\n2\n3\n4\n");
  OpenContext context;
  context.replicas = 2;
  EXPECT_EQ(all(*open(path, context).value()), (Texts{"0", "2", "4", "end"}));
  context.replica = 1;
  EXPECT_EQ(all(*open(path, context).value()), (Texts{"1", "3", "end"}));
}

TEST_F(LinesTest, APipeCannotBeReadAgainNorShared) {
  const std::string path = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  OpenContext context;
  context.epochs = 3;
  EXPECT_EQ(
      open(path, context).error().message,
      path +
          " is not a regular file and can be read only once, found epochs: 3; write `epochs: 1`");
  context.epochs = 1;
  context.replicas = 2;
  EXPECT_EQ(open(path, context).error().message, path +
                                                     " is not a regular file and can have only one "
                                                     "reader, found replicas: 2; omit `replicas:`");
}

}  // namespace
}  // namespace brigade
