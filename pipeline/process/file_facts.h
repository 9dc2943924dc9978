#pragma once

// The window through which the configuration layer looks at the user's files: what lies at a path,
// and the first bytes of a file, unpacked when it is gzip.

#include "pipeline/config/facts_reader.h"

namespace brigade {

class FileFacts final : public FactsReader {
 public:
  PathKind kind(const std::string& path) override;
  Result<FileFact> read(const std::string& path) override;
  std::optional<PathStamp> stamp(const std::string& path) override { return stamp_of(path); }
};

}  // namespace brigade
