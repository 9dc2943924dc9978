#pragma once

// Types of tensors on an edge, known before anything runs: name, dtype and shape per sample (never
// with the batch dimension). Ports is what a stage reads or writes, in order. FileMetadata are file
// headers a contract asked for. Plain data, pure functions.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/export.h>
#include <brigade/path_stamp.h>
#include <brigade/tensor.h>

namespace brigade {

/// Whether memory that a device reads is pinned.
enum class Pin : std::uint8_t {
  automatic,  ///< if possible; otherwise copied from pageable memory
  yes,        ///< otherwise an error
  no
};

/// One dimension: a size, an upper bound (ragged: it differs from sample to sample), or, in an
/// input pattern only, any size.
struct Dim {
  std::int64_t size = 0;
  enum class Kind : std::uint8_t { exact, up_to, any } kind = Kind::exact;
  std::int64_t expected = 0;  ///< size of most samples, for the memory plan; not compared

  Dim(std::int64_t exact_size) : size(exact_size), expected(exact_size) {}  // NOLINT: implicit
  Dim(std::int64_t dim_size, Kind dim_kind) : size(dim_size), kind(dim_kind), expected(dim_size) {}
  friend bool operator==(const Dim& a, const Dim& b) {
    return a.size == b.size && a.kind == b.kind;
  }
};
/// At most `bound`. `expected`: the size of most samples; memory is planned for it, and returned
/// after larger samples. 0: the bound.
inline Dim up_to(std::int64_t bound, std::int64_t expected = 0) {
  Dim dim(bound, Dim::Kind::up_to);
  if (expected > 0 && expected < bound) dim.expected = expected;
  return dim;
}
inline const Dim any_size{0, Dim::Kind::any};

/// A tensor of an edge.
struct TensorType {
  std::string name;
  DType dtype = DType::u8;
  std::vector<Dim> shape;
  bool on_device = false;  ///< in device memory of its writer (`memory: device`)

  /// Has an up_to dimension.
  BRIGADE_API bool ragged() const;
  /// Sizes, upper bounds where ragged. At most kRankMax dimensions.
  BRIGADE_API Shape bounds() const;
  /// Of one sample; 2^64 - 1 if it does not fit 64 bits.
  BRIGADE_API std::uint64_t bytes_max() const;
  /// "image u8[28, 28, 1]", "box f32[<=100, 4]".
  BRIGADE_API std::string text() const;
  friend bool operator==(const TensorType& a, const TensorType& b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
           a.on_device == b.on_device;
  }
};

/// The tensors a stage reads or writes, in order, names unique.
struct Ports {
  std::vector<TensorType> tensors;

  Ports() = default;
  Ports(std::initializer_list<TensorType> list) : tensors(list) {}
  const TensorType* find(std::string_view name) const {
    for (const TensorType& tensor : tensors)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  friend bool operator==(const Ports& a, const Ports& b) { return a.tensors == b.tensors; }
};

/// What an input must match. No dtypes: any dtype. `any_rank`: any shape.
struct TensorPattern {
  std::string name;
  std::vector<DType> dtypes;
  bool any_rank = false;
  std::vector<Dim> shape;  ///< any_size fits all; up_to(n) fits sizes and bounds up to n
  std::string help;

  /// True if dtype and shape match; the caller checks the name.
  BRIGADE_API bool accepts(const TensorType& type) const;
  /// "image u8|f32[any, any, <=4]".
  BRIGADE_API std::string text() const;
};

/// The first bytes of a file (after gunzip), read before validation, and its size on disk.
struct FileHeader {
  std::string header;
  std::uint64_t file_bytes = 0;
  bool is_gzip = false;
};

inline constexpr std::size_t kMetadataBytesMax = 64 << 10;
inline constexpr std::size_t kMetadataFilesMax = 256;  ///< of one parameter

/// FileMetadata by the name of the parameter of the file; "files.image" for a map of files,
/// "files.0" for a list.
struct FileMetadata {
  std::vector<std::pair<std::string, FileHeader>> files;
  StampOf stamp;  ///< of any path; unset: not read

  /// Null if the contract does not ask for it or the file was not set.
  const FileHeader* find(std::string_view param) const {
    for (const auto& [name, file_header] : files)
      if (name == param) return &file_header;
    return nullptr;
  }
};

}  // namespace brigade
