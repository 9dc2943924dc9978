#include "stages/image/index/unread_keys.h"

#include <gtest/gtest.h>

#include <brigade/text.h>

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

TEST(UnreadKeys, OfManyKindsThoseThatAreNotLookedAtMayBeReadToo) {
  UnreadKeys keys;
  for (int i = 0; i < 9; ++i) keys.add_key({"image.jpg", "label.cls", concat("part", i)});
  EXPECT_NE(keys.text(kFields, 400).find("`label: label.cls` reads at least 8 of them"),
            std::string::npos)
      << keys.text(kFields, 400);
}

TEST(UnreadKeys, OnlyWhatHelpsIsSuggestedAndTheRestIsNamed) {
  UnreadKeys keys;
  keys.add_image("jpg");
  keys.add_key({"image.jpg", "label.cls"});
  keys.add_key({"y.txt"});
  EXPECT_EQ(keys.text(kFields, 400),
            "keys with neither image nor label; extensions seen: image.jpg, label.cls, y.txt; "
            "`image: [jpg, image.jpg]`, `label: cls;label.cls` reads 1 of them");
  EXPECT_EQ(keys.text(kFields, 120),
            "keys with neither image nor label; `image: [jpg, image.jpg]`, `label: cls;label.cls` "
            "reads 1 of them; also seen: y.txt");
  UnreadKeys another;
  another.add_key({"y.txt", "and.a.longer.one.txt"});
  keys.add(another);
  EXPECT_EQ(keys.text(kFields, 120),
            "keys with neither image nor label; extensions seen: image.jpg, label.cls, y.txt, "
            "and.a.longer.one.txt")
      << "what is there comes before what reads some of it";
  UnreadKeys apart;
  apart.add_key({"image.jpg"});
  apart.add_key({"label.cls"});
  EXPECT_EQ(apart.text(kFields, 400),
            "keys with neither image nor label; extensions seen: image.jpg, label.cls")
      << "no key has both";
  UnreadKeys many;
  many.add_key({"a", "b", "c", "d", "e", "f"});
  EXPECT_EQ(many.text(kFields, 400),
            "keys with neither image nor label; extensions seen: a, b, c, d, ...");
}

TEST(UnreadKeys, MembersOfSamplesAreNamedOnce) {
  UnreadKeys keys;
  EXPECT_EQ(keys.members_text(), "");
  keys.add_members({"json", "txt"});
  UnreadKeys of_another;
  of_another.add_members({"txt", "seg.png"});
  keys.add(of_another);
  EXPECT_EQ(
      keys.members_text(),
      "reads no .json, .txt, .seg.png of its keys; `extra: [json, txt, seg.png]` gives bytes");
  keys.add_members({"a", "b"});
  EXPECT_EQ(keys.members_text(),
            "reads no .json, .txt, .seg.png, .a, ... of its keys; `extra: [json, txt, seg.png, a]` "
            "gives bytes");
  UnreadKeys odd;
  odd.add_members({"x\ny"});
  EXPECT_EQ(odd.members_text(), "reads no \"x\\ny\" of its keys");
}

TEST(UnreadKeys, NamesMayBeAnything) {
  EXPECT_EQ(line_about({"a\nb.jpg", "x y.cls"}),
            "keys with neither image nor label; extensions seen: \"a\\nb.jpg\", \"x y.cls\"");
  EXPECT_LT(line_about(std::vector<std::string>(9, std::string(1000, '.'))).size(), 200u);
  EXPECT_LE(line_about({"a.jpg"}, kFields, 10).size(), 60u) << "whoever shows it cuts it";
}

}  // namespace
}  // namespace brigade
