#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct MergeParams {};

class Merge : public Stage {
 public:
  // The runtime takes whichever source has a sample, and copies what it has.
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

void add_merge(StageTypes& types) {
  types.add<Merge>(
      Contract<MergeParams>(
          "merge", "Merges several sources into one, in the order in which samples arrive.")
          .transform()
          .several_inputs()
          .rest_passes()
          .flat_map([](const MergeParams&) { return std::uint64_t{1}; })
          .example("transform: merge\nfrom: [cats, dogs]\njoin: merge\n"));
}

}  // namespace brigade
