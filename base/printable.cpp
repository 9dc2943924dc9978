#include "base/printable.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int continuation_bytes(unsigned lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead <= 0xDF) return 1;
  if (lead >= 0xE0 && lead <= 0xEF) return 2;
  if (lead >= 0xF0 && lead <= 0xF4) return 3;
  return -1;
}

/// Of a well-formed sequence.
unsigned code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  unsigned point = sequence.size() == 1 ? lead : lead & (0x7Fu >> sequence.size());
  for (const char byte : sequence.substr(1))
    point = point << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
  return point;
}

/// What does something else than to be seen where it stands: controls (Cc), marks and overrides of
/// the direction of writing (Bidi_Control), separators of lines and paragraphs (Zl, Zp).
bool acts(unsigned point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C || point == 0x200E ||
         point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

void append_escaped(std::string& out, unsigned point, bool is_byte) {
  constexpr std::string_view kNamed = "\nn\tt\rr";
  for (std::size_t i = 0; !is_byte && i < kNamed.size(); i += 2)
    if (point == static_cast<unsigned char>(kNamed[i])) {
      out += concat('\\', kNamed[i + 1]);
      return;
    }
  // The longer form, where it can be, is one of JSON's, too.
  const bool is_short = is_byte || point < 0x20;
  out += is_short ? "\\x" : "\\u";
  for (int shift = is_short ? 4 : 12; shift >= 0; shift -= 4) out += kHex[point >> shift & 15];
}

/// `kept`: controls that stay; `marked`: characters that get a backslash.
std::string escaped(std::string_view text, std::string_view kept, std::string_view marked) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view sequence = text.substr(at, std::max<std::size_t>(length, 1));
    at += sequence.size();
    const unsigned point =
        length == 0 ? static_cast<unsigned char>(sequence[0]) : code_point(sequence);
    if (length == 0 || (acts(point) && kept.find(sequence[0]) == kept.npos)) {
      append_escaped(out, point, length == 0);
      continue;
    }
    if (marked.find(sequence[0]) != marked.npos) out += '\\';
    out += sequence;
  }
  return out;
}

}  // namespace

// Unicode 15, table 3-7.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const int more = continuation_bytes(byte(0));
  if (more < 0 || static_cast<std::size_t>(more) >= text.size() - at) return 0;
  const std::size_t length = static_cast<std::size_t>(more) + 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned lead = byte(0);
  const unsigned second = length >= 3 ? byte(1) : 0x80;
  const bool too_long = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool no_character = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return too_long || no_character ? 0 : length;
}

std::string printable(std::string_view text) { return escaped(text, "\t", ""); }
std::string printable_lines(std::string_view text) { return escaped(text, "\t\n", ""); }
std::string quote(std::string_view text) { return concat('"', escaped(text, "", "\"\\"), '"'); }

}  // namespace brigade
