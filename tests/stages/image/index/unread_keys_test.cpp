// What tests/golden/stages/tar_shards.txt does not show.

#include "stages/image/index/unread_keys.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

const TarFields kFields{{"jpg", "png"}, {"cls"}, "", {}};

std::string line_about(const std::vector<std::string>& members, std::size_t bytes_max = 400) {
  UnreadKeys keys;
  keys.add_key(members);
  return keys.text(kFields, bytes_max);
}

TEST(UnreadKeys, OfSeveralArchivesAreAddedUp) {
  UnreadKeys keys, of_another;
  keys.add_key({"image.jpg", "label.cls"});
  of_another.add_key({"y.txt"});
  keys.add(of_another);
  EXPECT_EQ(keys.count, 2u);
  EXPECT_NE(keys.text(kFields, 400).find("extensions found: image.jpg, label.cls, y.txt;"),
            std::string::npos);
}

TEST(UnreadKeys, WithoutMembersNothingIsSaidOfThem) {
  UnreadKeys keys;
  EXPECT_EQ(keys.members_text(), "");
  keys.add_members({"x\ny"});
  EXPECT_EQ(keys.members_text(), "ignores the members \"x\\ny\" of its keys");
}

TEST(UnreadKeys, NamesMayBeAnything) {
  EXPECT_LT(line_about(std::vector<std::string>(9, std::string(1000, '.'))).size(), 200u);
  EXPECT_LE(line_about({"a.jpg"}, 10).size(), 60u) << "whoever shows it cuts it";
}

}  // namespace
}  // namespace brigade
