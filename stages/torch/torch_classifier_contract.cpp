#include "stages/torch/torch_classifier_contract.h"

#include <brigade/text.h>

namespace brigade {
namespace {

using Params = TorchClassifierParams;

constexpr double kClassesMax = 1 << 20;
constexpr double kStepsMax = 1ll << 40;
constexpr double kNormMax = 1e6;

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
  if (params.label_smoothing == 1)
    return Error{"with label_smoothing: 1 all classes are equally right; 0.1 is usual"};
  if (params.new_head && params.weights.path.empty())
    return Error{"new_head: true is for training that begins with `weights: FILE`"};
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
               {"mlp", Params::Model::mlp},
               {"resnet18", Params::Model::resnet18},
               {"resnet50", Params::Model::resnet50}},
              "two convolutions and two linear layers; one linear layer; a hidden layer of 256; or "
              "a residual network as torchvision has it")
      .param("weights", &Params::weights,
             "file of weights to begin with: of torch.save(dict(model.state_dict()), FILE), of "
             "torch.jit.save, or a checkpoint")
      .param("new_head", &Params::new_head,
             "the last layer takes nothing of `weights`: for other classes than the file's")
      .choice(
          "optimizer", &Params::optimizer,
          {{"sgd", Params::Optimizer::sgd},
           {"adam", Params::Optimizer::adam},
           {"adamw", Params::Optimizer::adamw}},
          "stochastic gradient descent with momentum, Adam, or Adam whose weight decay is apart "
          "from the gradients")
      .param("lr", &Params::lr, 0, 1000, "learning rate")
      .choice(
          "schedule", &Params::schedule,
          {{"cosine", Params::Schedule::cosine}, {"constant", Params::Schedule::constant}},
          "the learning rate stays in the first epoch, then falls along a cosine to 0 at the end "
          "of the last; or it stays")
      .param("warmup_steps", &Params::warmup_steps, 0, kStepsMax,
             "training steps in which the learning rate rises evenly to its value")
      .param("momentum", &Params::momentum, 0, 1, "of sgd; adam has its own")
      .param("weight_decay", &Params::weight_decay, 0, 1,
             "L2 penalty per step; of adamw the share of each weight that goes, times lr")
      .param("clip_norm", &Params::clip_norm, 0, kNormMax,
             "gradients of a step that are longer, all together, are scaled to this norm; 0: none")
      .param("label_smoothing", &Params::label_smoothing, 0, 1,
             "share of a training label that all classes get evenly")
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
      .reports(
          "accuracy_top5", Combine::mean,
          "share whose answer is among the five best scores on `test`, of more than 20 classes")
      .reports("test_loss", Combine::mean, "mean loss on the source `test`")
      .example(
          "consumer: torch_classifier\n"
          "from: {train: augment, test: test_images}\n"
          "join: epochs\n"
          "device: auto\n"
          "params: {model: small_cnn, optimizer: sgd, lr: 0.05}\n");
}

}  // namespace brigade
