#include "pipeline/records/record_field.h"

#include <string>
#include <vector>

#include <brigade/text.h>

namespace brigade {
namespace {

bool varies(VaryingSizes varying, int dimension) { return (varying >> dimension & 1) != 0; }

Error wrong_shape(const Field& field, const std::int64_t* sizes, VaryingSizes varying) {
  std::vector<std::string> expected;
  Shape found;
  for (int i = 0; i < field.sample_bounds.rank(); ++i) {
    expected.push_back(concat(varies(varying, i) ? "<=" : "", field.sample_bounds[i]));
    found.push_back(sizes[i]);
  }
  return Error{concat("tensor ", quote(field.name), ": expected the shape [", join(expected, ", "),
                      "] of its contract, found ", shape_text(found))};
}

}  // namespace

VaryingSizes varying_sizes(const TensorType& type) {
  VaryingSizes bits = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    if (type.shape[i].kind == Dim::Kind::up_to) bits |= 1u << i;
  return bits;
}

Result<void> check_shape(const Field& field, const std::int64_t* sizes, VaryingSizes varying) {
  for (int i = 0; i < field.sample_bounds.rank(); ++i) {
    const std::int64_t bound = field.sample_bounds[i];
    const bool fits = varies(varying, i) ? sizes[i] >= 0 && sizes[i] <= bound : sizes[i] == bound;
    if (!fits) return wrong_shape(field, sizes, varying);
  }
  return {};
}

}  // namespace brigade
