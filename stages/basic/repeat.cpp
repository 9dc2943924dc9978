#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct RepeatParams {
  std::uint64_t times = 2;
};

constexpr double kTimesMax = 65536;

class Repeat : public Stage {
 public:
  // The runtime copies what the contract lets pass into each of the outputs.
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

void add_repeat(StageTypes& types) {
  types.add<Repeat>(
      Contract<RepeatParams>(
          "repeat", "Repeats each sample several times, for random augmentation downstream.")
          .transform()
          .takes(Takes::either)
          .param("times", &RepeatParams::times, 1, kTimesMax, "number of repetitions")
          .expand([](const RepeatParams& params) { return params.times; })
          .rest_passes()
          .example("transform: repeat\nfrom: images\nparams: {times: 4}\n"));
}

}  // namespace brigade
