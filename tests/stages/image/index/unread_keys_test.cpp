#include "stages/image/index/unread_keys.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

const TarFields kFields{{"jpg", "png"}, {"cls"}, "", {}};

std::string line_about(const std::vector<std::string>& members, const TarFields& fields = kFields,
                       std::size_t bytes_max = 400) {
  UnreadKeys keys;
  keys.add_key(members);
  return keys.text(fields, bytes_max);
}

TEST(UnreadKeys, SayWhatWouldReadThem) {
  EXPECT_EQ(line_about({"image.jpg", "label.cls"}),
            "keys with neither image nor label; extensions seen: image.jpg, label.cls; `image: "
            "[image.jpg]`, `label: label.cls` reads them");
  EXPECT_EQ(line_about({"image.jpg", "a.txt", "b.json"}),
            "keys with neither image nor label; extensions seen: image.jpg, a.txt, b.json; "
            "`image: [image.jpg]`, `label: b.json`, `label_field: ...` reads them");
  EXPECT_EQ(line_about({"image.jpg", "b.json"}, {{"jpg"}, {"json"}, "id", {}}),
            "keys with neither image nor label; extensions seen: image.jpg, b.json; "
            "`image: [image.jpg]`, `label: b.json` reads them");
  EXPECT_EQ(line_about({"image.jpg"}),
            "keys with neither image nor label; extensions seen: image.jpg; `image: [image.jpg]`, "
            "`label: none` reads them");
  EXPECT_EQ(line_about({"image.jpg"}, {{"jpg"}, {}, "", {}}),
            "keys without an image; extensions seen: image.jpg; `image: [image.jpg]` reads them");
  EXPECT_EQ(line_about({"flac", "json"}),
            "keys with neither image nor label; extensions seen: flac, json");
}

TEST(UnreadKeys, BesideOthersBothAreRead) {
  UnreadKeys keys;
  keys.add_image("jpg");
  keys.add_image("jpg");
  UnreadKeys of_another;
  of_another.add_key({"image.jpg", "label.cls"});
  keys.add(of_another);
  keys.add(of_another);
  EXPECT_EQ(keys.count, 2u);
  EXPECT_EQ(keys.text(kFields, 120),
            "keys with neither image nor label; `image: [jpg, image.jpg]`, `label: cls;label.cls` "
            "reads them")
      << "in few words where there is little room";
  UnreadKeys of_json;
  of_json.add_image("jpg");
  of_json.add_key({"image.jpg", "label.json"});
  EXPECT_EQ(of_json.text(kFields, 120),
            "keys with neither image nor label; `image: [jpg, image.jpg]`, `label: "
            "cls;label.json`, `label_field: ...` reads them");
  UnreadKeys unlabelled;
  unlabelled.add_image("jpg");
  unlabelled.add_key({"image.jpg"});
  EXPECT_EQ(unlabelled.text(kFields, 120),
            "keys with neither image nor label; extensions seen: image.jpg")
      << "the labels of others are worth more";
}

TEST(UnreadKeys, NamesMayBeAnything) {
  EXPECT_EQ(line_about({"a\nb.jpg", "x y.cls"}),
            "keys with neither image nor label; extensions seen: \"a\\nb.jpg\", \"x y.cls\"");
  EXPECT_LT(line_about(std::vector<std::string>(9, std::string(1000, '.'))).size(), 200u);
  EXPECT_LE(line_about({"a.jpg"}, kFields, 10).size(), 60u) << "whoever shows it cuts it";
}

}  // namespace
}  // namespace brigade
