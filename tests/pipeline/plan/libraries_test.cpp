#include "pipeline/plan/libraries.h"

#include <gtest/gtest.h>

#include "stages/builtin.h"

namespace brigade {
namespace {

TEST(Libraries, AreThoseOfTheModulesThatThePlanOpens) {
  const PackageFacts packages[] = {{"image", "libjpeg-turbo 2.1.5, libpng 1.6.39"},
                                   {"imgcodecs", "libwebp 1.2.4"},
                                   {"torch", "LibTorch 2.1"}};
  const StageTypes types = builtin_stage_types();
  Plan plan;
  plan.stages.emplace_back().type = "synthetic";
  EXPECT_EQ(libraries_of(packages_of(plan, types, packages)), "");
  plan.stages.emplace_back().type = "decode_image";
  EXPECT_EQ(libraries_of(packages_of(plan, types, packages)),
            "libjpeg-turbo 2.1.5, libpng 1.6.39, libwebp 1.2.4");
}

TEST(Libraries, OnlyWhatDiffersIsNamed) {
  EXPECT_EQ(libraries_difference("libjpeg-turbo 2.1.5, libpng 1.6.39",
                                 "libjpeg-turbo 3.0.1, libpng 1.6.39"),
            "libjpeg-turbo 2.1.5 before, libjpeg-turbo 3.0.1 now");
  EXPECT_EQ(
      libraries_difference("zlib 1.2, libtiff 4.5, zlib 1.2", "zlib 1.3, libtiff 4.5, zlib 1.3"),
      "zlib 1.2 before, zlib 1.3 now");
  EXPECT_EQ(libraries_difference("libpng 1.6.39", "libpng 1.6.39"), "");
  EXPECT_EQ(libraries_difference("", "libpng 1.6.39"), "") << "not known";
  EXPECT_EQ(libraries_difference("libpng 1.6.39", ""), "libpng 1.6.39 before, none now");
}

}  // namespace
}  // namespace brigade
