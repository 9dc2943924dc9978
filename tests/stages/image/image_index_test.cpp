#include "stages/image/image_index.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

class ImageIndexTest : public testing::Test {
 protected:
  std::string error_of(const std::string& root) {
    const auto index = ImageIndex::scan(root);
    return index ? "no error" : index.error().message;
  }

  TemporaryFolder folder_;
  const std::string root_ = folder_.path();
};

TEST_F(ImageIndexTest, ClassesAndImagesAreSortedBytewise) {
  for (const char* name :
       {"b/2.jpg", "b/10.jpg", "a/x.png", "B/z.bmp", "b/sub/deep/1.jpg", "b/Z.jpg"})
    folder_.write(name, "");
  const ImageIndex index = ImageIndex::scan(root_).value();
  std::vector<std::pair<std::string, std::int64_t>> images;
  for (std::uint64_t i = 0; i < index.size(); ++i)
    images.emplace_back(index.path(i), index.label(i));
  EXPECT_EQ(images, (decltype(images){{"B/z.bmp", 0},
                                      {"a/x.png", 1},
                                      {"b/10.jpg", 2},
                                      {"b/2.jpg", 2},
                                      {"b/Z.jpg", 2},
                                      {"b/sub/deep/1.jpg", 2}}));
  EXPECT_EQ(index.classes(), 3u);
  EXPECT_EQ(index.class_name(0), "B");
}

TEST_F(ImageIndexTest, TakesImagesByExtensionInAnyCase) {
  for (const char* name :
       {"a.jpg", "a.JPEG", "a.Png", "a.TIFF", "a.tif", "a.webp", "x.y.bmp", "a.ppm", "a.pgm"})
    EXPECT_TRUE(is_image_name(name)) << name;
  for (const char* name : {"a.txt", "jpg", "a.jpg.bak", "a.", "", "a.jp", "a.gif"})
    EXPECT_FALSE(is_image_name(name)) << name;
}

TEST_F(ImageIndexTest, PassesOverHiddenNamesAndOtherFiles) {
  for (const char* name : {"a/1.jpg", "a/.2.jpg", "a/notes.txt", ".hidden/1.jpg", "readme.txt"})
    folder_.write(name, "");
  const ImageIndex index = ImageIndex::scan(root_).value();
  EXPECT_EQ(index.classes(), 1u);
  EXPECT_EQ(index.size(), 1u);
}

TEST_F(ImageIndexTest, FollowsLinksButNotRoundAndRound) {
  namespace fs = std::filesystem;
  folder_.write("elsewhere/1.jpg", "");
  fs::create_directories(folder_.path() / "data");
  fs::create_directory_symlink("../elsewhere", folder_.path() / "data/a");
  const ImageIndex index = ImageIndex::scan(root_ + "/data").value();
  EXPECT_EQ(index.path(0), "a/1.jpg");
  fs::create_directory_symlink(".", folder_.path() / "elsewhere/again");
  const std::string error = error_of(root_ + "/data");
  EXPECT_TRUE(error.starts_with(root_ + "/data/a/again/again")) << error;
  EXPECT_TRUE(
      error.ends_with(": more than 32 folders in each other; is there a link that leads back?"))
      << error;
}

TEST_F(ImageIndexTest, SaysWhatIsMissing) {
  EXPECT_EQ(error_of(root_ + "/none"),
            root_ + "/none: cannot read the folder: No such file or directory");
  EXPECT_EQ(error_of(folder_.write("file/x", "")),
            root_ + "/file/x: cannot read the folder: Not a directory");
  const auto expected = [](const std::string& root) {
    return "; expected a folder of images per class, " + root + "/CLASS/*.jpg";
  };
  std::filesystem::create_directories(folder_.path() / "empty");
  EXPECT_EQ(error_of(root_ + "/empty"),
            root_ + "/empty: the folder is empty" + expected(root_ + "/empty"));
  folder_.write("flat/1.jpg", "");
  EXPECT_EQ(error_of(root_ + "/flat"),
            root_ + "/flat: has images, but no folders" + expected(root_ + "/flat"));
  folder_.write("texts/1.txt", "");
  EXPECT_EQ(error_of(root_ + "/texts"),
            root_ + "/texts: has no folders" + expected(root_ + "/texts"));
  folder_.write("hole/a/1.jpg", "");
  folder_.write("hole/b/1.txt", "");
  EXPECT_EQ(error_of(root_ + "/hole"),
            root_ +
                "/hole/b: has no images (.jpg .jpeg .png .ppm .pgm .bmp .tif .tiff .webp); "
                "every folder there is a class: take it away, or fill it");
}

}  // namespace
}  // namespace brigade
