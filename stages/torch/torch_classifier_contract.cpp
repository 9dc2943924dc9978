#include "stages/torch/torch_classifier_contract.h"

#include <brigade/text.h>

namespace brigade {
namespace {

using Params = TorchClassifierParams;

constexpr double kClassesMax = 1 << 20;

Result<Ports> check_inputs(const Params& params, const Ports& in) {
  const TensorType& image = *in.find("image");
  if (image.ragged())
    return Error{
        concat("expected images of one size, found ", image.text(), "; resize them before")};
  const Shape shape = image.bounds();
  if (params.model == Params::Model::small_cnn &&
      (shape[0] < kSmallCnnSideMin || shape[1] < kSmallCnnSideMin))
    return Error{concat("model small_cnn needs images of at least ", kSmallCnnSideMin, " x ",
                        kSmallCnnSideMin, " pixels, found ", image.text(),
                        "; use larger images, or model linear or mlp")};
  return Ports{};
}

}  // namespace

Contract<Params> torch_classifier_contract() {
  return Contract<Params>("torch_classifier",
                          "Trains an image classifier with LibTorch, and evaluates it.")
      .consumer()
      .takes(Takes::batches)
      .several_inputs({"train", "test"})
      .saves()
      .choice("model", &Params::model,
              {{"small_cnn", Params::Model::small_cnn},
               {"linear", Params::Model::linear},
               {"mlp", Params::Model::mlp}},
              "two convolutions and two linear layers; one linear layer; or a hidden layer of 256")
      .choice("optimizer", &Params::optimizer,
              {{"sgd", Params::Optimizer::sgd}, {"adam", Params::Optimizer::adam}},
              "stochastic gradient descent with momentum, or Adam")
      .param("lr", &Params::lr, 0, 1000, "learning rate")
      .choice(
          "schedule", &Params::schedule,
          {{"cosine", Params::Schedule::cosine}, {"constant", Params::Schedule::constant}},
          "the learning rate stays in the first epoch, then falls along a cosine to 0 at the end "
          "of the last; or it stays")
      .param("momentum", &Params::momentum, 0, 1, "of sgd; adam has its own")
      .param("weight_decay", &Params::weight_decay, 0, 1, "L2 penalty per step")
      .param("classes", &Params::classes, 2, kClassesMax, "labels are 0 .. classes - 1")
      .param("loss_file", &Params::loss_file,
             "CSV file to write: epoch, step and loss of every training step")
      .input("image", {DType::u8, DType::f32}, {any_size, any_size, any_size},
             "HWC; u8 is scaled to [-1, 1], f32 taken as it is")
      .input("label", {DType::i64}, {}, "the class")
      .outputs(check_inputs)
      .reports("samples", Combine::sum, "samples trained on and evaluated")
      .reports("loss", Combine::mean, "mean training loss of the epoch so far", true)
      .reports("train_accuracy", Combine::mean, "share of right answers while training")
      .reports("accuracy", Combine::mean, "share of right answers on the source `test`", true)
      .reports("test_loss", Combine::mean, "mean loss on the source `test`")
      .example(
          "consumer: torch_classifier\n"
          "from: {train: augment, test: test_images}\n"
          "join: epochs\n"
          "device: auto\n"
          "params: {model: small_cnn, optimizer: sgd, lr: 0.05}\n");
}

}  // namespace brigade
