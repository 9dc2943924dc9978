#include "stages/image/index/class_names.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

std::string error_of(std::string_view lines) { return message_of(ClassNames::of_lines(lines)); }

TEST(ClassNames, AreNumberedByTheirOrder) {
  const ClassNames names = ClassNames::sorted({"dog", "cat", "dog", "Wolf"}).value();
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names.lines(), "Wolf\ncat\ndog\n");
  EXPECT_EQ(names.number_of("cat"), 1);
  EXPECT_EQ(names.number_of("ca"), std::nullopt);
  EXPECT_EQ(names.number_of(""), std::nullopt);
}

TEST(ClassNames, AreNumberedByTheLinesOfAFile) {
  TemporaryFolder folder;
  const ClassNames names =
      ClassNames::read(folder.write("classes", "tench, Tinca tinca\r\n wolf\n\n \n")).value();
  EXPECT_EQ(names.lines(), "tench, Tinca tinca\nwolf\n");
  EXPECT_EQ(names.number_of("wolf"), 1);
  const std::string none = folder.path() / "none";
  EXPECT_EQ(message_of(ClassNames::read(none)).find(none), 0u);
}

TEST(ClassNames, AByteOrderMarkIsNoPartOfAName) {
  EXPECT_EQ(ClassNames::of_lines("\xef\xbb\xbf"
                                 "cat\r\ndog\r\n")
                .value()
                .lines(),
            "cat\ndog\n");
  EXPECT_EQ(error_of("\xef\xbb\xbf\n"), "line 1: expected the name of class 0, found nothing");
}

TEST(ClassNames, WhatIsNoListIsRefused) {
  EXPECT_EQ(error_of(""), "line 1: expected the name of class 0, found nothing");
  EXPECT_EQ(error_of("a\n\nb"), "line 2: expected the name of a class, found nothing");
  EXPECT_EQ(error_of("b\na\nb\n"), "line 3: \"b\" is there already, in line 1");
  std::string many;
  for (std::size_t i = 0; i < kClassNamesMax; ++i) many += std::to_string(i) + "\n";
  EXPECT_TRUE(ClassNames::of_lines(many).ok());
  EXPECT_EQ(error_of(many + "one more"),
            "more than 65,536 different labels; are they names of classes?");
}

TEST(ClassNames, ANameIsOneShortLine) {
  EXPECT_EQ(parse_class_name(" a cat\n").value(), "a cat");
  EXPECT_EQ(message_of(parse_class_name(" \n")), "expected the name of a class, found nothing");
  EXPECT_EQ(message_of(parse_class_name("a\nb")), "expected the name of a class, found \"a\\nb\"");
  EXPECT_TRUE(parse_class_name(std::string(kClassNameBytesMax, 'x')).ok());
  EXPECT_EQ(message_of(parse_class_name(std::string(kClassNameBytesMax + 1, 'x'))),
            "expected the name of a class, found 257 bytes; a name has at most 256");
}

}  // namespace
}  // namespace brigade
