#include "pipeline/run/launch/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "base/io.h"
#include "base/owned_fd.h"

namespace brigade {
namespace {

constexpr std::uint64_t kTableBytesMax = 256 << 20;

/// Whole items of a file; fewer than asked for where it ends.
template <class T>
std::vector<T> read_items(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes > kTableBytesMax) return {};
  std::vector<T> items(bytes / sizeof(T));
  const ssize_t got = read_all_at(fd, items.data(), items.size() * sizeof(T), offset);
  items.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(T) : 0);
  return items;
}

std::vector<Elf64_Shdr> read_sections(int fd) {
  const auto headers = read_items<Elf64_Ehdr>(fd, 0, sizeof(Elf64_Ehdr));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  return read_items<Elf64_Shdr>(fd, headers[0].e_shoff,
                                std::uint64_t{headers[0].e_shnum} * sizeof(Elf64_Shdr));
}

}  // namespace

ElfSymbols ElfSymbols::read(const std::string& path) {
  ElfSymbols out;
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return out;
  const std::vector<Elf64_Shdr> sections = read_sections(fd.get());
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names = sections[section.sh_link];
    const auto bytes = read_items<char>(fd.get(), names.sh_offset, names.sh_size);
    out.names_.assign(bytes.begin(), bytes.end());
    for (const Elf64_Sym& symbol :
         read_items<Elf64_Sym>(fd.get(), section.sh_offset, section.sh_size)) {
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0;
      if (!is_function || symbol.st_name >= out.names_.size()) continue;
      out.symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, symbol.st_name});
    }
    break;  // there is one at most; another one would have other names
  }
  std::sort(out.symbols_.begin(), out.symbols_.end(),
            [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return out;
}

std::optional<ElfSymbols::Found> ElfSymbols::at(std::uint64_t address) const {
  const auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), address,
      [](std::uint64_t value, const Symbol& symbol) { return value < symbol.begin; });
  if (after == symbols_.begin() || address >= after[-1].end) return std::nullopt;
  if (after[-1].name >= names_.size()) return std::nullopt;
  const char* const name = names_.c_str() + after[-1].name;
  return Found{name, address - after[-1].begin};
}

}  // namespace brigade
