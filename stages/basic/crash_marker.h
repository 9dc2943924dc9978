#pragma once

// Records which samples have already crashed, so that the record outlives the crashed process:
// a small file with one sample id per line. All replicas of a stage share it; only one replica
// at a time processes a sample, so no replica reads an id while another writes it.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace brigade {

class CrashMarker {
 public:
  explicit CrashMarker(std::string path) : path_(std::move(path)) {}

  /// A file in the temporary directory that belongs to this stage and this run. It is named after
  /// the parent process (the supervisor, which outlives its workers), by a hash of what no other
  /// user can read of it, so that nobody can have planted it.
  static std::string path_of_run(std::string_view stage);

  bool has(std::uint64_t sample_id) const;
  /// Call before crashing. An error when the file cannot be written: crashing would then repeat.
  Result<void> add(std::uint64_t sample_id);
  void remove();

 private:
  std::string path_;
};

}  // namespace brigade
