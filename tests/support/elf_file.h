#pragma once

// A file with symbol tables, for what reads them.

#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace brigade {

/// Tables of one function each, 16 bytes long, the i-th at 4096 * (i + 1); its name is
/// what stands behind the last "/" of names[i], which is all of the table's text.
inline std::string elf_file_with_tables(const std::vector<std::string>& names) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(2 * names.size());
  header.e_shoff = sizeof header;
  std::vector<Elf64_Shdr> sections;
  std::string rest;
  const auto add = [&](Elf64_Word type, std::string_view bytes) {
    Elf64_Shdr section{};
    section.sh_type = type;
    section.sh_link = static_cast<Elf64_Word>(sections.size() + 1);
    section.sh_offset = sizeof header + header.e_shnum * sizeof section + rest.size();
    section.sh_size = bytes.size();
    sections.push_back(section);
    rest += bytes;
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names[i].rfind('/') + 1);
    symbol.st_info = STT_FUNC;
    symbol.st_value = 4096 * (i + 1);
    symbol.st_size = 16;
    add(SHT_SYMTAB, {reinterpret_cast<const char*>(&symbol), sizeof symbol});
    add(SHT_STRTAB, names[i]);
  }
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(reinterpret_cast<const char*>(sections.data()),
                     sections.size() * sizeof sections[0]) +
         rest;
}

}  // namespace brigade
