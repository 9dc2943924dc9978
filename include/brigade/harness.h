#pragma once

// Runs one stage without graph, processes or shared memory: parameters as texts, tensors
// in, tensors out. It does what the runtime promises (parameters checked, ports from the
// contract, legal call order) and checks what the stage promises: outputs start as 0xA5 and
// end in guard bytes, so that missing elements and writes beyond the end are both detected.
//
//   auto stage = StageHarness::open(*types.find("augment_image"), {.params = {{"crop", "28"}},
//                                   .inputs = {{"image", u8, {28, 28, 1}}}}).value();
//   auto call = stage->process({image}, {.id = 17}).value();   // call.outputs[0]

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <brigade/harness/params.h>
#include <brigade/harness/tensor.h>
#include <brigade/stage_types.h>
#include <brigade/text.h>

namespace brigade::testing_support {

class RecordingReporter : public Reporter {
 public:
  void report(std::string_view name, double value) override { numbers[std::string(name)] = value; }
  void report(std::string_view name, std::uint64_t value) override {
    counts[std::string(name)] = value;
  }
  void log(std::string_view line) override { lines.emplace_back(line); }

  std::map<std::string, double> numbers;
  std::map<std::string, std::uint64_t> counts;
  std::vector<std::string> lines;
};

struct HarnessOptions {
  ParamTexts params;
  Ports inputs;              ///< types per sample
  OpenContext context = {};  ///< stage, seed, threads, device, ...; the rest is filled in
};

/// What one call returned and wrote.
struct HarnessCall {
  Next next = Next::emit;
  std::vector<HostTensor> outputs;
  /// Of a per-sample stage that makes several samples of each (expand): the second and so
  /// on.
  std::vector<std::vector<HostTensor>> more;

  const HostTensor& operator[](std::string_view name) const { return of(0, name); }
  /// Of sample `slot` of those that were made.
  const HostTensor& of(std::size_t slot, std::string_view name) const {
    const auto& tensors = slot == 0 ? outputs : more.at(slot - 1);
    for (const HostTensor& output : tensors)
      if (output.name == name) return output;
    BRIGADE_CHECK(false, "no output", name);
    return outputs.front();
  }
};

class StageHarness {
 public:
  static Result<std::unique_ptr<StageHarness>> open(const StageType& type, HarnessOptions options) {
    std::unique_ptr<StageHarness> self(new StageHarness);
    BRIGADE_ASSIGN(self->params_, make_params(type.contract, options.params));
    const FileMetadata metadata = read_metadata(type.contract, options.params);
    BRIGADE_ASSIGN(self->outputs_,
                   type.contract.outputs(self->params_.get(), options.inputs, metadata));
    OpenContext& context = self->context_ = std::move(options.context);
    if (context.stage.empty()) context.stage = type.contract.type;
    context.stream = stream_id(context.stage);
    context.inputs = std::move(options.inputs);
    context.outputs = self->outputs_;
    context.reporter = &self->reports;
    context.params_data = self->params_.get();
    context.params_type = type.contract.params_type;
    if (type.contract.numbering == Numbering::expand) {
      BRIGADE_ASSIGN(self->of_each_, type.contract.outputs_per_input(self->params_.get()));
    }
    if (type.indexed) {
      self->producer_ = type.make_producer();
      BRIGADE_TRY(self->producer_->open(context));
    } else {
      self->stage_ = type.make_stage();
      BRIGADE_TRY(self->stage_->open(context));
    }
    return self;
  }

  Producer& producer() { return *producer_; }
  const Ports& outputs() const { return outputs_; }

  /// Sample `index` of a producer.
  Result<HarnessCall> read(std::uint64_t index) {
    return call({}, 1, false, [&](Frame&, Outputs& out) { return producer_->read(index, out); });
  }
  /// One sample.
  Result<HarnessCall> process(std::vector<HostTensor> sample, SampleInfo info = {},
                              std::string port = {}) {
    Frame frame = frame_of(sample, {&info, 1}, false);
    return run(frame, std::move(port));
  }
  /// One batch: dimension 0 of every tensor.
  Result<HarnessCall> process_batch(std::vector<HostTensor> batch, std::vector<SampleInfo> infos,
                                    std::string port = {}) {
    Frame frame = frame_of(batch, infos, true);
    return run(frame, std::move(port));
  }
  Result<void> epoch_end(std::uint32_t epoch, std::string_view source = {}) {
    return stage_->epoch_end({epoch, source});
  }
  Result<std::string> save() { return stage_->save(); }
  Result<void> close() { return stage_ ? stage_->close() : producer_->close(); }

  RecordingReporter reports;

 private:
  static constexpr std::size_t kGuardBytes = 64;
  static constexpr std::byte kFresh{0xA5};

  StageHarness() = default;

  Result<HarnessCall> run(Frame& in, std::string port) {
    in.seed = context_.seed;
    in.stream = context_.stream;
    in.port = std::move(port);
    return call(in.infos, in.samples, in.batched,
                [&](Frame&, Outputs& out) { return stage_->process(Inputs(in), out); });
  }

  template <class Body>
  Result<HarnessCall> call(std::span<const SampleInfo> infos, std::int64_t slots, bool batched,
                           Body body) {
    HarnessCall out;
    const auto of_each = static_cast<std::int64_t>(of_each_);
    out.outputs = fresh(batched ? slots * of_each : 1, batched);
    if (!batched)
      for (std::int64_t slot = 1; slot < of_each; ++slot) out.more.push_back(fresh(1, false));
    std::vector<Frame> frames(out.more.size() + 1);
    for (std::size_t f = 0; f < frames.size(); ++f) {
      auto& tensors = f == 0 ? out.outputs : out.more[f - 1];
      if (!tensors.empty()) frames[f] = frame_of(tensors, infos, batched);
      for (std::size_t i = 0; i < frames[f].fields.size(); ++i)
        frames[f].fields[i].ragged = outputs_.tensors[i].ragged();
    }
    frames.front().samples = batched ? slots * of_each : of_each;
    Outputs outputs(frames.front());
    BRIGADE_ASSIGN(out.next, body(frames.front(), outputs));
    for (std::size_t f = 0; f < frames.size(); ++f)
      for (std::size_t i = 0; i < frames[f].fields.size(); ++i)
        finish(frames[f].fields[i], f == 0 ? out.outputs[i] : out.more[f - 1][i]);
    return out;
  }

  std::vector<HostTensor> fresh(std::int64_t slots, bool batched) const {
    std::vector<HostTensor> tensors;
    for (const TensorType& type : outputs_.tensors) {
      Shape shape;
      if (batched) shape.push_back(slots);
      for (auto size : type.bounds()) shape.push_back(size);
      const auto bytes = static_cast<std::size_t>(shape.elements()) * dtype_bytes(type.dtype);
      tensors.push_back({type.name, type.dtype, shape, {}});
      tensors.back().bytes.assign(bytes + kGuardBytes, kFresh);
    }
    return tensors;
  }

  void finish(const Field& field, HostTensor& output) {
    for (std::size_t i = output.bytes.size() - kGuardBytes; i < output.bytes.size(); ++i)
      BRIGADE_CHECK(output.bytes[i] == kFresh, "written beyond the end of", field.name);
    output.shape = field.shape;
    output.bytes.resize(static_cast<std::size_t>(field.shape.elements()) *
                        dtype_bytes(output.dtype));
  }

  std::shared_ptr<void> params_;
  Ports outputs_;
  std::uint64_t of_each_ = 1;
  OpenContext context_;
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace brigade::testing_support
