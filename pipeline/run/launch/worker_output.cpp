#include "pipeline/run/launch/worker_output.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include <brigade/text.h>
#include "pipeline/worker/crash_handler.h"

namespace brigade {
namespace {

constexpr std::size_t kBacktraceLinesMax = 64;  // of one; what has more is shown as it comes
constexpr std::size_t kShownMax = 64;           // that are kept, to be known again
constexpr std::size_t kFilesMax = 16;           // whose symbols are kept
constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";

std::string with_written_name(std::string line) {
  const std::size_t name = line.find("(_Z", kBacktracePrefix.size());
  if (name == line.npos) return line;
  const std::size_t start = name + 1;
  const std::size_t end = std::min(line.find_first_not_of(kNameCharacters, start), line.size());
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(line.substr(start, end - start).c_str(), nullptr, nullptr, &status),
      std::free);
  return status == 0 ? line.replace(start, end - start, text.get()) : line;
}

}  // namespace

std::vector<std::string> LineSplitter::add(std::string_view bytes) {
  std::vector<std::string> lines;
  for (char byte : bytes) {
    if (byte == '\n') {
      end_line(lines);
      continue;
    }
    if (!line_.empty() && line_.back() == '\r') line_.clear();
    line_ += byte;
    if (line_.size() >= kOutputLineBytesMax) end_line(lines);
  }
  return lines;
}

void LineSplitter::end_line(std::vector<std::string>& lines) { lines.push_back(rest()); }

std::string LineSplitter::rest() {
  std::string line = std::exchange(line_, {});
  while (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::string Backtraces::with_symbol(std::string line, bool is_exact) {
  const std::size_t start = kBacktracePrefix.size();
  const std::size_t open = line.find("(+0x", start);
  const std::size_t close = line.find(')', std::min(open, line.size()));
  if (line[start] != '/' || close == line.npos) return line;
  std::uint64_t address = 0;
  const char* const end = line.data() + close;
  const auto parsed = std::from_chars(line.data() + open + 4, end, address, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end || address == 0) return line;
  const std::string file = line.substr(start, open - start);
  if (files_.size() == kFilesMax && files_.count(file) == 0) files_.clear();
  const auto [symbols, added] = files_.try_emplace(file);
  if (added) symbols->second = ElfSymbols::read(file);
  // Where a call returns to may be behind the function that made it.
  std::optional<ElfSymbols::Found> found;
  if (!is_exact) found = symbols->second.at(address - 1);
  if (found)
    ++found->offset;
  else
    found = symbols->second.at(address);
  if (!found) return line;
  char digits[17];
  const auto number = std::to_chars(digits, digits + sizeof digits, found->offset, 16);
  return line.replace(open + 1, close - open - 1,
                      concat(found->name, "+0x", std::string_view(digits, number.ptr)));
}

std::string Backtraces::readable(std::string line, bool is_exact) {
  if (!line.starts_with(kBacktracePrefix) || line.size() == kBacktracePrefix.size()) return line;
  return with_written_name(with_symbol(std::move(line), is_exact));
}

std::vector<std::string> Backtraces::add(int worker, std::string line) {
  if (line.starts_with(kBacktracePrefix) && open_[worker].size() < kBacktraceLinesMax) {
    open_[worker].push_back(std::move(line));
    return {};
  }
  std::vector<std::string> all = end(worker);
  all.push_back(readable(std::move(line)));
  return all;
}

std::vector<std::string> Backtraces::end(int worker) {
  std::vector<std::string> lines = std::exchange(open_[worker], {});
  if (lines.empty()) return lines;
  std::string place = join(lines, "\n");
  if (shown_.count(place) != 0)
    return {concat(kBacktracePrefix, "the same as above (", lines.size(), " lines)")};
  if (shown_.size() < kShownMax) shown_.insert(std::move(place));
  // The first is what the kernel calls a handler from; the second, what the signal has stopped.
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = readable(std::move(lines[i]), i == 1);
  return lines;
}

}  // namespace brigade
