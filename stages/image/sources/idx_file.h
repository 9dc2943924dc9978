#pragma once

// Files in the IDX format of MNIST and its kin, plain or gzipped
// (http://yann.lecun.com/exdb/mnist):
//
//   00 00 | element type, 1 byte | rank, 1 byte | rank sizes, 4 bytes each, big-endian | elements
//
// Pure functions; each error is one line that begins with the file's path.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/tensor.h>
#include <brigade/types.h>
#include "stages/basic/mapped_file.h"

namespace brigade {

struct IdxHeader {
  DType dtype = DType::u8;
  Shape shape;            ///< the number of items first
  std::size_t bytes = 0;  ///< of the header itself

  /// Of the elements; more than any file has where 64 bits do not hold it.
  std::uint64_t data_bytes() const;
};

/// Reads the header at the beginning of `head` (the file's first bytes after gunzip; 64 are
/// plenty).
Result<IdxHeader> parse_idx_header(const std::string& path, std::string_view head);

/// Whether the file can be as long as its header says; an error says what it has.
Result<void> check_idx_length(const std::string& path, const FileHeader& file,
                              const IdxHeader& header);

/// The elements of an IDX file: of a gzipped one in private memory, of another in the pages that
/// all processes share.
struct IdxData {
  IdxHeader header;
  const std::uint8_t* bytes = nullptr;  ///< in one of these
  std::unique_ptr<std::uint8_t[]> memory;
  MappedFile file;
};

/// Reads a whole file whose elements are u8. Errors: what parse_idx_header() finds, a file that is
/// missing, shorter or longer than its header says, or broken gzip data.
Result<IdxData> read_idx_file(const std::string& path);

}  // namespace brigade
