#include "pipeline/config/yaml/source_text.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/printable.h"
#include "base/units.h"

namespace brigade {
namespace {

constexpr std::size_t kBinaryLookBytes = 1024;

Error system_error() {
  if (errno == ENOENT) return {"no such file"};
  return error_of_errno("cannot be read");
}

Result<void> check_kind(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return Error{"is a folder; name the YAML file in it"};
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
    return Error{"is a pipe; write the YAML to a file, so that messages can show its lines"};
  if (!S_ISREG(status.st_mode)) return Error{"is a device, expected a YAML file"};
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > kSourceBytesMax)
    return Error{concat("has ", format_size(bytes), ", a graph file may have ",
                        format_size(kSourceBytesMax), "; is this the right file?")};
  return {};
}

bool is_control(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
}

std::string line_of(std::string_view bytes, std::size_t at) {
  return concat("line ",
                1 + std::count(bytes.begin(), bytes.begin() + static_cast<long>(at), '\n'));
}

bool starts_like_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

// Many bytes that no text has: a picture, an archive, a program.
bool looks_binary(std::string_view bytes) {
  bytes = bytes.substr(0, kBinaryLookBytes);
  const auto odd = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_control));
  return bytes.size() >= 16 && odd > bytes.size() / 16;
}

}  // namespace

int SourceText::add(SourceFile file) {
  Entry entry{std::move(file), {0}};
  const std::string& text = entry.file.text;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') entry.starts.push_back(i + 1);
  files_.push_back(std::move(entry));
  return count() - 1;
}

const SourceFile& SourceText::file(int number) const {
  BRIGADE_CHECK(number >= 0 && number < count(), number);
  return files_[static_cast<std::size_t>(number)].file;
}

int SourceText::lines(int number) const {
  BRIGADE_CHECK(number >= 0 && number < count(), number);
  return static_cast<int>(files_[static_cast<std::size_t>(number)].starts.size());
}

std::string_view SourceText::line(const SourceMark& mark) const {
  if (mark.file < 0 || mark.file >= count() || mark.line < 1) return {};
  const Entry& entry = files_[static_cast<std::size_t>(mark.file)];
  const auto index = static_cast<std::size_t>(mark.line - 1);
  if (index >= entry.starts.size()) return {};
  std::string_view rest = std::string_view(entry.file.text).substr(entry.starts[index]);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

Result<std::string> check_source(std::string bytes) {
  if (bytes.size() > kSourceBytesMax)
    return Error{concat("has more than ", format_size(kSourceBytesMax),
                        ", which is what a graph file may have; is this the right file?")};
  if (starts_like_utf16(bytes)) return Error{"is UTF-16, expected UTF-8; save it as UTF-8"};
  if (looks_binary(bytes)) return Error{"is a binary file, expected YAML; is this the right file?"};
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  if (trim(bytes).empty()) return Error{"is empty; `brigade init` writes a graph to start from"};
  for (std::size_t i = 0; i < bytes.size();) {
    if (bytes[i] == '\r' && !std::string_view(bytes).substr(i).starts_with("\r\n"))
      return Error{concat(line_of(bytes, i),
                          " ends in a carriage return alone; save it with LF or CRLF line ends")};
    if (is_control(bytes[i]))
      return Error{concat("is not text: ", line_of(bytes, i), " has a control character (byte ",
                          static_cast<int>(static_cast<unsigned char>(bytes[i])),
                          "); is this the YAML file?")};
    const std::size_t length = utf8_length(bytes, i);
    if (length == 0)
      return Error{concat("is not UTF-8: ", line_of(bytes, i), " has the byte ",
                          static_cast<int>(static_cast<unsigned char>(bytes[i])),
                          " where no character can begin; save it as UTF-8")};
    i += length;
  }
  return bytes;
}

Result<std::string> read_source(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes to must not hang.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return system_error();
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error();
  BRIGADE_TRY(check_kind(status));
  auto bytes = read_start(file.get(), kSourceBytesMax + 1);
  if (!bytes) return system_error();
  return check_source(*std::move(bytes));
}

}  // namespace brigade
