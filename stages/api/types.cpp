#include <brigade/types.h>

#include <algorithm>
#include <limits>

#include <brigade/text.h>

namespace brigade {
namespace {

std::string shape_text(const std::vector<Dim>& shape) {
  std::string out = "[";
  for (const Dim& dim : shape) {
    if (out.size() > 1) out += ", ";
    if (dim.kind == Dim::Kind::any) {
      out += "any";
    } else {
      if (dim.kind == Dim::Kind::up_to) out += "<=";
      out += concat(dim.size);
    }
  }
  return out + "]";
}

bool fits(const Dim& pattern, const Dim& dim) {
  switch (pattern.kind) {
    case Dim::Kind::any:
      return true;
    case Dim::Kind::up_to:
      return dim.kind != Dim::Kind::any && dim.size <= pattern.size;
    case Dim::Kind::exact:
      return dim == pattern;
  }
  return false;
}

}  // namespace

bool TensorType::ragged() const {
  return std::any_of(shape.begin(), shape.end(),
                     [](const Dim& dim) { return dim.kind == Dim::Kind::up_to; });
}

Shape TensorType::bounds() const {
  Shape sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.size);
  return sizes;
}

std::uint64_t TensorType::bytes_max() const {
  std::uint64_t bytes = dtype_bytes(dtype);
  for (const Dim& dim : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim.size), &bytes))
      return std::numeric_limits<std::uint64_t>::max();
  }
  return bytes;
}

std::string TensorType::text() const {
  return concat(name, ' ', dtype_name(dtype), shape_text(shape), on_device ? " on a device" : "");
}

bool TensorPattern::accepts(const TensorType& type) const {
  if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), type.dtype) == dtypes.end())
    return false;
  if (any_rank) return true;
  return std::equal(shape.begin(), shape.end(), type.shape.begin(), type.shape.end(), fits);
}

std::string TensorPattern::text() const {
  std::vector<std::string_view> names;
  for (DType dtype : dtypes) names.push_back(dtype_name(dtype));
  const std::string dtype = names.empty() ? "any dtype " : join(names, "|");
  return concat(name, ' ', dtype, any_rank ? "[...]" : shape_text(shape));
}

}  // namespace brigade
