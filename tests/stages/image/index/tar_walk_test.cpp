#include "stages/image/index/tar_walk.h"

#include <gtest/gtest.h>

#include "tests/support/images/tar_files.h"

namespace brigade {
namespace {

using namespace testing_support;

/// "name@offset+size" of each member, "name!" of what is no file; then the error, if any.
std::string walk(std::string_view archive) {
  TarWalk walk(
      [archive](std::uint64_t offset, std::size_t size) -> Result<std::string_view> {
        return archive.substr(std::min<std::size_t>(offset, archive.size()), size);
      },
      archive.size());
  std::string out;
  TarMember member;
  for (;;) {
    const auto more = walk.next(member);
    if (!more) return out + more.error().message;
    if (!*more) return out;
    out += std::string(member.name) + (member.is_file ? "@" + std::to_string(member.offset) + "+" +
                                                            std::to_string(member.size) + " "
                                                      : "! ");
  }
}

TEST(TarWalk, GivesThePlacesOfMembers) {
  EXPECT_EQ(walk(tar_member("a/1.jpg", std::string(513, 'x')) + tar_member("./b", "yy") +
                 tar_member("c", "") + tar_end()),
            "a/1.jpg@512+513 ./b@2048+2 c@3072+0 ");
  EXPECT_EQ(walk(tar_end()), "");
}

TEST(TarWalk, LinksAndFoldersAreNoFiles) {
  std::string archive;
  for (const char type : {'1', '2', '3', '4', '5', '6'})
    archive += tar_member(std::string(1, type), "", {.type = type, .size = "00000001000"});
  archive += tar_member("v7", "x", {.type = '\0', .magic = std::string(8, '\0')});
  archive += tar_member("folder/", "", {.type = '\0', .magic = std::string(8, '\0')});
  archive += tar_member("contiguous", "x", {.type = '7'});
  archive += tar_member("unknown", "xyz", {.type = 'Z'}) + tar_member("last", "z") + tar_end();
  EXPECT_EQ(walk(archive),
            "1! 2! 3! 4! 5! 6! v7@3584+1 folder/! contiguous@5120+1 unknown! last@7168+1 ");
}

TEST(TarWalk, LongNamesOfEveryKind) {
  const std::string name = std::string(150, 'd') + "/" + std::string(90, 'n');
  EXPECT_EQ(
      walk(tar_member(std::string(90, 'n'), "x", {.prefix = std::string(150, 'd')}) + tar_end()),
      name + "@512+1 ");
  // GNU tar has times where POSIX has the prefix.
  EXPECT_EQ(walk(tar_member("n", "x", {.magic = std::string("ustar  \0", 8), .prefix = "123"}) +
                 tar_end()),
            "n@512+1 ");
  EXPECT_EQ(walk(tar_member("././@LongLink", name + '\0', {.type = 'L'}) +
                 tar_member(name.substr(0, 100), "x") + tar_member("next", "y") + tar_end()),
            name + "@1536+1 next@2560+1 ");
  EXPECT_EQ(
      walk(tar_member("././@LongLink", "target", {.type = 'K'}) + tar_member("n", "x") + tar_end()),
      "n@1536+1 ");
  EXPECT_EQ(
      walk(tar_member("g", pax_record("path", "no"), {.type = 'g'}) +
           tar_member("pax", pax_record("mtime", "1.5") + pax_record("path", name), {.type = 'x'}) +
           tar_member("short", "x") + tar_member("next", "y") + tar_end()),
      name + "@2560+1 next@3584+1 ");
}

TEST(TarWalk, ExtendedHeadersOfSolaris) {
  EXPECT_EQ(
      walk(tar_member("X", pax_record("path", "long") + pax_record("size", "3"), {.type = 'X'}) +
           tar_member("short", "abc", {.size = "00000000000"}) + tar_member("m", "") + tar_end()),
      "long@1536+3 m@2560+0 ");
}

TEST(TarWalk, SizesOfEveryKind) {
  EXPECT_EQ(walk(tar_member("p", pax_record("size", "3"), {.type = 'x'}) +
                 tar_member("n", "abc", {.size = "00000000000"}) + tar_member("m", "") + tar_end()),
            "n@1536+3 m@2560+0 ");
  const std::string binary = std::string("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12);
  EXPECT_EQ(walk(tar_member("n", "abc", {.size = binary}) + tar_end()), "n@512+3 ");
  EXPECT_EQ(walk(tar_member("n", "abc", {.size = "         3 "}) + tar_end()), "n@512+3 ");
  EXPECT_EQ(walk(tar_member("n", "abc", {.size = "12345678901"}) + tar_end()),
            "is damaged: the header at byte 0 has no size");
  for (const std::string& huge :
       {std::string(12, '\xff'), std::string("\x80\x01") + std::string(10, '\0')})
    EXPECT_EQ(walk(tar_member("n", "abc", {.size = huge}) + tar_end()),
              "is damaged: the header at byte 0 has no size");
  const std::string large = std::string("\x80\0\0\0\0\x7f\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_EQ(walk(tar_member("n", "abc", {.size = large}) + tar_end()),
            "ends in the middle of \"n\"; is the download complete?");
}

TEST(TarWalk, WhatIsCompressedIsNamed) {
  const auto error = [](std::string_view start) {
    return walk(std::string(start) + std::string(1000, 'x'));
  };
  const auto how = [](const char* name, const char* command) {
    return std::string("is compressed (") + name +
           "), so nothing in it can be addressed; unpack it once (`" + command +
           "), and name the .tar";
  };
  EXPECT_EQ(error("\x1f\x8b"), how("gzip", "gzip -dk FILE`"));
  EXPECT_EQ(error("\x28\xb5\x2f\xfd"), how("zstd", "zstd -d FILE`"));
  EXPECT_EQ(error("\xfd"
                  "7zXZ"),
            how("xz", "xz -dk FILE`"));
  EXPECT_EQ(error("BZh9"), how("bzip2", "bzip2 -dk FILE`"));
  EXPECT_EQ(error("PK\x03\x04"),
            how("zip", "unzip FILE`, and pack the files with `tar --sort=name`"));
  EXPECT_EQ(walk("\x1f\x8b short"), how("gzip", "gzip -dk FILE`"));
  EXPECT_EQ(error("text"), "is no tar archive");
}

TEST(TarWalk, WhatIsCutOrDamagedIsSaid) {
  const std::string archive = tar_member("a", std::string(600, 'x')) + tar_member("b", "y");
  EXPECT_EQ(walk(""), "is empty, which not even an archive of nothing is");
  EXPECT_EQ(walk(archive),
            "a@512+600 b@2048+1 ends without the empty block that ends an archive; "
            "is the download complete?");
  EXPECT_EQ(walk(archive.substr(0, 1000)),
            "ends in the middle of \"a\"; is the download complete?");
  EXPECT_EQ(walk(archive.substr(0, 1700)),
            "a@512+600 ends in the middle of the header at byte 1536; is the download complete?");
  EXPECT_EQ(walk(archive.substr(0, 1200)),
            "a@512+600 ends without the empty block that ends an archive; is the download "
            "complete?");
  std::string changed = archive;
  changed[1536] = 'z';
  EXPECT_EQ(walk(changed), "a@512+600 is damaged: the header at byte 1536 has a wrong checksum");
  for (const char* records : {"x", "5 a=b", "100 a=b\n", "4 a\n", "3 \n", "11 size=-1\n"})
    EXPECT_EQ(walk(tar_member("p", records, {.type = 'x'}) + tar_member("n", "") + tar_end()),
              "is damaged: the header at byte 0 has broken pax records")
        << records;
  EXPECT_EQ(walk(tar_member("p", "", {.type = 'x', .size = "00010000000"}) + tar_end()),
            "is damaged: the header at byte 0 has an extension of more than 1 MiB");
  EXPECT_EQ(walk(tar_member("p", "", {.type = 'L', .size = "00000004000"}) + tar_end()),
            "ends in the middle of the header at byte 0; is the download complete?");
}

TEST(TarWalk, ArchivesBehindEachOtherAreOne) {
  const std::string first = tar_member("a", "x") + tar_end();
  const std::string padded = first + std::string(20 * 512, '\0');  // GNU tar fills its records
  EXPECT_EQ(walk(padded), "a@512+1 ");
  EXPECT_EQ(walk(padded + tar_member("b", "y") + tar_end()), "a@512+1 b@12800+1 ");
  EXPECT_EQ(walk(tar_member("a", "x") + std::string(512, '\0') + tar_member("b", "y") + tar_end()),
            "a@512+1 b@2048+1 ")
      << "one empty block is no end";
  EXPECT_EQ(walk(first + tar_member("b", "y")),
            "a@512+1 b@2560+1 ends without the empty block that ends an archive; is the download "
            "complete?");
  EXPECT_EQ(walk(first + std::string(512, 'x')),
            "a@512+1 ends at byte 1024, and goes on at byte 2048 with what is no archive; cut it "
            "off (`truncate -s 2048`)");
  EXPECT_EQ(walk(first + "odd"),
            "a@512+1 ends in the middle of the header at byte 2048; is the download complete?");
}

TEST(TarWalk, SparseMembersAreRefused) {
  const std::string error =
      "has \"n\" as a sparse member, whose bytes do not lie side by side; pack it without --sparse";
  EXPECT_EQ(walk(tar_member("n", "", {.type = 'S'}) + tar_end()), error);
  EXPECT_EQ(walk(tar_member("p", pax_record("GNU.sparse.major", "1"), {.type = 'x'}) +
                 tar_member("n", "") + tar_end()),
            error);
}

}  // namespace
}  // namespace brigade
