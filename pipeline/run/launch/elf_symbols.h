#pragma once

// The functions of a program or a shared library (ELF, 64 bits), by its
// symbol table, which also has names that are not exported. The file
// may be malformed: nothing outside of it is read. Any thread may read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brigade {

class ElfSymbols {
 public:
  struct Found {
    std::string name;          ///< as the linker knows it
    std::uint64_t offset = 0;  ///< of the address behind the function's beginning
  };

  ElfSymbols() = default;
  /// Without a symbol in a file that has no table (`strip`), or is no such file.
  static ElfSymbols read(const std::string& path);

  /// `address`: as the file has it, which for a shared library is the offset from where it lies.
  std::optional<Found> at(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t name;  // where it begins among the names
  };

  std::vector<Symbol> symbols_;  // by their beginnings
  std::string names_;
};

}  // namespace brigade
