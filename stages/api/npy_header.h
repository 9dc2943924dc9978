#pragma once

// The header of NumPy's file format .npy, versions 1 to 3
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//   93 'NUMPY' | major, minor | header length, 2 bytes (version 1) or 4, little-endian | header
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }  padded by spaces to '\n'
//
// Pure functions; each error is one line with the file's path and what to do.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/tensor.h>

namespace brigade {

struct NpyHeader {
  DType dtype = DType::u8;
  Shape shape;                   ///< the whole array, at least one dimension, none of them 0
  std::size_t bytes = 0;         ///< of the header: where the elements begin
  std::size_t sample_bytes = 0;  ///< of one sample; all samples together fit 64 bits

  // Of an array that is converted as it is read.
  std::size_t element_bytes = 0;  ///< of an element in the file
  bool is_unsigned = false;       ///< elements are uint16 to uint64, and dtype is a signed one
  bool is_big_endian = false;
  bool is_fortran = false;  ///< the first dimension's elements lie beside each other

  bool is_converted() const { return is_unsigned || is_big_endian || is_fortran; }
  std::size_t file_bytes() const {
    return sample_bytes / dtype_bytes(dtype) * element_bytes * static_cast<std::size_t>(shape[0]);
  }
};

/// Reads the header at the beginning of `head`. Arrays that cannot be read as they lie there (of
/// objects, texts or records, big-endian, in Fortran order) are errors.
Result<NpyHeader> parse_npy_header(const std::string& path, std::string_view head);

/// Also arrays of unsigned numbers (uint16 as i32, uint32 and uint64 as i64), big-endian and in
/// Fortran order. `said`: the dtype of elements that NumPy does not know (V2: bf16 of ml_dtypes).
Result<NpyHeader> parse_npy_header_to_convert(const std::string& path, std::string_view head,
                                              std::optional<DType> said);

/// What a file with such an array begins with; nothing where NumPy has no such numbers (bf16).
std::optional<std::string> print_npy_header(DType dtype, const Shape& shape);

}  // namespace brigade
