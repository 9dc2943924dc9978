#pragma once

// Tar archives for tests, byte by byte: headers of every kind, also such as no program writes.

#include <cstdio>
#include <string>
#include <string_view>

namespace brigade::testing_support {

struct TarHeader {
  char type = '0';
  std::string magic = std::string("ustar\00000", 8);  ///< or GNU's "ustar  \0", or zeros
  std::string prefix = {};
  std::string size = {};  ///< the field as it stands there; empty: octal digits of the data's size
};

/// A header and data, filled up to whole blocks.
inline std::string tar_member(std::string_view name, std::string_view data,
                              const TarHeader& options = {}) {
  std::string block(512, '\0');
  const auto put = [&block](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  const auto octal = [](std::size_t number, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t i = digits; i > 0 && number > 0; number /= 8)
      text[--i] = static_cast<char>('0' + number % 8);
    return text;
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, options.size.empty() ? octal(data.size(), 11) : options.size);
  put(136, "00000000000");
  block[156] = options.type;
  put(257, options.magic);
  put(345, options.prefix);
  put(148, "        ");
  std::size_t sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  block += data;
  block.resize((block.size() + 511) / 512 * 512);
  return block;
}

inline std::string tar_end() { return std::string(1024, '\0'); }

/// A pax record: its length counts itself.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length)
    length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

}  // namespace brigade::testing_support
