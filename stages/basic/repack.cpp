#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct RepackParams {};

class Repack : public Stage {
 public:
  // The runtime numbers anew what there is, and copies it.
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

void add_repack(StageTypes& types) {
  types.add<Repack>(
      Contract<RepackParams>("repack", "Refills batches after a filter has dropped samples.")
          .transform()
          .rest_passes()
          .flat_map([](const RepackParams&) { return std::uint64_t{1}; })
          .example("transform: repack\nfrom: filtered\nbatch: 64\n"));
}

}  // namespace brigade
