#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

enum class Order : std::uint8_t { graph, any };

struct OutputParams {
  Order order = Order::graph;
};

struct InputParams {};

}  // namespace

// They have no body: the program that starts the graph reads the batches or writes the samples
// (pipeline/application).
void add_application(StageTypes& types) {
  StageType type;
  type.contract =
      Contract<OutputParams>("application",
                             "Delivers batches to the program that starts the graph.")
          .consumer()
          .stateful()
          .takes(Takes::batches)
          .several_inputs()
          .choice("order", &OutputParams::order, {{"graph", Order::graph}, {"any", Order::any}},
                  "graph: the order of the graph; any: each batch as soon as it is ready")
          .example("consumer: application\nfrom: images\nhold: 4\n")
          .erased();
  type.contract.application = true;
  types.add(std::move(type));

  StageType feeds;
  feeds.contract =
      Contract<InputParams>("application", "Takes samples from the program that starts the graph.")
          .producer()
          .stateful()
          .may_drop()
          .outputs([](const InputParams&, const Ports&) -> Result<Ports> {
            return Error{
                "the tensors of the program are not declared; write `tensors: {NAME: {dtype: f32, "
                "shape: [3, 4]}}`"};
          })
          .example("producer: application\ntensors: {x: {dtype: f32, shape: [3, 4]}}\nbatch: 8\n")
          .erased();
  feeds.contract.application = true;
  types.add(std::move(feeds));
}

}  // namespace brigade
