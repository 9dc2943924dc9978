#pragma once

// Patterns for many file names, as in sharded datasets:
//
//   train-{000..146}.tar    147 files; as many digits as the first number has
//   part-{a,b}.bin          two files
//   train-*.tar             what is there: `*`, `?` and `[...]` as in a shell, sorted bytewise
//
// Braces are text (expanding them needs no disk), the others
// are searched in a file system. Plain functions, any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/export.h>
#include <brigade/result.h>
#include "stages/api/folder_names.h"

namespace brigade {

inline constexpr std::size_t kPatternFilesMax = 1'000'000;

/// The names that the braces of a pattern stand for, in the order written; the pattern itself where
/// it has none. Errors: a brace that is not closed, that holds neither a range nor a list, or more
/// than kPatternFilesMax names.
BRIGADE_API Result<std::vector<std::string>> expand_braces(std::string_view pattern);

/// The same of several, one after the other.
BRIGADE_API Result<std::vector<std::string>> expand_all_braces(
    const std::vector<std::string>& patterns);

/// Whether a name has `*`, `?` or `[`, which stand for what is there.
BRIGADE_API bool is_wildcard(std::string_view name);

/// A pattern of wildcards that stands for this path alone. Braces have no such form.
BRIGADE_API std::string literal_wildcard(std::string_view path);

/// The folder above the first part of a path that has a wildcard: "/data/a" of "/data/a/x-*/b".
BRIGADE_API std::string folder_of_wildcard(std::string_view path);

/// Whether there is anything that an absolute path with wildcards stands for; nothing where a look
/// at kFolderNamesMax names of each of a few folders does not tell.
BRIGADE_API std::optional<bool> matches_any(const std::string& pattern, const ListFolder& list);

/// All files that the patterns stand for, in the order of the patterns. Errors: those of the
/// braces, a wildcard that nothing matches. Names without a wildcard are not looked for.
BRIGADE_API Result<std::vector<std::string>> list_files(const std::vector<std::string>& patterns);

}  // namespace brigade
