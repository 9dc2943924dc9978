#include "stages/api/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kShortPrefix = 10;  // magic, version and a length of 2 bytes
constexpr std::size_t kLongPrefix = 12;   // and one of 4
constexpr std::size_t kBytesMax = std::size_t{1} << 60;

Error wrong(const std::string& path, std::string_view what) {
  return Error{concat(path, ": ", what)};
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

/// Reads the few literals of Python that NumPy writes into headers.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  bool take(char character) {
    skip_spaces();
    if (!rest_.starts_with(character)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> text() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return std::nullopt;
    return cut(1, end);
  }
  /// True, False, a number.
  std::string_view word() {
    skip_spaces();
    const std::size_t end = rest_.find_first_of(",:()[]{} \t\n");
    return cut(0, end == rest_.npos ? rest_.size() : end, 0);
  }
  /// From here to the bracket that closes the one here.
  void skip_brackets() {
    int depth = 0;
    std::size_t at = 0;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
      if (depth == 0) break;
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
  }
  bool at(char character) {
    skip_spaces();
    return rest_.starts_with(character);
  }

 private:
  void skip_spaces() {
    const std::size_t begin = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(begin == rest_.npos ? rest_.size() : begin);
  }
  std::string_view cut(std::size_t begin, std::size_t end, std::size_t after = 1) {
    const std::string_view out = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end + after);
    return out;
  }

  std::string_view rest_;
};

struct Fields {
  std::string descr;  ///< empty: records
  bool fortran_order = false;
  bool has_shape = false;
  Shape shape;
};

/// False where the text is no shape of non-negative sizes.
Result<bool> read_shape(const std::string& path, Literals& in, Shape& shape) {
  if (!in.take('(')) return false;
  while (!in.take(')')) {
    const std::string_view word = in.word();
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc{} || end != word.data() + word.size() || size < 0) return false;
    if (shape.rank() == kRankMax)
      return wrong(path, concat("has more than ", kRankMax, " dimensions, the limit"));
    shape.push_back(size);
    in.take(',');
  }
  return true;
}

/// Nothing where the text is not what NumPy writes.
Result<std::optional<Fields>> read_fields(const std::string& path, std::string_view text) {
  Literals in(text);
  Fields out;
  bool has_descr = false;
  if (!in.take('{')) return std::optional<Fields>();
  while (!in.take('}')) {
    const auto key = in.text();
    if (!key || !in.take(':')) return std::optional<Fields>();
    if (*key == "descr") {
      has_descr = true;
      if (const auto descr = in.text()) {
        out.descr = *descr;
      } else {
        in.skip_brackets();
      }
    } else if (*key == "fortran_order") {
      out.fortran_order = in.word() == "True";
    } else if (*key == "shape") {
      BRIGADE_ASSIGN(out.has_shape, read_shape(path, in, out.shape));
    } else {
      return std::optional<Fields>();
    }
    in.take(',');
  }
  if (!has_descr || !out.has_shape) return std::optional<Fields>();
  return std::optional<Fields>(std::move(out));
}

constexpr std::pair<std::string_view, DType> kKinds[] = {{"b1", boolean}, {"u1", u8},  {"i1", i8},
                                                         {"i2", i16},     {"i4", i32}, {"i8", i64},
                                                         {"f2", f16},     {"f4", f32}, {"f8", f64}};

constexpr std::pair<std::string_view, DType> kUnsigned[] = {{"u2", i32}, {"u4", i64}, {"u8", i64}};

/// The dtype, and what is to be converted.
Result<void> read_descr(const std::string& path, const std::string& descr, NpyHeader& out) {
  if (descr.empty())
    return wrong(path, "holds records with several fields; save each field as a separate array");
  const std::string_view kind = std::string_view(descr).substr(1);
  if (kind == "O")
    return wrong(path,
                 "holds Python objects, which cannot be read safely; save an array of numbers");
  out.is_big_endian = descr[0] == '>';
  for (const auto& [name, dtype] : kKinds)
    if (kind == name) {
      out.dtype = dtype;
      out.element_bytes = dtype_bytes(dtype);
      return {};
    }
  for (const auto& [name, dtype] : kUnsigned)
    if (kind == name) {
      out.dtype = dtype;
      out.element_bytes = static_cast<std::size_t>(name[1] - '0');
      out.is_unsigned = true;
      return {};
    }
  return wrong(path, concat("holds elements of NumPy's type ", quote(descr),
                            ", expected bool, int8 to int64, uint8 to uint64, or float16 to "
                            "float64; save array.astype(...)"));
}

/// Of elements that NumPy does not know: so many bytes each, whose dtype the user says.
Result<void> read_opaque(const std::string& path, const std::string& descr,
                         std::optional<DType> said, NpyHeader& out) {
  const bool is_two = descr.ends_with("V2");
  if (!said)
    return wrong(path, concat("holds elements of ", is_two ? "2 bytes" : "1 byte",
                              " of a type unknown to NumPy (", descr, "); to read ",
                              is_two ? "bfloat16 of ml_dtypes write `dtypes: {TENSOR: bf16}`"
                                     : "the bytes write `dtypes: {TENSOR: u8}`"));
  if (dtype_bytes(*said) != (is_two ? 2 : 1))
    return wrong(path, concat("holds elements of ", is_two ? "2 bytes" : "1 byte", " (", descr,
                              "), but `dtypes` declares ", dtype_name(*said)));
  out.dtype = *said;
  out.element_bytes = dtype_bytes(*said);
  return {};
}

bool is_opaque(const std::string& descr) {
  return descr == "<V2" || descr == "|V2" || descr == "<V1" || descr == "|V1";
}

}  // namespace

Result<NpyHeader> parse_npy_header(const std::string& path, std::string_view head) {
  BRIGADE_ASSIGN(const NpyHeader out, parse_npy_header_to_convert(path, head, std::nullopt));
  if (out.is_big_endian)
    return wrong(path,
                 "its numbers are big-endian; save "
                 "array.astype(array.dtype.newbyteorder('<'))");
  if (out.is_fortran)
    return wrong(path, "is in Fortran order; save numpy.ascontiguousarray(array)");
  if (out.is_unsigned)
    return wrong(path, concat("holds unsigned numbers of ", 8 * out.element_bytes,
                              " bits; save array.astype(numpy.int64)"));
  return out;
}

Result<NpyHeader> parse_npy_header_to_convert(const std::string& path, std::string_view head,
                                              std::optional<DType> said) {
  if (!head.starts_with(kNpyMagic))
    return wrong(path, head.starts_with("PK\x03\x04")
                           ? "is an .npz archive; unpack it (unzip) and use its .npy files"
                           : "is not an .npy file: it does not begin with \\x93NUMPY");
  if (head.size() < kLongPrefix) return wrong(path, "ends in the middle of its header");
  const int version = head[6];
  if (version < 1 || version > 3)
    return wrong(path, concat("has version ", version, " of the .npy format, expected 1, 2 or 3"));
  const std::size_t prefix = version == 1 ? kShortPrefix : kLongPrefix;
  const std::size_t length = little_endian(head.substr(8, prefix - 8));
  if (length > head.size() - std::min(prefix, head.size()))
    return wrong(path, concat("ends in the middle of its header: ", head.size(), " of ",
                              prefix + length, " bytes are present"));
  BRIGADE_ASSIGN(const std::optional<Fields> fields,
                 read_fields(path, head.substr(prefix, length)));
  if (!fields)
    return wrong(path, concat("its header is damaged: ", quote(trim(head.substr(prefix, 60)))));
  NpyHeader out;
  if (is_opaque(fields->descr)) {
    BRIGADE_TRY(read_opaque(path, fields->descr, said, out));
  } else {
    BRIGADE_TRY(read_descr(path, fields->descr, out));
    if (said && *said != out.dtype)
      return wrong(path, concat("holds ", dtype_name(out.dtype), ", but `dtypes` declares ",
                                dtype_name(*said),
                                "; use `dtypes` only for types unknown to NumPy (V2, V1)"));
  }
  out.shape = fields->shape;
  out.bytes = prefix + length;
  if (out.shape.rank() == 0)
    return wrong(path, "holds a single number; expected an array whose first axis is the samples");
  out.is_fortran = fields->fortran_order && out.shape.rank() > 1;
  out.sample_bytes = dtype_bytes(out.dtype);
  bool fits = true;
  for (int i = 1; i < out.shape.rank(); ++i)
    fits &= !__builtin_mul_overflow(out.sample_bytes, static_cast<std::size_t>(out.shape[i]),
                                    &out.sample_bytes);
  std::size_t all = 0;
  fits &= !__builtin_mul_overflow(out.sample_bytes, static_cast<std::size_t>(out.shape[0]), &all);
  if (!fits || all > kBytesMax)
    return wrong(path, concat("its header is damaged: shape ", shape_text(out.shape)));
  if (all == 0) return wrong(path, concat("is empty: its shape is ", shape_text(out.shape)));
  return out;
}

std::optional<std::string> print_npy_header(DType dtype, const Shape& shape) {
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [dtype](const auto& one) { return one.second == dtype; });
  if (kind == std::end(kKinds)) return std::nullopt;
  std::string sizes;
  for (const std::int64_t size : shape) sizes += concat(size, ", ");
  std::string header = concat("{'descr': '", dtype_bytes(dtype) == 1 ? "|" : "<", kind->first,
                              "', 'fortran_order': False, 'shape': (", sizes, "), }");
  // The elements begin at a multiple of 64 bytes.
  const std::size_t unpadded = kShortPrefix + header.size() + 1;
  header.append((unpadded + 63) / 64 * 64 - unpadded, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  return concat(kNpyMagic, '\x01', '\0', static_cast<char>(length & 0xff),
                static_cast<char>(length >> 8), header);
}

}  // namespace brigade
