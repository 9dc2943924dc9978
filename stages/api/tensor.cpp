#include <brigade/tensor.h>

#include <brigade/text.h>

namespace brigade {
namespace {

struct DTypeRow {
  DType dtype;
  std::size_t bytes;
  std::string_view name;
  std::string_view torch_name;
  std::string_view torch_alias;
};

constexpr DTypeRow kDTypes[] = {
    {boolean, 1, "bool", "bool", "bool"}, {u8, 1, "u8", "uint8", "byte"},
    {i8, 1, "i8", "int8", "char"},        {i16, 2, "i16", "int16", "short"},
    {i32, 4, "i32", "int32", "int"},      {i64, 8, "i64", "int64", "long"},
    {f16, 2, "f16", "float16", "half"},   {bf16, 2, "bf16", "bfloat16", "bfloat16"},
    {f32, 4, "f32", "float32", "float"},  {f64, 8, "f64", "float64", "double"},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < std::size(kDTypes); ++i)
    if (kDTypes[i].dtype != static_cast<DType>(i)) return false;
  return true;
}
static_assert(rows_are_in_order(), "dtype_bytes() and dtype_name() index the table");

}  // namespace

std::size_t dtype_bytes(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bytes; }

std::string_view dtype_name(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> parse_dtype(std::string_view name) {
  if (auto rest = strip_prefix(name, "torch.")) name = *rest;
  for (const DTypeRow& row : kDTypes)
    if (name == row.name || name == row.torch_name || name == row.torch_alias) return row.dtype;
  return std::nullopt;
}

std::string shape_text(const Shape& shape) { return concat('[', join(shape, ", "), ']'); }

Result<void> TensorSlot::resize(const Shape& shape) {
  if (shape == *shape_) return {};
  if (!ragged_)
    return Error{concat("resize to ", shape_text(shape), ": the contract fixes this tensor to ",
                        shape_text(*shape_), "; declare a bound with up_to() in the contract")};
  bool fits = shape.rank() == bounds_->rank();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = shape[i] >= 0 && shape[i] <= (*bounds_)[i];
  if (!fits)
    return Error{concat("resize to ", shape_text(shape), ": the contract allows at most ",
                        shape_text(*bounds_))};
  *shape_ = shape;
  return {};
}

}  // namespace brigade
