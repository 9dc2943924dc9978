#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct ApplicationParams {};

}  // namespace

// It has no body: the program that starts the graph reads the batches (pipeline/program).
void add_application(StageTypes& types) {
  StageType type;
  type.contract = Contract<ApplicationParams>("application",
                                              "Gives batches to the program that starts the graph.")
                      .consumer()
                      .stateful()
                      .takes(Takes::batches)
                      .several_inputs()
                      .example("consumer: application\nfrom: images\nhold: 4\n")
                      .erased();
  type.contract.application = true;
  types.add(std::move(type));
}

}  // namespace brigade
