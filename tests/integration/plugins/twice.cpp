// Plugins with a name that is taken: TAKEN_NAME once or twice, or an exception instead.

#include <stdexcept>

#include <brigade/plugin.h>

using namespace brigade;

namespace {

struct NoParams {};

class Nothing : public Stage {
 public:
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

BRIGADE_PLUGIN(types) {
  if (TIMES == 0) throw std::runtime_error("its licence is missing");
  for (int i = 0; i < TIMES; ++i)
    types.add<Nothing>(Contract<NoParams>(TAKEN_NAME, "Does nothing.").transform().rest_passes());
}
