#include "pipeline/stats/source_book.h"

#include <algorithm>

#include "base/text.h"

namespace brigade {
namespace {

std::uint64_t all_left_out(const SourceBook& book) {
  std::uint64_t sum = 0;
  for (const LeftOut& left_out : book.left_out) sum += left_out.count;
  return sum;
}

}  // namespace

std::optional<std::uint64_t> found_by(const SourceBook& book) {
  if (!book.gives) return std::nullopt;
  return *book.gives + all_left_out(book);
}

std::string source_text(const SourceBook& book) {
  if (!book.gives) return concat("source ", book.name, ": a stream");
  std::vector<std::string> reasons;
  for (const LeftOut& left_out : book.left_out)
    reasons.push_back(concat(format_count(left_out.count), " ", left_out.text));
  return concat("source ", book.name, ": found ", format_count(*found_by(book)), ", gives ",
                format_count(*book.gives), ", left out ", format_count(all_left_out(book)),
                reasons.empty() ? "" : ": ", join(reasons, ", "));
}

bool is_surprising(const SourceBook& book) {
  return std::any_of(book.left_out.begin(), book.left_out.end(),
                     [](const LeftOut& left_out) { return is_surprising(left_out.why); });
}

}  // namespace brigade
