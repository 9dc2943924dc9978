#pragma once

// Opens the index of a source, and builds it if it is missing or
// outdated. One call at open(), by every process that needs it.
//
// With a file: all processes, of this run and others, map the same pages. The process that builds
// it holds FILE.lock (base/path_lock.h); the others wait and then find it. A file with this name
// is always complete, also after a crash. Without a file: built in private memory each time.
//
// A restarted replica uses the file as it is and does not check whether the
// data have changed, so that its numbers keep their meaning; the runtime
// compares fingerprints, in case another run has replaced the file.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/stage.h>
#include "stages/basic/mapped_file.h"
#include "stages/image/index/index_file.h"

namespace brigade {

struct IndexSource {
  IndexKind kind = IndexKind::image_folder;
  std::string file;    ///< empty: private memory
  bool again = false;  ///< OpenContext::again
  /// Whether what it was made from is still there unchanged.
  std::function<bool(const IndexFile& index)> is_current;
  /// Looks at the data: the bytes of IndexWriter::finish().
  std::function<Result<std::string>()> make;
  /// For a line when it was made; may be null.
  Reporter* reporter = nullptr;
};

class SavedIndex {
 public:
  /// Errors: those of make(); a file that is something else, which is not overwritten; one that
  /// cannot be written.
  static Result<SavedIndex> open(const IndexSource& source);

  SavedIndex() = default;
  SavedIndex(SavedIndex&&) noexcept = default;
  SavedIndex& operator=(SavedIndex&&) noexcept = default;

  const IndexFile& get() const { return index_; }

 private:
  static Result<SavedIndex> in_memory(const IndexSource& source);
  static Result<SavedIndex> map(const IndexSource& source);

  MappedFile file_;
  std::unique_ptr<const std::string> memory_;  // where it does not move
  IndexFile index_;                            // of either
};

}  // namespace brigade
