#include "pipeline/config/yaml/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <brigade/text.h>
#include "base/printable.h"

namespace brigade {

namespace {

constexpr std::size_t kShownColumnsMax = 100;
constexpr std::size_t kShownBefore = 60;  // columns left of the caret in a line that is cut
constexpr std::string_view kCut = "...";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

// The byte at which character number `count` begins.
std::size_t byte_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (!is_continuation(text[at]) && count-- == 0) break;
    ++at;
  }
  return at;
}

struct Shown {
  std::string line;
  std::size_t caret = 0;   // bytes before the token
  std::size_t length = 1;  // bytes of the token
};

// The part of a long line around the token.
Shown cut(std::string_view line, std::size_t caret, std::size_t length) {
  caret = std::min(caret, line.size());
  length = std::clamp<std::size_t>(length, 1, std::max<std::size_t>(line.size() - caret, 1));
  if (characters(line) <= kShownColumnsMax) return {std::string(line), caret, length};
  const std::size_t before = characters(line.substr(0, caret));
  const std::size_t first = before > kShownBefore ? byte_of(line, before - kShownBefore) : 0;
  const std::string_view rest = line.substr(first);
  const std::size_t end = byte_of(rest, kShownColumnsMax);
  Shown shown;
  if (first > 0) shown.line = kCut;
  shown.caret = shown.line.size() + caret - first;
  shown.line += rest.substr(0, end);
  shown.length = std::max<std::size_t>(1, std::min(length, shown.line.size() - shown.caret));
  if (end < rest.size()) shown.line += kCut;
  return shown;
}

// Spaces as wide as the text; tabs stay, so that the caret stands right whatever their width.
std::string blank(std::string_view text) {
  std::string out;
  for (const char byte : text)
    if (!is_continuation(byte)) out += byte == '\t' ? '\t' : ' ';
  return out;
}

void render_line(std::string& out, std::string_view line, const Span& span) {
  const auto column = static_cast<std::size_t>(std::max(span.mark.column, 1) - 1);
  const Shown shown = cut(line, column, static_cast<std::size_t>(std::max(span.length, 1)));
  const std::string_view all = shown.line;
  std::size_t end = std::min(all.size(), shown.caret + shown.length);
  while (end < all.size() && is_continuation(all[end])) ++end;
  const std::string before = printable(all.substr(0, shown.caret));
  const std::string token = printable(all.substr(shown.caret, end - shown.caret));
  const std::string after = printable(all.substr(end));
  out += concat(before, token, after, "\n", blank(before), "^",
                std::string(std::max<std::size_t>(characters(token), 1) - 1, '~'), "\n");
}

std::string place(const SourceText& source, const Diagnostic& diagnostic) {
  const ShownPlace at = shown_place(source, diagnostic);
  if (at.file.empty()) return "";
  return at.line == 0 ? concat(at.file, ": ") : concat(at.file, ":", at.line, ":", at.column, ": ");
}

std::string render_one(const SourceText& source, const Diagnostic& diagnostic) {
  const bool is_error = diagnostic.severity == Severity::error;
  std::string out = concat(printable(place(source, diagnostic)),
                           is_error ? "error: " : "warning: ", printable(diagnostic.message), "\n");
  const SourceMark& mark = diagnostic.span.mark;
  if (mark.file >= 0 && mark.line >= 1) render_line(out, source.line(mark), diagnostic.span);
  for (const std::string& line : diagnostic.help) out += concat("  ", printable(line), "\n");
  return out;
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  const SourceMark& mark = diagnostic.span.mark;
  if (mark.file >= 0 && std::find(silent_.begin(), silent_.end(), mark) != silent_.end()) return;
  for (const Diagnostic& other : list_)
    if (other.span.mark == mark && other.message == diagnostic.message) return;
  ++(diagnostic.severity == Severity::error ? errors_ : warnings_);
  if (list_.size() < kDiagnosticsMax) list_.push_back(std::move(diagnostic));
}

void Diagnostics::error(const Span& span, std::string message, std::vector<std::string> help) {
  add({Severity::error, span, std::move(message), std::move(help), ""});
}

void Diagnostics::warning(const Span& span, std::string message, std::vector<std::string> help) {
  add({Severity::warning, span, std::move(message), std::move(help), ""});
}

void Diagnostics::file_error(std::string path, std::string message) {
  add({Severity::error, {}, std::move(message), {}, std::move(path)});
}

ShownPlace shown_place(const SourceText& source, const Diagnostic& diagnostic) {
  if (!diagnostic.path.empty()) return {diagnostic.path};
  const SourceMark& mark = diagnostic.span.mark;
  if (mark.file < 0) return {};
  const SourceFile& file = source.file(mark.file);
  if (file.is_setting || mark.line < 1) return {file.name};
  const auto before = static_cast<std::size_t>(std::max(mark.column, 1) - 1);
  const std::size_t column = characters(source.line(mark).substr(0, before)) + 1;
  return {file.name, mark.line, static_cast<int>(column)};
}

std::vector<const Diagnostic*> Diagnostics::sorted() const {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& diagnostic : list_) sorted.push_back(&diagnostic);
  const auto key = [](const Diagnostic* d) {
    return std::tuple(d->span.mark.file, d->span.mark.line, d->span.mark.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return sorted;
}

std::string Diagnostics::render(const SourceText& source) const {
  std::string out;
  for (const Diagnostic* diagnostic : sorted()) out += render_one(source, *diagnostic);
  const std::size_t unseen = errors_ + warnings_ - list_.size();
  if (unseen > 0) out += concat("... and ", unseen, " more\n");
  if (errors_ > 1) out += concat(errors_, " errors\n");
  return out;
}

}  // namespace brigade
