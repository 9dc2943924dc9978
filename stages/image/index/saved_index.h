#pragma once

// Opens the index of a source, and makes it where there is none or it holds no longer. One call at
// open(), by every process that needs it.
//
// With a file: all processes, of this run and others, map the same pages. Who makes it holds
// FILE.lock (base/path_lock.h); the others wait and then find it. Whoever sees the name sees all of
// it, also after a crash. Without a file: made in private memory each time.
//
// A replica that is started again takes the file as it is and does not ask whether the data have
// changed meanwhile, so that its numbers mean what they meant before; the runtime compares
// fingerprints, should the file have been replaced by another run.

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
