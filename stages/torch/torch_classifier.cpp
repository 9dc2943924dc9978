// The body of torch_classifier. One replica trains one model: every batch of the source that is not
// called `test` is one step; a batch of `test` is only evaluated. Batches are read where they lie
// in shared memory; a device gets them from there as they are (u8), and converts them.

#include <torch/nn/module.h>
#include <torch/nn/utils/clip_grad.h>  // needs what is above it
#include <torch/serialize.h>

#include <cmath>

#include <brigade/module.h>
#include <brigade/text.h>
#include "stages/api/channel_order.h"
#include "stages/torch/batch_feed.h"
#include "stages/torch/class_tally.h"
#include "stages/torch/classifier_models.h"
#include "stages/torch/labels.h"
#include "stages/torch/loss_file.h"
#include "stages/torch/optimizers.h"
#include "stages/torch/picture_floats.h"
#include "stages/torch/precision.h"
#include "stages/torch/scripted_model.h"
#include "stages/torch/tally.h"
#include "stages/torch/torch_adapter.h"
#include "stages/torch/torch_classifier_contract.h"
#include "stages/torch/training_ranks.h"
#include "stages/torch/weights_file.h"

namespace brigade {
namespace {

using Params = TorchClassifierParams;

constexpr std::string_view kTestPort = "test";
constexpr std::string_view kTrainPort = "train";
/// Steps whose losses may still be on the GPU; reading one waits for it.
constexpr std::size_t kPendingStepsMax = 16;
constexpr std::int64_t kIgnoredLabel = -100;  // which no label is
constexpr std::int64_t kBestScores = 5;       // what accuracy_top5 looks at ...
constexpr std::int64_t kFewClasses = 20;      // ... of more classes than these

class TorchClassifier : public Stage {
 public:
  ~TorchClassifier() override { static_cast<void>(loss_file_.write()); }
  Result<void> open(const OpenContext& context) override {
    return torch_guarded([&] { return open_guarded(context); });
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    const bool test = is_test(in.port());
    if (in.samples() == 0) {
      if (!test && ranks_.together()) BRIGADE_TRY(feed_.guarded([&] { return train_none(); }));
      return Next::emit;
    }
    BRIGADE_TRY(check_labels(in, params_.classes));
    BRIGADE_TRY(feed_.leave(in, feed_.guarded([&] { return test ? evaluate(in) : train(in); })));
    samples_ += static_cast<std::uint64_t>(in.samples());
    reporter_->report("samples", samples_);
    return Next::emit;
  }
  Result<void> epoch_end(const EpochEnd& end) override {
    BRIGADE_TRY(feed_.check());
    return feed_.guarded(
        [&] { return is_test(end.source) ? test_end(end.epoch) : train_end(end.epoch); });
  }
  Result<std::string> save() override {
    std::string bytes;
    BRIGADE_TRY(feed_.check());
    BRIGADE_TRY(feed_.guarded([&] { return save_to(bytes); }));
    return bytes;
  }

 private:
  Result<void> open_guarded(const OpenContext& context);
  Result<void> find_sources(const Ports& inputs);
  Result<void> look_at(const TensorType& image);
  bool is_test(std::string_view source) const {
    return !params_.train || (has_test_ && source == kTestPort);
  }
  Result<void> take_model();
  Result<void> begin_with_weights();
  void set_learning_rate(const SampleInfo& first);
  Result<void> train(const Inputs& in);
  Result<void> train_none();
  at::Tensor scores_of(const at::Tensor& images, bool test = false);
  Result<void> step(std::int64_t samples);
  Result<void> read_losses();
  Result<void> evaluate(const Inputs& in);
  Result<void> train_end(std::uint32_t epoch);
  Result<void> test_end(std::uint32_t epoch);
  void report_classes(std::uint32_t epoch);
  Result<void> save_to(std::string& bytes);
  Result<void> restore(std::string_view bytes);

  // What is saved besides the model and the optimizer.
  std::vector<std::pair<std::string, std::uint64_t*>> counts() {
    return {{"samples", &samples_},
            {"steps", &steps_},
            {"epoch", &epochs_done_},
            {"train_samples", &train_.sums().samples},
            {"train_hits", &train_.sums().hits},
            {"test_samples", &test_.sums().samples},
            {"test_hits", &test_.sums().hits},
            {"test_near_hits", &test_.sums().near_hits},
            {"loss_scale_steps", &loss_scale_.good_steps}};
  }
  std::vector<std::pair<std::string, double*>> sums() {
    return {{"epoch_samples", &epoch_samples_},
            {"train_loss", &train_.sums().loss},
            {"test_loss", &test_.sums().loss},
            {"loss_scale", &loss_scale_.scale}};
  }

  Params params_;
  Reporter* reporter_ = nullptr;
  std::uint64_t seed_ = 0;
  bool has_test_ = false;
  Shape image_;  // of one picture, as it comes
  PictureSizes sizes_;
  at::Device device_ = at::kCPU;
  at::ScalarType precision_ = at::kFloat;
  BatchFeed feed_;
  PictureFloats floats_;
  LossScale loss_scale_;
  TrainingRanks ranks_;
  std::uint32_t tested_epochs_ = 0;
  std::shared_ptr<ClassifierModel> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  LossFile loss_file_;
  std::uint64_t loss_bytes_ = 0;  // of it at the checkpoint
  std::uint64_t samples_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epochs_done_ = 0;
  std::uint32_t epoch_ = 0;
  double epochs_ = 1;
  double epoch_samples_ = 0;  // 0: not known yet
  Tally train_;
  Tally test_;
  ClassTally by_class_;  // of test_
};

Result<void> TorchClassifier::open_guarded(const OpenContext& context) {
  params_ = context.params<Params>();
  reporter_ = context.reporter;
  seed_ = context.seed;
  by_class_ = ClassTally(params_.names, params_.classes);
  epochs_ = context.epochs;
  if (context.replicas != 1)
    return Error{
        concat("trains one model in one process and needs replicas: 1, found ", context.replicas)};
  BRIGADE_TRY(find_sources(context.inputs));
  BRIGADE_TRY(prepare_torch(context.threads, context.seed));
  BRIGADE_ASSIGN(device_, choose_device(context.device, context.replica, context.replicas));
  precision_ = scalar_type(params_.precision);
  if (precision_ == at::kHalf && device_.is_cpu())
    return Error{"precision: f16 needs a GPU; use bf16 on a CPU"};
  loss_scale_.on = precision_ == at::kHalf;
  // What a script does with its pictures is not known: it gets f32.
  const bool scripted = !params_.torchscript.path.empty();
  floats_ = PictureFloats(params_, sizes_, device_, scripted ? at::kFloat : precision_);
  if (floats_.without_kernels())
    reporter_->log("converts images to floats on the CPU, because Brigade was built without nvcc");
  BRIGADE_TRY(take_model());
  if (!params_.weights.path.empty() && context.saved.empty()) BRIGADE_TRY(begin_with_weights());
  model_->to(device_);
  for (at::Tensor& parameter : model_->parameters())
    if (params_.channels_last && parameter.dim() == 4)
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  if (params_.train) optimizer_ = make_optimizer(params_, model_->parameters());
  if (!context.saved.empty()) BRIGADE_TRY(restore(context.saved));
  BRIGADE_TRY(ranks_.join(context, params_, device_, *model_, steps_));
  BRIGADE_TRY(feed_.open(context, device_));
  return loss_file_.open(params_.loss_file.path, loss_bytes_);
}

/// One source trains. Several are `train` and `test`, and give images of one shape.
Result<void> TorchClassifier::find_sources(const Ports& inputs) {
  if (const TensorType* image = inputs.find("image")) return look_at(*image);
  if (!params_.train)
    return Error{"`train: false` needs exactly one source, for evaluation; write from: STAGE"};
  for (const TensorType& tensor : inputs.tensors) {
    const auto port = strip_suffix(tensor.name, ".image");
    if (!port) continue;
    if (*port != kTrainPort && *port != kTestPort)
      return Error{concat("several sources must be named train and test, found ", quote(*port),
                          "; write from: {train: ..., test: ...} and join: epochs")};
    has_test_ |= *port == kTestPort;
    BRIGADE_TRY(look_at(tensor));
  }
  return {};
}

Result<void> TorchClassifier::look_at(const TensorType& image) {
  if (image_.rank() > 0 && !(image_ == image.bounds()))
    return Error{concat("train and test need images of the same shape, found ", shape_text(image_),
                        " and ", shape_text(image.bounds()))};
  image_ = image.bounds();
  BRIGADE_ASSIGN(sizes_, picture_sizes(image, params_.layout));
  return {};
}

Result<void> TorchClassifier::take_model() {
  const std::string& path = params_.torchscript.path;
  if (path.empty()) {
    model_ = make_model(params_, {floats_.height(), floats_.width(), sizes_.channels});
    return {};
  }
  auto loaded = load_scripted_model(path, {sizes_.channels, floats_.height(), floats_.width()},
                                    params_.classes, params_.train);
  if (!loaded) return loaded.error().within("torchscript");
  model_ = std::move(*loaded);
  return {};
}

Result<void> TorchClassifier::begin_with_weights() {
  const std::string& path = params_.weights.path;
  const auto which = params_.new_head ? WeightsFor::all_but_the_last : WeightsFor::all_layers;
  auto loaded = load_weights(*model_, path, which);
  if (!loaded) return loaded.error().within("weights");
  reporter_->log(concat("loaded ", *loaded, " tensors from ", path));
  return {};
}

void TorchClassifier::set_learning_rate(const SampleInfo& first) {
  const std::uint64_t step = steps_ + train_.pending() + 1;
  const double risen = step < params_.warmup_steps
                           ? static_cast<double>(step) / static_cast<double>(params_.warmup_steps)
                           : 1;
  for (auto& group : optimizer_->param_groups())
    group.options().set_lr(params_.lr * risen * cosine_at(params_, first, epoch_samples_, epochs_));
}

Result<void> TorchClassifier::train(const Inputs& in) {
  BRIGADE_ASSIGN(const BatchFeed::Tensors batch, feed_.bring(in, floats_.without_kernels()));
  BRIGADE_ASSIGN(const at::Tensor images,
                 floats_.of(in, batch.images, PictureFloats::For::training));
  epoch_ = in.info().epoch;
  set_learning_rate(in.info());
  optimizer_->zero_grad();
  // What a script draws (dropout) is the same in a run that goes on from a checkpoint.
  if (!params_.torchscript.path.empty()) torch::manual_seed(seed_ + steps_ + train_.pending());
  const at::Tensor scores = scores_of(images);
  const at::Tensor loss = at::cross_entropy_loss(scores, batch.labels, {}, at::Reduction::Mean,
                                                 kIgnoredLabel, params_.label_smoothing);
  loss_scale_.scaled(loss).backward();
  BRIGADE_TRY(step(in.samples()));
  const at::Tensor right = scores.detach().argmax(1) == classes_of(batch.labels);
  train_.add({loss.detach(), right.sum(), in.samples()});
  const std::size_t pending_max = device_.is_cpu() ? 1 : kPendingStepsMax;
  return train_.pending() < pending_max ? Result<void>() : read_losses();
}

/// f32 [B, classes].
at::Tensor TorchClassifier::scores_of(const at::Tensor& images, bool test) {
  const Autocast autocast(device_, precision_);
  if (!test) return training_scores(*model_, images).to(at::kFloat);
  model_->eval();
  return model_->forward(images).to(at::kFloat);
}

/// A batch whose samples are all left out: the other ranks take a step meanwhile.
Result<void> TorchClassifier::train_none() {
  optimizer_->zero_grad();
  return step(0);
}

Result<void> TorchClassifier::step(std::int64_t samples) {
  BRIGADE_TRY(ranks_.average(samples));
  if (!loss_scale_.unscale(model_->parameters())) return {};
  if (params_.clip_norm > 0)
    torch::nn::utils::clip_grad_norm_(model_->parameters(), params_.clip_norm);
  optimizer_->step();
  return {};
}

/// At the end of an epoch and before saving there may be none, and the sums begin anew: what was
/// reported last stays.
Result<void> TorchClassifier::read_losses() {
  if (train_.pending() == 0) return {};
  BRIGADE_TRY(train_.read([&](double loss) -> Result<void> {
    ++steps_;
    if (loss_file_.is_open())
      loss_file_.add(concat(epoch_ + 1, ',', steps_, ',', static_cast<float>(loss), '\n'));
    if (std::isfinite(loss)) return {};
    return Error{concat("the loss is ", loss, " at step ", steps_, " (epoch ", epoch_ + 1,
                        "); try a smaller lr, found ", params_.lr)};
  }));
  reporter_->report("loss", train_.loss());
  return {};
}

Result<void> TorchClassifier::evaluate(const Inputs& in) {
  const at::NoGradGuard no_gradients;
  BRIGADE_ASSIGN(const BatchFeed::Tensors batch, feed_.bring(in, floats_.without_kernels()));
  const at::Tensor classes = classes_of(batch.labels);
  BRIGADE_ASSIGN(const at::Tensor images,
                 floats_.of(in, batch.images, PictureFloats::For::evaluation));
  const at::Tensor scores = scores_of(images, true);
  const at::Tensor right = scores.argmax(1) == classes;
  Tally::Step step{at::cross_entropy_loss(scores, batch.labels), right.sum(), in.samples()};
  by_class_.add(classes, right);
  if (params_.classes > kFewClasses)
    step.near_hits = (std::get<1>(scores.topk(kBestScores, 1)) == classes.unsqueeze(1)).sum();
  test_.add(std::move(step));
  return {};
}

Result<void> TorchClassifier::train_end(std::uint32_t epoch) {
  BRIGADE_TRY(read_losses());
  epoch_samples_ = static_cast<double>(train_.samples());
  if (epoch >= epochs_done_) {  // an end may come twice
    BRIGADE_TRY(ranks_.be_alike());
    BRIGADE_TRY(ranks_.sum(train_));
  }
  epochs_done_ = epoch + 1;
  reporter_->report("train_accuracy", train_.accuracy());
  if (!has_test_)
    reporter_->log(concat("epoch ", epoch + 1, ": loss ", three_decimals(train_.loss()),
                          ", train accuracy ", three_decimals(train_.accuracy())));
  BRIGADE_TRY(loss_file_.write());
  if (!has_test_) train_ = Tally();
  return {};
}

Result<void> TorchClassifier::test_end(std::uint32_t epoch) {
  BRIGADE_TRY(test_.read([](double) { return Result<void>(); }));
  if (epoch >= tested_epochs_) BRIGADE_TRY(ranks_.sum(test_));
  tested_epochs_ = epoch + 1;
  reporter_->report("accuracy", test_.accuracy());
  if (params_.classes > kFewClasses) reporter_->report("accuracy_top5", test_.near_accuracy());
  reporter_->report("test_loss", test_.loss());
  const Tally& learned = params_.train ? train_ : test_;
  reporter_->log(concat("epoch ", epoch + 1, ": accuracy ", three_decimals(test_.accuracy()),
                        ", loss ", three_decimals(learned.loss())));
  report_classes(epoch);
  test_ = Tally();
  train_ = Tally();
  return {};
}

void TorchClassifier::report_classes(std::uint32_t epoch) {
  const auto shares = by_class_.accuracies();
  if (params_.classes <= kFewClasses) {
    for (const auto& [name, accuracy] : shares)
      reporter_->report(concat("accuracy of ", name), accuracy);
  } else if (!shares.empty()) {
    reporter_->log(concat("epoch ", epoch + 1, ": least accurate: ", least_accurate(shares)));
  }
  by_class_.begin_anew();
}

/// Model and optimizer, as an archive that torch.jit.load() of Python reads as well, and beside
/// them what the reports and the schedule of a resumed run need.
Result<void> TorchClassifier::save_to(std::string& bytes) {
  BRIGADE_TRY(read_losses());
  BRIGADE_TRY(test_.read([](double) { return Result<void>(); }));
  BRIGADE_TRY(loss_file_.write());
  torch::serialize::OutputArchive archive, model, optimizer;
  model_->save(model);
  if (optimizer_) optimizer_->save(optimizer);
  archive.write("model", model);
  archive.write("optimizer", optimizer);
  for (const auto& [name, value] : counts())
    archive.write(name, c10::IValue(static_cast<std::int64_t>(*value)));
  for (const auto& [name, value] : sums()) archive.write(name, c10::IValue(*value));
  by_class_.save(archive);
  archive.write("loss_bytes", c10::IValue(static_cast<std::int64_t>(loss_file_.bytes())));
  archive.save_to([&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  return {};
}

Result<void> TorchClassifier::restore(std::string_view bytes) {
  torch::serialize::InputArchive archive, model, optimizer;
  archive.load_from(bytes.data(), bytes.size(), device_);
  archive.read("model", model);
  archive.read("optimizer", optimizer);
  model_->load(model);
  if (optimizer_) optimizer_->load(optimizer);
  c10::IValue value;
  for (const auto& [name, count] : counts()) {
    if (!archive.try_read(name, value)) continue;  // saved by a version that did not count it
    *count = static_cast<std::uint64_t>(value.toInt());
  }
  for (const auto& [name, sum] : sums())
    if (archive.try_read(name, value)) *sum = value.toDouble();
  by_class_.load(archive);
  archive.read("loss_bytes", value);
  loss_bytes_ = static_cast<std::uint64_t>(value.toInt());
  return {};
}

}  // namespace
}  // namespace brigade

BRIGADE_MODULE(brigade::stage_body<brigade::TorchClassifier>("torch_classifier"))
