#include "pipeline/cli/samples/contact_sheet.h"
#include "pipeline/cli/samples/png.h"
#include "pipeline/cli/samples/sheet_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/shared_path.h"
#include "stages/basic/half_float.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

template <class T>
std::vector<SheetPicture> pictures(const std::vector<T>& elements, const Shape& shape) {
  return pictures_of(TensorView(elements.data(), dtype_of<T>(), shape));
}

TEST(SheetPictures, AreU8AsTheyAre) {
  const Bytes channels = {200, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto last = pictures<std::uint8_t>(channels, {2, 2, 3});
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].pixels, channels);
  const auto first = pictures<std::uint8_t>(channels, {3, 2, 2});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].pixels, (Bytes{200, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  const auto gray = pictures<std::uint8_t>({200, 1, 2, 3}, {2, 2, 1});
  ASSERT_EQ(gray.size(), 1u);
  EXPECT_EQ(gray[0].pixels, (Bytes{200, 200, 200, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
  EXPECT_FALSE(gray[0].of_classes);
}

TEST(SheetPictures, OfManyChannelsAreTheFirstThree) {
  Bytes many(5 * 6 * 4);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint8_t>(i + 50);
  const auto found = pictures<std::uint8_t>(many, {5, 6, 4});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(Bytes(found[0].pixels.begin(), found[0].pixels.begin() + 6),
            (Bytes{50, 51, 52, 54, 55, 56}));
  Bytes of_two(4 * 4 * 2);
  for (std::size_t i = 0; i < of_two.size(); ++i) of_two[i] = static_cast<std::uint8_t>(i);
  of_two[0] = 200;
  const auto two = pictures<std::uint8_t>(of_two, {4, 4, 2});
  EXPECT_EQ(Bytes(two.at(0).pixels.begin(), two[0].pixels.begin() + 6),
            (Bytes{200, 200, 200, 2, 2, 2}));
  const std::vector<float> floats(4 * 5 * 6, 1);
  EXPECT_EQ(pictures<float>(floats, {4, 5, 6}).size(), 1u);
  EXPECT_EQ(pictures<std::uint8_t>(many, {4, 5, 6}).size(), 0u) << "masks of four objects";
}

TEST(SheetPictures, OfOneTensorMayBeSeveral) {
  const auto views = pictures<std::uint8_t>(Bytes(2 * 12, 50), {2, 2, 2, 3});
  EXPECT_EQ(views.size(), 2u);
}

TEST(SheetPictures, OfFloatsReachFromBlackToWhite) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const auto floats = pictures<float>({-1, 1, 0, kNone}, {2, 2, 1});
  ASSERT_EQ(floats.size(), 1u);
  EXPECT_EQ(floats[0].pixels, (Bytes{0, 0, 0, 255, 255, 255, 128, 128, 128, 0, 0, 0}));
  const auto halves =
      pictures<Half>({to_half(-1), to_half(1), to_half(0), to_half(kNone)}, {2, 2, 1});
  EXPECT_EQ(halves[0].pixels, floats[0].pixels);
  const auto even = pictures<float>({2, 2, 2, 2}, {2, 2, 1});
  EXPECT_EQ(even[0].pixels, Bytes(12, 0));
}

TEST(SheetPictures, OfClassesHaveAColourForEach) {
  const auto classes = pictures<std::int64_t>({0, 1, 2, 255}, {2, 2});
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_TRUE(classes[0].of_classes);
  const Bytes& pixels = classes[0].pixels;
  EXPECT_EQ(Bytes(pixels.begin(), pixels.begin() + 3), (Bytes{0, 0, 0}));
  EXPECT_EQ(Bytes(pixels.begin() + 9, pixels.end()), (Bytes{128, 128, 128}));
  EXPECT_NE(Bytes(pixels.begin() + 3, pixels.begin() + 6),
            Bytes(pixels.begin() + 6, pixels.begin() + 9));
  EXPECT_TRUE((pictures<std::uint8_t>({0, 1, 255, 31}, {2, 2})[0].of_classes));
  EXPECT_FALSE((pictures<std::uint8_t>({0, 1, 2, 32}, {2, 2})[0].of_classes));
}

TEST(SheetPictures, AreNoOtherTensors) {
  EXPECT_THAT((pictures<std::uint8_t>(Bytes(24), {24})), ElementsAre());
  EXPECT_THAT((pictures<std::uint8_t>(Bytes(24), {1, 24})), ElementsAre());
  EXPECT_THAT((pictures<std::uint8_t>(Bytes(40), {2, 4, 5})), ElementsAre());
  EXPECT_TRUE((pictures<float>(std::vector<float>(40), {10, 4}).empty())) << "boxes";
  EXPECT_TRUE((pictures<float>(std::vector<float>(20), {10, 2}).empty())) << "points";
  EXPECT_EQ((pictures<float>(std::vector<float>(64), {8, 8}).size()), 1u);
}

TEST(Halves, BecomeTheFloatsTheyStandFor) {
  for (const float value : {0.0f, -0.5f, 1.0f, 1023.5f, -65504.0f, 0x1p-24f, 0x1p-15f})
    EXPECT_EQ(to_float(to_half(value)), value);
  EXPECT_EQ(to_float(to_half(1e9f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(to_bfloat16(-3.5f)), -3.5f);
}

TEST(ContactSheet, PutsPicturesIntoCells) {
  ContactSheet sheet(2, 8);
  EXPECT_EQ(sheet.next_place(), "row 1, column 1");
  const SheetPicture black{2, 4, Bytes(24, 0), false};
  for (int i = 0; i < 3; ++i) sheet.add({black}, {});
  EXPECT_EQ(sheet.next_place(), "row 2, column 2");
  const std::int64_t side = 4 + 2 * (8 + 4);
  Bytes expected(static_cast<std::size_t>(side * side * 3), 255);
  for (const auto& [row, column] :
       {std::pair{0, 0}, {0, 1}, {1, 0}})  // 4 x 8 pixels, in the middle
    for (int y = 0; y < 4; ++y)
      std::fill_n(expected.begin() + ((4 + 12 * row + 2 + y) * side + 4 + 12 * column) * 3, 24, 0);
  EXPECT_EQ(sheet.png(), encode_png(expected, 28, 28, 3));
}

TEST(ContactSheet, KeepsThePicturesOfASampleTogether) {
  ContactSheet sheet(5, 8);  // two samples of two pictures
  const SheetPicture picture{2, 2, Bytes(12, 0), false};
  sheet.add({picture, picture}, {});
  sheet.add({SheetPicture{}, picture}, {});  // its first cell stays empty
  EXPECT_EQ(sheet.next_place(), "row 2, column 1");
  EXPECT_EQ(sheet.bytes_for(2, 2), (4u + 12u) * 52u * 3u);
  EXPECT_EQ(sheet.bytes_for(3, 2), (4u + 24u) * 52u * 3u);
}

TEST(ContactSheet, ShrinksByAFilterButForClasses) {
  Bytes stripes;
  for (int i = 0; i < 16 * 16; ++i) stripes.insert(stripes.end(), 3, i % 2 == 0 ? 0 : 255);
  const auto drawn = [](const SheetPicture& picture) {
    ContactSheet sheet(1, 8);
    sheet.add({picture}, {});
    return sheet.png();
  };
  const SheetPicture black{8, 8, Bytes(8 * 8 * 3, 0), false};
  EXPECT_EQ(drawn({16, 16, stripes, true}), drawn(black));
  EXPECT_NE(drawn({16, 16, stripes, false}), drawn(black));
}

TEST(ContactSheet, DrawsBoxesWithinThePicture) {
  const SheetPicture black{8, 8, Bytes(8 * 8 * 3, 0), false};
  const auto drawn = [&](const SheetBoxes& boxes) {
    ContactSheet sheet(1, 8);
    sheet.add({black}, boxes);
    return sheet.png();
  };
  EXPECT_NE(drawn({2, 2, 6, 6}), drawn({}));
  EXPECT_EQ(drawn({-100, -100, 100, 100}), drawn({0, 0, 8, 8}));
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(drawn({kNone, 0, 1e30f, 3}), drawn({}));
}

struct SheetCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();
  std::string out = folder.path() / "made" / "sheet.png";

  Captured run(std::vector<std::string> flags) {
    const std::string file = folder.write(
        "g.yaml",
        "stages:\n"
        "  images: {producer: synthetic, params: {count: 20, shape: [4, 6, 3], dtype: u8}}\n"
        "  end: {consumer: faulty, from: images, params: {open: crash}}\n");
    flags.insert(flags.begin(), {"sheet", file, "--stage", "images", "--out", out});
    return captured_command(flags, types);
  }
};

TEST_F(SheetCommand, DrawsSamplesAndSaysWhereTheyStand) {
  const Captured ran = run({"-n", "5", "--columns", "3", "--size", "12"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("row 2, column 2: sample 4 (epoch 0, id 4)\n5 samples in "));
  const auto png = read_whole_file(out);
  ASSERT_TRUE(png);
  EXPECT_EQ(png->substr(12, 12), std::string("IHDR\0\0\0\x34\0\0\0\x24", 12)) << "52 x 36 pixels";
}

TEST_F(SheetCommand, DrawsWhatThereIs) {
  const Captured ran = run({"-n", "100"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("20 samples in "));
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST_F(SheetCommand, SaysBeforeItDrawsWhatIsTooLarge) {
  EXPECT_THAT(run({"-n", "1000", "--size", "1024"}).err, HasSubstr("is larger than 256 MiB"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace brigade
