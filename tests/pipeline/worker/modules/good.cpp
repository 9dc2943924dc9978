// A module with one stage, for the tests of the loader.

#include <brigade/module.h>

namespace {

struct Nothing : brigade::Stage {
  brigade::Result<brigade::Next> process(const brigade::Inputs&, brigade::Outputs&) override {
    return brigade::Next::emit;
  }
};

struct Numbers : brigade::Producer {
  brigade::Result<std::uint64_t> size() override { return std::uint64_t{42}; }
  brigade::Result<brigade::Next> read(std::uint64_t, brigade::Outputs&) override {
    return brigade::Next::emit;
  }
};

}  // namespace

BRIGADE_MODULE(brigade::stage_body<Nothing>("nothing"), brigade::stage_body<Numbers>("numbers"))
