#include "stages/torch/torch_classifier_contract.h"

#include <brigade/text.h>
#include "stages/cuda/channel_numbers.h"

namespace brigade {
namespace {

using Params = TorchClassifierParams;

constexpr double kClassesMax = 1 << 20;
constexpr double kStepsMax = 1ll << 40;
constexpr double kNormMax = 1e6;
constexpr double kPixelsMax = 1 << 16;
constexpr double kScaleMax = 1e6;  // of mean and std

/// Whether a file may be an archive: LibTorch alone reads more of it.
Result<void> check_script(const FileMetadata& files) {
  const FileHeader* const file = files.find("torchscript");
  if (file == nullptr || file->header.starts_with("PK")) return {};
  return Error{
      "torchscript: not a TorchScript file; write it in Python with "
      "torch.jit.save(torch.jit.script(model), FILE)"};
}

/// Only bytes are cut, mirrored and normalised here.
Result<void> check_pictures(const Params& params, const TensorType& image,
                            const PictureSizes& sizes) {
  if (image.dtype == u8) {
    BRIGADE_TRY(cuda::check_channel_numbers("mean", params.mean, sizes.channels));
    BRIGADE_TRY(cuda::check_channel_numbers("std", params.std, sizes.channels));
    return cuda::check(normalization_of(params, sizes));
  }
  const Params as_they_are;
  if (params.pad > 0 || params.crop > 0 || params.flip > 0 || params.mean != as_they_are.mean ||
      params.std != as_they_are.std)
    return Error{concat("pad, crop, flip, mean and std need u8 images, found ", image.text(),
                        "; set them in the upstream stage")};
  return {};
}

Result<Ports> check_inputs(const Params& params, const Ports& in, const FileMetadata& files) {
  const TensorType& image = *in.find("image");
  if (image.ragged())
    return Error{
        concat("expected images of one size, found ", image.text(), "; resize them upstream")};
  const TensorType& label = *in.find("label");
  if (label.ragged() || (label.dtype == f32 && label.shape[0] != Dim(params.classes)))
    return Error{concat("with `classes: ", params.classes, "` a label must be a number, or ",
                        params.classes, " shares, found ", label.text())};
  BRIGADE_ASSIGN(const PictureSizes sizes, picture_sizes(image, params.layout));
  BRIGADE_TRY(check_pictures(params, image, sizes));
  BRIGADE_TRY(check_script(files));
  const cuda::Normalization seen = normalization_of(params, sizes);
  const bool scripted = !params.torchscript.path.empty();
  if (!scripted && params.model == Params::Model::small_cnn &&
      (seen.cut_height < kSmallCnnSideMin || seen.cut_width < kSmallCnnSideMin))
    return Error{concat("model small_cnn needs images of at least ", kSmallCnnSideMin, " x ",
                        kSmallCnnSideMin, " pixels, found ", image.text(),
                        "; use larger images, or model linear or mlp")};
  if (static_cast<std::int64_t>(params.names.size()) > params.classes)
    return Error{concat("names has ", params.names.size(), " entries, with `classes: ",
                        params.classes, "` the limit is ", params.classes)};
  if (params.label_smoothing == 1)
    return Error{"label_smoothing: 1 makes all classes equally right; use a value such as 0.1"};
  if (!params.train && !scripted && params.weights.path.empty())
    return Error{
        "`train: false` needs a trained model; write `weights: FILE` or `torchscript: FILE`"};
  if (params.new_head && params.weights.path.empty())
    return Error{"new_head: true needs `weights: FILE`"};
  return Ports{};
}

void add_model(Contract<Params>& contract) {
  contract
      .choice("model", &Params::model,
              {{"small_cnn", Params::Model::small_cnn},
               {"linear", Params::Model::linear},
               {"mlp", Params::Model::mlp},
               {"resnet18", Params::Model::resnet18},
               {"resnet50", Params::Model::resnet50}},
              "small_cnn: two convolutions and two linear layers; linear: one linear layer; mlp: a "
              "hidden layer of 256; resnet18, resnet50: the residual networks of torchvision")
      .param("torchscript", &Params::torchscript,
             "replaces `model`: file of torch.jit.save(torch.jit.script(model), FILE); it maps [B, "
             "channels, height, width] to scores [B, classes]")
      .file_header()
      .param("train", &Params::train, "false: only evaluate the source")
      .param("weights", &Params::weights,
             "file of initial weights: from torch.save(dict(model.state_dict()), FILE) or "
             "torch.jit.save, or a checkpoint")
      .param("new_head", &Params::new_head,
             "initialize the last layer at random instead of from `weights`, if the file's classes "
             "differ");
}

void add_learning(Contract<Params>& contract) {
  contract
      .choice("optimizer", &Params::optimizer,
              {{"sgd", Params::Optimizer::sgd},
               {"adam", Params::Optimizer::adam},
               {"adamw", Params::Optimizer::adamw}},
              "sgd with momentum, Adam, or AdamW (Adam with decoupled weight decay)")
      .param("lr", &Params::lr, 0, 1000, "learning rate")
      .choice("schedule", &Params::schedule,
              {{"cosine", Params::Schedule::cosine}, {"constant", Params::Schedule::constant}},
              "cosine: the learning rate is constant in the first epoch, then falls along a cosine "
              "to 0 at the end of the last; constant: it does not change")
      .param("warmup_steps", &Params::warmup_steps, 0, kStepsMax,
             "training steps of a linear warmup of the learning rate")
      .param("momentum", &Params::momentum, 0, 1, "momentum of sgd; adam does not use it")
      .param("weight_decay", &Params::weight_decay, 0, 1,
             "L2 penalty per step; for adamw the decoupled weight decay, times lr")
      .param("clip_norm", &Params::clip_norm, 0, kNormMax,
             "largest total norm of the gradients of a step; longer gradients are scaled down; 0: "
             "no limit")
      .param("label_smoothing", &Params::label_smoothing, 0, 1,
             "share of a training label that is spread evenly over all classes");
}

void add_pictures(Contract<Params>& contract) {
  contract
      .choice("precision", &Params::precision,
              {{"f32", Params::Precision::f32},
               {"bf16", Params::Precision::bf16},
               {"f16", Params::Precision::f16}},
              "precision of the model's heavy operations; weights stay f32; f16 needs a GPU and "
              "scales the loss")
      .param("channels_last", &Params::channels_last,
             "store images and weights channels-last, which makes 16-bit convolutions faster")
      .param("pad", &Params::pad, 0, kPixelsMax, "pixels of zeros added on every side of u8 images")
      .param("crop", &Params::crop, 0, kPixelsMax,
             "side in pixels of the square crop of u8 images, at a random position in training; 0: "
             "keep height and width")
      .param("flip", &Params::flip, 0, 1,
             "probability of mirroring an image left to right, in training")
      .param("mean", &Params::mean, -kScaleMax, kScaleMax,
             "u8 images become (level / 255 - mean) / std: one number for all channels, or one for "
             "each")
      .param("std", &Params::std, 1 / kScaleMax, kScaleMax,
             "one number for all channels, or one for each");
}

void add_ranks(Contract<Params>& contract) {
  contract
      .param("data_parallel", &Params::data_parallel,
             "several ranks train one model together; false: each rank trains its own model")
      .param("rank_timeout", &Params::rank_timeout,
             "time limit of a rank for waiting for the others");
}

}  // namespace

Contract<Params> torch_classifier_contract() {
  Contract<Params> contract("torch_classifier",
                            "Trains an image classifier with LibTorch, and evaluates it.");
  add_model(contract);
  add_learning(contract);
  add_pictures(contract);
  add_ranks(contract);
  return contract.consumer()
      .holds_for_device()
      .reads_on_device([](const Params&) { return std::vector<std::string>{"image"}; })
      .several_inputs({"train", "test"})
      .saves()
      .param("classes", &Params::classes, 2, kClassesMax,
             "number of classes; labels are 0 .. classes - 1")
      .param("names", &Params::names,
             "class names for reports and checkpoints; none: the names known to the sources")
      .param("loss_file", &Params::loss_file,
             "CSV file to write: epoch, step and loss of every training step")
      .choice(
          "layout", &Params::layout,
          {{"auto", ChannelOrder::guess}, {"HWC", ChannelOrder::hwc}, {"CHW", ChannelOrder::chw}},
          "layout of the images; auto: derived from the sizes")
      .input("image", {u8, f32, f16, bf16}, {any_size, any_size, any_size},
             "u8 is normalized, by default to [-1, 1]; other dtypes are used as they are")
      .one_of({{"label", {i64}, false, {}, "the class"},
               {"label", {f32}, false, {any_size}, "the shares of all classes"}})
      .outputs(check_inputs)
      .reports("samples", Combine::sum, "samples trained on and evaluated")
      .reports("loss", Combine::mean, "mean training loss of the epoch so far", true)
      .reports("train_accuracy", Combine::mean, "accuracy on the training samples")
      .reports("accuracy", Combine::mean, "accuracy on the source `test`", true)
      .reports("accuracy_top5", Combine::mean,
               "top-5 accuracy on `test`, with more than 20 classes")
      .reports("test_loss", Combine::mean, "mean loss on the source `test`")
      .example(
          "consumer: torch_classifier\n"
          "from: {train: augment, test: test_images}\n"
          "join: epochs\n"
          "device: auto\n"
          "params: {model: small_cnn, optimizer: sgd, lr: 0.05}\n");
}

}  // namespace brigade
