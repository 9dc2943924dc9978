// A program with a stage type of its own. It has all commands of `brigade`, and knows one stage
// type more:
//
//   own_stage run own_stage.yaml
//   own_stage stages jitter
//
// Each stage runs in a process of its own, which is this program again: it comes as far as the
// constructor of App, becomes a worker there, and never returns.

#include <cmath>

#include <brigade/app.h>
#include <brigade/text.h>

namespace {

using namespace brigade;  // an example is all about it

// The parameters, with their defaults.
struct JitterParams {
  double amplitude = 0.1;
};

// What the stage takes and gives. `check` and `plan` need no more than this.
Contract<JitterParams> jitter_contract() {
  return Contract<JitterParams>("jitter", "Adds noise to every number.")
      .transform()
      .param("amplitude", &JitterParams::amplitude, 0, 1e6, "largest noise, up or down")
      .input("data", {DType::f32}, {any_size}, "finite numbers")
      .outputs([](const JitterParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("data")};  // of the same size
      })
      .rest_passes()  // other tensors of the sample travel on
      .example("transform: jitter\nfrom: numbers\nparams: {amplitude: 0.5}\n");
}

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

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Jitter>(jitter_contract());
  const App app(argc, argv, types);  // first: workers never come further
  return app.run_command();
}
