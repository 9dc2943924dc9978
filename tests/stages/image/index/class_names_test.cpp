#include "stages/image/index/class_names.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(ClassNames, AreNumberedByTheirOrder) {
  const ClassNames names = ClassNames::sorted({"dog", "cat", "dog", "Wolf"}).value();
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names.lines(), "Wolf\ncat\ndog\n");
  EXPECT_EQ(names.number_of("cat"), 1);
  EXPECT_EQ(names.number_of("ca"), std::nullopt);
  EXPECT_EQ(names.number_of(""), std::nullopt);
}

TEST(ClassNames, MoreThanThereMayBeAreRefused) {
  std::string many;
  for (std::size_t i = 0; i < kClassNamesMax; ++i) many += std::to_string(i) + "\n";
  EXPECT_TRUE(ClassNames::of_lines(many).ok());
  EXPECT_EQ(message_of(ClassNames::of_lines(many + "one more")),
            "more than 65,536 different labels; check that the labels are class names");
}

}  // namespace
}  // namespace brigade
