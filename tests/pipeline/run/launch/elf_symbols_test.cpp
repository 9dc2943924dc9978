#include "pipeline/run/launch/elf_symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <fstream>
#include <iterator>

#include "tests/support/elf_file.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

[[gnu::noinline]] int not_exported(int x) { return x * 3 + 1; }

std::uint64_t address_of_it() {
  Dl_info info{};
  link_map* file = nullptr;
  const auto address = reinterpret_cast<void*>(&not_exported);
  dladdr1(address, &info, reinterpret_cast<void**>(&file), RTLD_DL_LINKMAP);
  return reinterpret_cast<std::uintptr_t>(address) - file->l_addr;
}

std::string bytes_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ElfSymbols, KnowFunctionsThatAreNotExported) {
  const ElfSymbols symbols = ElfSymbols::read("/proc/self/exe");
  const auto found = symbols.at(address_of_it());
  ASSERT_TRUE(found);
  EXPECT_NE(found->name.find("not_exported"), std::string::npos) << found->name;
  EXPECT_EQ(found->offset, 0u);
  EXPECT_EQ(symbols.at(address_of_it() + 1)->offset, 1u);
  EXPECT_FALSE(symbols.at(0).has_value());
  EXPECT_FALSE(symbols.at(~std::uint64_t{0}).has_value());
}

TEST(ElfSymbols, AreThoseOfOneTable) {
  const TemporaryFolder folder;
  const std::string far_behind = std::string(100'000, 'x') + "/first";
  for (const auto& tables : {std::vector{far_behind}, std::vector{far_behind, std::string("a")}}) {
    const ElfSymbols symbols =
        ElfSymbols::read(folder.write("tables", elf_file_with_tables(tables)));
    const auto found = symbols.at(4096 + 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "first");
    EXPECT_EQ(found->offset, 3u);
    EXPECT_FALSE(symbols.at(2 * 4096).has_value());
  }
}

TEST(ElfSymbols, OfWhatIsNoSuchFileNothingIsKnown) {
  const TemporaryFolder folder;
  const std::string whole = bytes_of_program();
  EXPECT_FALSE(ElfSymbols::read(folder.path() / "none").at(4096).has_value());
  EXPECT_FALSE(ElfSymbols::read(folder.path()).at(4096).has_value());
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{64}, whole.size() / 2})
    EXPECT_EQ(ElfSymbols::read(folder.write("cut", whole.substr(0, size))).at(address_of_it()),
              std::nullopt);
  std::string damaged = whole.substr(0, 4096);
  for (std::size_t at = 4; at < 64; ++at) {  // of its header
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)ElfSymbols::read(folder.write("damaged", damaged)).at(address_of_it());
  }
}

}  // namespace
}  // namespace brigade
