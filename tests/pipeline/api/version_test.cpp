#include "pipeline/api/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace brigade {
namespace {

TEST(Version, SaysWhatWasBuiltOfWhatAndWhereThePackagesAre) {
  const PackageFacts packages[] = {{"image", "libpng 1.6"}, {"torch", "LibTorch 2.1"}};
  const BuildFacts facts = {"1.2.3", "0123456789ab", "GNU 12.2.0, Release", "zlib 1.3", packages};
  const auto find_module = [](const std::string& module) -> std::optional<std::string> {
    if (module == "image") return "/lib/brigade_image.so";
    return std::nullopt;
  };
  EXPECT_EQ(version_text(facts, find_module),
            "brigade 1.2.3\n"
            "  commit     0123456789ab\n"
            "  compiler   GNU 12.2.0, Release\n"
            "  core       zlib 1.3\n"
            "  image      libpng 1.6; /lib/brigade_image.so\n"
            "  torch      LibTorch 2.1; module not found");
}

TEST(Version, APlanSaysTheLibrariesOfItsModules) {
  EXPECT_EQ(libraries_text({{"image", "libjpeg-turbo 2.1.5"}}),
            "\nlibraries\n  image      libjpeg-turbo 2.1.5\n");
  EXPECT_EQ(libraries_text({}), "");
}

TEST(Version, OfThisBuildNamesItsLibraries) {
  const std::string text = version_text(build_facts(), [](auto&&) { return std::nullopt; });
  for (const char* part : {"compiler   GNU|Clang", "yaml-cpp [0-9]", "zlib [0-9]", "xxHash [0-9]",
                           "nlohmann-json [0-9]", "CLI11 [0-9]", "Boost [0-9]",
                           "image      libjpeg-turbo [0-9]", "libpng [0-9]"}) {
    EXPECT_THAT(text, testing::ContainsRegex(part));
  }
}

}  // namespace
}  // namespace brigade
