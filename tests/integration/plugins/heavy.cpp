// The body of a plugin with two halves.

#include "tests/integration/plugins/heavy.h"
#include <brigade/module.h>

using namespace brigade;

namespace {

class Heavy : public Stage {
 public:
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

BRIGADE_MODULE(stage_body<Heavy>("heavy"))
