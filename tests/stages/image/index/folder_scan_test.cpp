#include "stages/image/index/folder_scan.h"
#include "stages/image/index/in_parallel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(FolderScanTest, KeepsNamesBackToBackInRunsOfOneFolder) {
  TemporaryFolder folder;
  for (const char* name : {"c/2.jpg", "c/1.png", "c/m/x.jpg", "c/z.jpg", "c/notes.txt"})
    folder.write(name, "");
  const FolderScan scan = scan_folder(folder.path(), "c").value();
  EXPECT_EQ(scan.names, "1.png2.jpgx.jpgz.jpg");
  EXPECT_EQ(scan.begins, (std::vector<std::uint32_t>{0, 5, 0, 0}));
  EXPECT_EQ(scan.runs, (std::vector<FolderScan::Run>{{"c", 0, 0}, {"c/m", 10, 2}, {"c", 15, 3}}));
  EXPECT_EQ(scan.skipped.list(),
            (std::vector<SkippedInputs>{
                {SkipReason::no_match, 1, "files that are not images (\".txt\")"}}));
  ASSERT_EQ(scan.folders.size(), 2u);
  EXPECT_EQ(scan.folders[1].folder, "c/m");
  struct stat status {};
  ASSERT_EQ(stat((folder.path() / "c/m").c_str(), &status), 0);
  EXPECT_EQ(scan.folders[1].changed_ns,
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
}

TEST(FolderScanTest, AFolderIsComparedWithASlashAtItsEnd) {
  TemporaryFolder folder;
  for (const char* name : {"a/x", "a.b", "a-b", "a0", ".hidden"}) folder.write(name, "");
  std::int64_t changed_ns = 0;
  std::string order;
  SkipTally skipped;
  const auto entries = list_folder(folder.path(), changed_ns, skipped).value();
  EXPECT_EQ(skipped.list(),
            (std::vector<SkippedInputs>{{SkipReason::hidden, 1, "hidden files and folders"}}));
  for (const FolderEntry& entry : entries) order += entry.name + (entry.is_folder ? "/ " : " ");
  EXPECT_EQ(order, "a-b a.b a/ a0 ");
  EXPECT_GT(changed_ns, 0);
}

TEST(FolderScanTest, SaysWhatCannotBeRead) {
  TemporaryFolder folder;
  const std::string root = folder.path();
  EXPECT_EQ(scan_folder(root, "none").error().message,
            root + "/none: cannot read the folder: No such file or directory");
  // A link makes a path short, though the root is deep.
  std::string deep = root;
  for (int i = 0; i < 16; ++i) deep += "/" + std::string(250, 'd');
  const auto error = scan_folder(deep, "none").error().message;
  EXPECT_TRUE(error.ends_with("File name too long") || error.ends_with("No such file or directory"))
      << error;
}

TEST(InParallel, EachIsDoneOnce) {
  for (const std::size_t count : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    in_parallel(count, [&](std::size_t i) { calls[i].fetch_add(1); });
    for (const auto& call : calls) EXPECT_EQ(call.load(), 1);
  }
}

}  // namespace
}  // namespace brigade
