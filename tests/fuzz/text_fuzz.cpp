// Bytes as foreign text: what is made of it is UTF-8 on one line in which nothing acts, doing it
// again changes nothing, and what was quoted can be read back.

#include <string>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/printable.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

// By bytes, where the product decodes: a second opinion.
bool acts(std::string_view text, bool lines) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view at = text.substr(i);
    const auto byte = static_cast<unsigned char>(at[0]);
    const auto next = static_cast<unsigned char>(at.size() > 1 ? at[1] : 0);
    const auto last = static_cast<unsigned char>(at.size() > 2 ? at[2] : 0);
    if ((byte < 0x20 && byte != '\t' && !(lines && byte == '\n')) || byte == 0x7f) return true;
    if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) return true;
    if (byte == 0xd8 && next == 0x9c) return true;
    if (byte != 0xe2 || (next != 0x80 && next != 0x81)) continue;
    if (next == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae)))
      return true;
    if (next == 0x81 && last >= 0xa6 && last <= 0xa9) return true;
  }
  return false;
}

void check_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    BRIGADE_CHECK(length > 0, at);
    at += length;
  }
  BRIGADE_CHECK(at == text.size());
}

unsigned hex_at(std::string_view text, std::size_t digits) {
  unsigned value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(text.at(i));
    BRIGADE_CHECK(digit != std::string_view::npos, text);
    value = value << 4 | static_cast<unsigned>(digit);
  }
  return value;
}

std::string unquote(std::string_view text) {
  BRIGADE_CHECK(text.size() >= 2 && text.front() == '"' && text.back() == '"');
  text = text.substr(1, text.size() - 2);
  std::string out;
  while (!text.empty()) {
    const char first = text[0];
    BRIGADE_CHECK(first != '"', "a quote that is not escaped");
    const char kind = first == '\\' ? text.at(1) : ' ';
    const std::size_t used = first != '\\' ? 1 : kind == 'x' ? 4 : kind == 'u' ? 6 : 2;
    if (first != '\\')
      out += first;
    else if (kind == 'x')
      out += static_cast<char>(hex_at(text.substr(2), 2));
    else if (kind == 'n')
      out += '\n';
    else if (kind == 't')
      out += '\t';
    else if (kind == 'r')
      out += '\r';
    else if (kind != 'u')
      out += kind;
    else {
      const unsigned point = hex_at(text.substr(2), 4);
      if (point >= 0x800) out += static_cast<char>(0xe0 | point >> 12);
      if (point >= 0x800)
        out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
      else if (point >= 0x80)
        out += static_cast<char>(0xc0 | point >> 6);
      out += static_cast<char>(point < 0x80 ? point : 0x80 | (point & 0x3f));
    }
    text.remove_prefix(used);
  }
  return out;
}

}  // namespace

void fuzz(std::string_view text) {
  const std::string line = printable(text);
  check_utf8(line);
  BRIGADE_CHECK(!acts(line, false), line);
  BRIGADE_CHECK(printable(line) == line, line);
  const std::string lines = printable_lines(text);
  check_utf8(lines);
  BRIGADE_CHECK(!acts(lines, true), lines);
  const std::string quoted = quote(text);
  BRIGADE_CHECK(!acts(quoted, false) && printable(quoted) == quoted, quoted);
  BRIGADE_CHECK(unquote(quoted) == text, quoted);
}

}  // namespace brigade
