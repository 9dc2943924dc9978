// A stage that takes a lot of memory at one sample, or is killed there as if from outside.

#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include <brigade/plugin.h>

using namespace brigade;

namespace {

struct HungryParams {
  std::uint64_t at = 0;
  std::uint64_t mebibytes = 0;
};

class Hungry : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<HungryParams>();
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    if (in.info().id != params_.at) return Next::emit;
    if (params_.mebibytes == 0) raise(SIGKILL);
    std::vector<char> memory(params_.mebibytes << 20);
    for (std::size_t i = 0; i < memory.size(); i += 4096)
      static_cast<volatile char*>(memory.data())[i] = 1;
    return Next::emit;
  }

 private:
  HungryParams params_;
};

}  // namespace

BRIGADE_PLUGIN(types) {
  types.add<Hungry>(Contract<HungryParams>("hungry", "Takes a lot of memory once.")
                        .transform()
                        .rest_passes()
                        .param("at", &HungryParams::at, 0, 1e9, "the id of the sample")
                        .param("mebibytes", &HungryParams::mebibytes, 0, 1e6,
                               "what it takes; 0: it is killed instead"));
}
