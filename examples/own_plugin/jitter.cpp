// The half that only the processes open that run the stage. It may include and link anything.

#include "jitter.h"

#include <cmath>

#include <brigade/module.h>
#include <brigade/text.h>

namespace {

using namespace brigade;  // an example is all about it

class Jitter : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<JitterParams>();
    return {};
  }

  // One sample. `to` is shared memory: its place in the batch that the next stage reads.
  Result<Next> process(const Inputs& in, Outputs& out) override {
    Philox random = in.random();  // of this sample and epoch: the same in whichever replica
    const auto from = in["data"].as<float>();
    const auto to = out["data"].as<float>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!std::isfinite(from[i])) return Error{concat("element ", i, " is not a finite number")};
      const double noise = random.uniform(-params_.amplitude, params_.amplitude);
      to[i] = static_cast<float>(from[i] + noise);
    }
    return Next::emit;
  }

 private:
  JitterParams params_;
};

}  // namespace

BRIGADE_MODULE(stage_body<Jitter>("jitter"))
