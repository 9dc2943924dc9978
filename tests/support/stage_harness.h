#pragma once

// Runs one stage without graph, processes or shared memory: parameters as texts, tensors in,
// tensors out. It does what the runtime promises (parameters checked, ports from the contract,
// legal call order) and checks what the stage promises: outputs start as 0xA5 and end in guard
// bytes, so that elements it forgot and elements it wrote too many both show.
//
//   auto stage = StageHarness::open(*types.find("augment_image"), {.params = {{"crop", "28"}},
//                                   .inputs = {{"image", u8, {28, 28, 1}}}}).value();
//   auto call = stage->process({image}, {.id = 17}).value();   // call.outputs[0]

#include <zlib.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "stages/api/stage_types.h"
#include "tests/support/host_tensor.h"

namespace brigade::testing_support {

/// Parameters by name; a text in brackets is a list, one in braces a map: "[1, 2]",
/// "{a: x, b: [y, z]}".
using ParamTexts = std::vector<std::pair<std::string, std::string>>;

/// The pieces between commas that are in no bracket.
inline std::vector<std::string_view> param_items(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char at = i < text.size() ? text[i] : ',';
    depth += (at == '[' || at == '{') - (at == ']' || at == '}');
    if (at != ',' || depth > 0) continue;
    if (const auto item = trim(text.substr(begin, i - begin)); !item.empty()) items.push_back(item);
    begin = i + 1;
  }
  return items;
}

inline ParamValue param_value(std::string_view text) {
  ParamValue out;
  if (const auto list = strip_prefix(text, "[")) {
    out.kind = ParamValue::Kind::list;
    for (const auto item : param_items(strip_suffix(*list, "]").value()))
      out.items.push_back(param_value(item));
    return out;
  }
  if (const auto map = strip_prefix(text, "{")) {
    out.kind = ParamValue::Kind::map;
    for (const auto item : param_items(strip_suffix(*map, "}").value())) {
      const std::size_t colon = item.find(": ");
      BRIGADE_CHECK(colon != item.npos, item);
      out.entries.emplace_back(item.substr(0, colon), param_value(trim(item.substr(colon + 1))));
    }
    return out;
  }
  return ParamValue::scalar(std::string(text));
}

inline Result<std::shared_ptr<void>> make_params(const StageContract& contract,
                                                 const ParamTexts& texts) {
  std::shared_ptr<void> params = contract.make_params();
  for (const auto& [name, text] : texts) {
    const ParamSpec* spec = contract.find_param(name);
    if (spec == nullptr) return Error{concat("unknown parameter ", quote(name))};
    if (auto set = set_param(*spec, params.get(), param_value(text)); !set)
      return set.error().within(name);
  }
  return params;
}

inline void read_fact(Facts& facts, const std::string& name, const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return;
  FileFact fact;
  fact.header.resize(kFactBytesMax);
  const int got = gzread(file, fact.header.data(), static_cast<unsigned>(kFactBytesMax));
  fact.header.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  gzclose(file);
  facts.files.push_back({name, std::move(fact)});
}

/// The facts that the contract asks for, from the files themselves; missing files give none.
inline Facts read_facts(const StageContract& contract, const ParamTexts& texts) {
  Facts facts;
  for (const auto& [name, text] : texts) {
    if (std::find(contract.facts.begin(), contract.facts.end(), name) == contract.facts.end())
      continue;
    const ParamValue value = param_value(text);
    if (value.kind == ParamValue::Kind::scalar) read_fact(facts, name, text);
    for (const auto& [key, path] : value.entries)
      read_fact(facts, concat(name, ".", key), path.text);
  }
  return facts;
}

class RecordingReporter : public Reporter {
 public:
  void report(std::string_view name, double value) override { numbers[std::string(name)] = value; }
  void report(std::string_view name, std::uint64_t value) override {
    counts[std::string(name)] = value;
  }
  void say(std::string_view line) override { lines.emplace_back(line); }

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

  const HostTensor& operator[](std::string_view name) const {
    for (const HostTensor& output : outputs)
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
    const Facts facts = read_facts(type.contract, options.params);
    BRIGADE_ASSIGN(self->outputs_,
                   type.contract.outputs(self->params_.get(), options.inputs, facts));
    OpenContext& context = self->context_ = std::move(options.context);
    if (context.stage.empty()) context.stage = type.contract.type;
    context.stream = stream_id(context.stage);
    context.inputs = std::move(options.inputs);
    context.outputs = self->outputs_;
    context.reporter = &self->reports;
    context.params_data = self->params_.get();
    context.params_type = type.contract.params_type;
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
    Frame frame = frame_of(sample, {info}, false);
    return run(frame, std::move(port));
  }
  /// One batch: dimension 0 of every tensor.
  Result<HarnessCall> process_batch(std::vector<HostTensor> batch, std::vector<SampleInfo> infos,
                                    std::string port = {}) {
    Frame frame = frame_of(batch, std::move(infos), true);
    return run(frame, std::move(port));
  }
  Result<void> epoch_end(std::uint32_t epoch, std::string_view source = {}) {
    return stage_->epoch_end({epoch, source});
  }
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
    return call(in.samples, in.rows, in.batched,
                [&](Frame&, Outputs& out) { return stage_->process(Inputs(in), out); });
  }

  template <class Body>
  Result<HarnessCall> call(std::vector<SampleInfo> infos, std::int64_t rows, bool batched,
                           Body body) {
    HarnessCall out;
    for (const TensorType& type : outputs_.tensors) {
      Shape shape;
      if (batched) shape.push_back(rows);
      for (auto size : type.bounds()) shape.push_back(size);
      const auto bytes = static_cast<std::size_t>(shape.elements()) * dtype_bytes(type.dtype);
      out.outputs.push_back({type.name, type.dtype, shape, {}});
      out.outputs.back().bytes.assign(bytes + kGuardBytes, kFresh);
    }
    Frame frame;
    if (!out.outputs.empty()) frame = frame_of(out.outputs, std::move(infos), batched);
    for (std::size_t i = 0; i < frame.fields.size(); ++i)
      frame.fields[i].ragged = outputs_.tensors[i].ragged();
    Outputs slots(frame);
    BRIGADE_ASSIGN(out.next, body(frame, slots));
    for (std::size_t i = 0; i < frame.fields.size(); ++i) finish(frame.fields[i], out.outputs[i]);
    return out;
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
  OpenContext context_;
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace brigade::testing_support
