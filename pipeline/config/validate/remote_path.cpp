#include "pipeline/config/validate/remote_path.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {

std::optional<std::string> help_of_remote(std::string_view text) {
  if (text.starts_with("pipe:"))
    return "write the output of the command to files (`COMMAND > train-000.tar`), and name those "
           "files";
  const std::size_t end = text.find("://");
  const auto is_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+';
  };
  if (end == text.npos || end == 0 || !std::all_of(text.begin(), text.begin() + end, is_scheme))
    return std::nullopt;
  const std::string_view scheme = text.substr(0, end);
  if (scheme == "file") return "write the path alone, without file://";
  const std::string_view copy = scheme == "s3"                          ? "aws s3 cp"
                                : scheme == "gs"                        ? "gcloud storage cp"
                                : scheme == "http" || scheme == "https" ? "curl -fO"
                                                                        : "";
  return concat("copy the files first", copy.empty() ? "" : concat(" (`", copy, "`)"),
                " or mount their storage, and write the path");
}

}  // namespace brigade
