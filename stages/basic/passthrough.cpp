#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct PassthroughParams {};

class Passthrough : public Stage {
 public:
  // The runtime copies what the contract lets pass.
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

void add_passthrough(StageTypes& types) {
  types.add<Passthrough>(
      Contract<PassthroughParams>("passthrough", "Passes every sample on unchanged.")
          .transform()
          .takes(Takes::either)
          .rest_passes()
          .example("transform: passthrough\nfrom: images\n"));
}

}  // namespace brigade
