#pragma once

// Lists the samples that a run quarantined because they repeatedly ended its workers: one JSON
// object per line, with the stage, the sample's number, epoch, index and id, and its name in its
// source. Made when the first one is written, and only ever added to. One thread, DiskWriter's.

#include <set>
#include <string>
#include <utility>

#include <brigade/result.h>
#include "pipeline/worker/tasks/run_reporter.h"

namespace brigade {

class QuarantineFile {
 public:
  /// Empty: nothing is written.
  explicit QuarantineFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Writes a sample of a stage unless it has been written before. Errors name the file.
  Result<void> add(const std::string& stage, const QuarantinedSample& sample);

 private:
  std::string path_;
  std::set<std::pair<std::string, std::uint64_t>> written_;
};

/// NAME.quarantine.jsonl, in the working directory, for a graph of that name.
std::string quarantine_file_name(const std::string& graph);

}  // namespace brigade
