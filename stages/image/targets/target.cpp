#include "stages/image/targets/target.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <brigade/text.h>

namespace brigade {

std::int64_t RowFilter::count() const {
  return std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
}

Result<TensorType> target_type(const Ports& in, const std::string& name) {
  if (const TensorType* const type = in.find(name)) return *type;
  std::vector<std::string> names;
  for (const TensorType& type : in.tensors) names.push_back(type.name);
  return Error{concat("unknown tensor ", quote(name), "; found ", join(names, ", "),
                      "; set `name:` to one of them")};
}

Result<void> add_output(Ports& out, TensorType type) {
  if (out.find(type.name) != nullptr)
    return Error{concat("the tensor ", quote(type.name), " is written twice; name it once")};
  out.tensors.push_back(std::move(type));
  return {};
}

Result<void> add_companions(const Ports& in, const TensorType& rows,
                            const std::vector<std::string>& names, Ports& out) {
  for (const std::string& name : names) {
    auto type = target_type(in, name);
    if (!type) return type.error().within("with");
    const bool has_rows = !type->shape.empty();
    const auto exact = [](const Dim& dim) { return dim.kind == Dim::Kind::exact; };
    if (!has_rows || (exact(type->shape[0]) && exact(rows.shape[0]) &&
                      type->shape[0].size != rows.shape[0].size))
      return Error{
          concat("with: ", type->text(), " does not have one row for each row of ", rows.text())};
    type->shape[0] = up_to(type->shape[0].size, type->shape[0].expected);
    BRIGADE_TRY(add_output(out, std::move(*type)));
  }
  return {};
}

Result<void> write_companions(const Inputs& in, const RowFilter& rows,
                              const std::vector<std::string>& names, Outputs& out) {
  for (const std::string& name : names) {
    const TensorView from = in[name];
    const auto count = static_cast<std::int64_t>(rows.kept.size());
    if (from.shape()[0] != count)
      return Error{
          concat(name, " has ", from.shape()[0], " rows, expected as many as its target, ", count)};
    BRIGADE_TRY(write_rows(from.data(), from.shape(), rows, out[name]));
  }
  return {};
}

Result<void> write_rows(const void* from, const Shape& shape, const RowFilter& rows,
                        TensorSlot slot) {
  Shape left = shape;
  left[0] = rows.count();
  BRIGADE_TRY(slot.resize(left));
  std::int64_t row_elements = 1;
  for (int i = 1; i < shape.rank(); ++i) row_elements *= shape[i];
  const std::size_t bytes = static_cast<std::size_t>(row_elements) * dtype_bytes(slot.dtype());
  const auto* source = static_cast<const std::byte*>(from);
  auto* to = static_cast<std::byte*>(slot.data());
  for (const std::uint8_t kept : rows.kept) {
    if (kept != 0) {
      std::memcpy(to, source, bytes);
      to += bytes;
    }
    source += bytes;
  }
  return {};
}

}  // namespace brigade
