// The body of torch_classifier. One replica trains one model: every batch of the source that is not
// called `test` is one step; a batch of `test` is only evaluated. Batches are read where they lie
// in shared memory, copied to the device as they are (u8), and converted there.

#include <sys/stat.h>
#include <torch/nn/module.h>
#include <torch/nn/utils/clip_grad.h>  // needs what is above it
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <cmath>
#include <iomanip>
#include <numbers>
#include <sstream>

#include <brigade/module.h>
#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/shared_path.h"
#include "stages/torch/classifier_models.h"
#include "stages/torch/tally.h"
#include "stages/torch/torch_adapter.h"
#include "stages/torch/torch_classifier_contract.h"
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

std::string three_decimals(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << value;
  return text.str();
}

class TorchClassifier : public Stage {
 public:
  ~TorchClassifier() override { static_cast<void>(write_losses()); }
  Result<void> open(const OpenContext& context) override {
    return torch_guarded([&] { return open_guarded(context); });
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    if (in.samples() == 0) return Next::emit;
    BRIGADE_TRY(check_labels(in));
    const bool test = has_test_ && in.port() == kTestPort;
    BRIGADE_TRY(torch_guarded([&] { return test ? evaluate(in) : train(in); }));
    samples_ += static_cast<std::uint64_t>(in.samples());
    reporter_->report("samples", samples_);
    return Next::emit;
  }
  Result<void> epoch_end(const EpochEnd& end) override {
    return torch_guarded([&] {
      return has_test_ && end.source == kTestPort ? test_end(end.epoch) : train_end(end.epoch);
    });
  }
  Result<std::string> save() override {
    std::string bytes;
    BRIGADE_TRY(torch_guarded([&] { return save_to(bytes); }));
    return bytes;
  }

 private:
  Result<void> open_guarded(const OpenContext& context);
  Result<void> find_sources(const Ports& inputs);
  Result<void> begin_with_weights();
  void make_optimizer();
  double cosine_at(const SampleInfo& first) const;
  void set_learning_rate(const SampleInfo& first);
  Result<void> check_labels(const Inputs& in) const;
  at::Tensor images_of(const Inputs& in) const;
  Result<void> train(const Inputs& in);
  Result<void> read_losses();
  Result<void> evaluate(const Inputs& in);
  Result<void> train_end(std::uint32_t epoch);
  Result<void> test_end(std::uint32_t epoch);
  Result<void> open_loss_file(bool anew);
  void add_loss_line(std::string_view line);
  Result<void> write_losses();
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
            {"test_near_hits", &test_.sums().near_hits}};
  }
  std::vector<std::pair<std::string, double*>> sums() {
    return {{"epoch_samples", &epoch_samples_},
            {"train_loss", &train_.sums().loss},
            {"test_loss", &test_.sums().loss}};
  }

  Params params_;
  Reporter* reporter_ = nullptr;
  bool has_test_ = false;
  Shape image_;  // [H, W, C]
  at::Device device_ = at::kCPU;
  std::shared_ptr<ClassifierModel> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  OwnedFd loss_file_;
  std::string losses_;            // lines that are not in it yet
  std::uint64_t loss_bytes_ = 0;  // of it and them; at first, at the checkpoint
  std::uint64_t samples_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epochs_done_ = 0;
  std::uint32_t epoch_ = 0;
  double epochs_ = 1;
  double epoch_samples_ = 0;  // 0: not known yet
  Tally train_;
  Tally test_;
};

Result<void> TorchClassifier::open_guarded(const OpenContext& context) {
  params_ = context.params<Params>();
  reporter_ = context.reporter;
  epochs_ = context.epochs;
  if (context.replicas != 1)
    return Error{
        concat("trains one model in one process: replicas must be 1, found ", context.replicas)};
  BRIGADE_TRY(find_sources(context.inputs));
  BRIGADE_TRY(prepare_torch(context.threads, context.seed));
  BRIGADE_ASSIGN(device_, choose_device(context.device, context.replica, context.replicas));
  model_ = make_model(params_, image_);
  if (!params_.weights.path.empty() && context.saved.empty()) BRIGADE_TRY(begin_with_weights());
  model_->to(device_);
  make_optimizer();
  if (!context.saved.empty()) BRIGADE_TRY(restore(context.saved));
  return open_loss_file(context.saved.empty());
}

/// Resumed from a checkpoint, what was written after it is cut off.
Result<void> TorchClassifier::open_loss_file(bool anew) {
  const std::string& path = params_.loss_file.path;
  if (path.empty()) return {};
  auto opened = open_to_append(path, Existing::anything);
  if (!opened) return opened.error().within("loss_file");
  loss_file_ = std::move(*opened);
  struct stat there {};
  const bool has_size = fstat(loss_file_.get(), &there) == 0 && S_ISREG(there.st_mode);
  const auto size = static_cast<std::uint64_t>(there.st_size);
  loss_bytes_ = anew || !has_size ? 0 : std::min(size, loss_bytes_);
  if (has_size && ftruncate(loss_file_.get(), static_cast<off_t>(loss_bytes_)) != 0)
    return error_of_errno(concat("loss_file: cannot cut off ", path));
  if (loss_bytes_ == 0) add_loss_line("epoch,step,loss\n");
  return write_losses();
}

void TorchClassifier::add_loss_line(std::string_view line) {
  losses_ += line;
  loss_bytes_ += line.size();
}

Result<void> TorchClassifier::write_losses() {
  if (loss_file_.get() < 0 || write_all(loss_file_.get(), std::exchange(losses_, {}))) return {};
  return error_of_errno(concat("cannot write loss_file ", params_.loss_file.path));
}

/// One source trains. Several are `train` and `test`, and give images of one shape.
Result<void> TorchClassifier::find_sources(const Ports& inputs) {
  if (const TensorType* image = inputs.find("image")) {
    image_ = image->bounds();
    return {};
  }
  for (const TensorType& tensor : inputs.tensors) {
    const auto port = strip_suffix(tensor.name, ".image");
    if (!port) continue;
    if (*port != kTrainPort && *port != kTestPort)
      return Error{concat("of several sources one is called train and one test, found ",
                          quote(*port), "; write from: {train: ..., test: ...} and join: epochs")};
    has_test_ |= *port == kTestPort;
    if (image_.rank() > 0 && !(image_ == tensor.bounds()))
      return Error{concat("train and test need images of one shape, found ", shape_text(image_),
                          " and ", shape_text(tensor.bounds()))};
    image_ = tensor.bounds();
  }
  return {};
}

Result<void> TorchClassifier::begin_with_weights() {
  const std::string& path = params_.weights.path;
  const auto which = params_.new_head ? WeightsFor::all_but_the_last : WeightsFor::all_layers;
  auto loaded = load_weights(*model_, path, which);
  if (!loaded) return loaded.error().within("weights");
  reporter_->log(concat("begins with ", *loaded, " tensors of ", path));
  return {};
}

void TorchClassifier::make_optimizer() {
  const std::vector<at::Tensor> parameters = model_->parameters();
  switch (params_.optimizer) {
    case Params::Optimizer::sgd:
      optimizer_ =
          std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(params_.lr)
                                                              .momentum(params_.momentum)
                                                              .weight_decay(params_.weight_decay));
      break;
    case Params::Optimizer::adam:
      optimizer_ = std::make_unique<torch::optim::Adam>(
          parameters, torch::optim::AdamOptions(params_.lr).weight_decay(params_.weight_decay));
      break;
    case Params::Optimizer::adamw:
      optimizer_ = std::make_unique<torch::optim::AdamW>(
          parameters, torch::optim::AdamWOptions(params_.lr).weight_decay(params_.weight_decay));
      break;
  }
}

/// The cosine begins with the second epoch, when the length of an epoch is known.
double TorchClassifier::cosine_at(const SampleInfo& first) const {
  if (params_.schedule == Params::Schedule::constant || first.epoch == 0) return 1;
  const double done = epoch_samples_ > 0 ? static_cast<double>(first.index) / epoch_samples_ : 0;
  const double share = (first.epoch - 1 + std::min(done, 1.0)) / (epochs_ - 1);
  return 0.5 * (1 + std::cos(std::numbers::pi * std::min(share, 1.0)));
}

void TorchClassifier::set_learning_rate(const SampleInfo& first) {
  const std::uint64_t step = steps_ + train_.pending() + 1;
  const double risen = step < params_.warmup_steps
                           ? static_cast<double>(step) / static_cast<double>(params_.warmup_steps)
                           : 1;
  for (auto& group : optimizer_->param_groups())
    group.options().set_lr(params_.lr * cosine_at(first) * risen);
}

Result<void> TorchClassifier::check_labels(const Inputs& in) const {
  const auto labels = in["label"].as<std::int64_t>();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] >= 0 && labels[row] < params_.classes) continue;
    const SampleInfo& sample = in.info(static_cast<std::int64_t>(row));
    return Error{concat("sample ", sample.id, " has label ", labels[row], "; with classes: ",
                        params_.classes, " labels are 0 to ", params_.classes - 1)};
  }
  return {};
}

/// [B, C, H, W] floats on the device. The view of a batch in shared memory is read-only, so the
/// first step must make a copy.
at::Tensor TorchClassifier::images_of(const Inputs& in) const {
  const at::Tensor images = torch_view(in["image"]).to(device_).permute({0, 3, 1, 2});
  if (images.scalar_type() != at::kByte) return images;
  return images.to(at::kFloat).mul_(2.0 / 255).sub_(1);
}

Result<void> TorchClassifier::train(const Inputs& in) {
  const at::Tensor images = images_of(in);
  const at::Tensor labels = torch_view(in["label"]).to(device_);
  epoch_ = in.info().epoch;
  set_learning_rate(in.info());
  model_->train();
  optimizer_->zero_grad();
  const at::Tensor scores = model_->forward(images);
  const at::Tensor loss = at::cross_entropy_loss(scores, labels, {}, at::Reduction::Mean,
                                                 kIgnoredLabel, params_.label_smoothing);
  loss.backward();
  if (params_.clip_norm > 0)
    torch::nn::utils::clip_grad_norm_(model_->parameters(), params_.clip_norm);
  optimizer_->step();
  train_.add({loss.detach(), (scores.detach().argmax(1) == labels).sum(), in.samples()});
  const std::size_t pending_max = device_.is_cpu() ? 1 : kPendingStepsMax;
  return train_.pending() < pending_max ? Result<void>() : read_losses();
}

/// At the end of an epoch and before saving there may be none, and the sums begin anew: what was
/// reported last stays.
Result<void> TorchClassifier::read_losses() {
  if (train_.pending() == 0) return {};
  BRIGADE_TRY(train_.read([&](double loss) -> Result<void> {
    ++steps_;
    if (loss_file_.get() >= 0)
      add_loss_line(concat(epoch_ + 1, ',', steps_, ',', static_cast<float>(loss), '\n'));
    if (std::isfinite(loss)) return {};
    return Error{concat("the loss is ", loss, " at step ", steps_, " (epoch ", epoch_ + 1,
                        "); try a smaller lr, it is ", params_.lr)};
  }));
  reporter_->report("loss", train_.loss());
  return {};
}

Result<void> TorchClassifier::evaluate(const Inputs& in) {
  const at::NoGradGuard no_gradients;
  model_->eval();
  const at::Tensor labels = torch_view(in["label"]).to(device_);
  const at::Tensor scores = model_->forward(images_of(in));
  Tally::Step step{at::cross_entropy_loss(scores, labels), (scores.argmax(1) == labels).sum(),
                   in.samples()};
  if (params_.classes > kFewClasses)
    step.near_hits = (std::get<1>(scores.topk(kBestScores, 1)) == labels.unsqueeze(1)).sum();
  test_.add(std::move(step));
  return {};
}

Result<void> TorchClassifier::train_end(std::uint32_t epoch) {
  BRIGADE_TRY(read_losses());
  epoch_samples_ = static_cast<double>(train_.samples());
  epochs_done_ = epoch + 1;
  reporter_->report("train_accuracy", train_.accuracy());
  if (!has_test_)
    reporter_->log(concat("epoch ", epoch + 1, ": loss ", three_decimals(train_.loss()),
                          ", train accuracy ", three_decimals(train_.accuracy())));
  BRIGADE_TRY(write_losses());
  if (!has_test_) train_ = Tally();
  return {};
}

Result<void> TorchClassifier::test_end(std::uint32_t epoch) {
  BRIGADE_TRY(test_.read([](double) { return Result<void>(); }));
  reporter_->report("accuracy", test_.accuracy());
  if (params_.classes > kFewClasses) reporter_->report("accuracy_top5", test_.near_accuracy());
  reporter_->report("test_loss", test_.loss());
  reporter_->log(concat("epoch ", epoch + 1, ": accuracy ", three_decimals(test_.accuracy()),
                        ", loss ", three_decimals(train_.loss())));
  test_ = Tally();
  train_ = Tally();
  return {};
}

/// Model and optimizer, as an archive that torch.jit.load() of Python reads as well, and beside
/// them what the reports and the schedule of a resumed run need.
Result<void> TorchClassifier::save_to(std::string& bytes) {
  BRIGADE_TRY(read_losses());
  BRIGADE_TRY(test_.read([](double) { return Result<void>(); }));
  BRIGADE_TRY(write_losses());
  torch::serialize::OutputArchive archive, model, optimizer;
  model_->save(model);
  optimizer_->save(optimizer);
  archive.write("model", model);
  archive.write("optimizer", optimizer);
  for (const auto& [name, value] : counts())
    archive.write(name, c10::IValue(static_cast<std::int64_t>(*value)));
  for (const auto& [name, value] : sums()) archive.write(name, c10::IValue(*value));
  archive.write("loss_bytes",
                c10::IValue(static_cast<std::int64_t>(loss_file_.get() >= 0 ? loss_bytes_ : 0)));
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
  optimizer_->load(optimizer);
  c10::IValue value;
  for (const auto& [name, count] : counts()) {
    if (!archive.try_read(name, value)) continue;  // saved by a version that did not count it
    *count = static_cast<std::uint64_t>(value.toInt());
  }
  for (const auto& [name, sum] : sums()) {
    archive.read(name, value);
    *sum = value.toDouble();
  }
  archive.read("loss_bytes", value);
  loss_bytes_ = static_cast<std::uint64_t>(value.toInt());
  return {};
}

}  // namespace
}  // namespace brigade

BRIGADE_MODULE(brigade::stage_body<brigade::TorchClassifier>("torch_classifier"))
