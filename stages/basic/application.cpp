#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct ApplicationParams {};

}  // namespace

// They have no body: the program that starts the graph reads the batches or writes the samples
// (pipeline/program).
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

  StageType feeds;
  feeds.contract =
      Contract<ApplicationParams>("application",
                                  "Takes samples from the program that starts the graph.")
          .producer()
          .stateful()
          .may_drop()
          .outputs([](const ApplicationParams&, const Ports&) -> Result<Ports> {
            return Error{
                "it does not say what the program writes: write `tensors: {NAME: {dtype: f32, "
                "shape: [3, 4]}}`"};
          })
          .example("producer: application\ntensors: {x: {dtype: f32, shape: [3, 4]}}\nbatch: 8\n")
          .erased();
  feeds.contract.application = true;
  types.add(std::move(feeds));
}

}  // namespace brigade
