#include "tests/conformance/exec_host.h"

#include <brigade/worker.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include <brigade/random.h>
#include <brigade/text.h>
#include "pipeline/config/graph/exec_params.h"
#include "stages/builtin.h"
#include "tests/conformance/test_stages.h"

namespace brigade::conformance {
namespace {

constexpr const char* kOption = "--exec-host";
const std::set<std::string> kTypes = {"synthetic", "digest", "shift", "sift",
                                      "toss",      "split",  "delay"};

YamlNode node_of(const ParamValue& value) {
  if (value.kind == ParamValue::Kind::null) return {};
  YamlNode node = YamlNode::list();
  for (const ParamValue& item : value.items) node.items.push_back(node_of(item));
  if (value.kind == ParamValue::Kind::list) return node;
  node = YamlNode::scalar(value.text);
  node.quoted = true;
  return node;
}

ParamValue param_of(const YamlNode& node) {
  if (node.is_scalar()) return ParamValue::scalar(node.text);
  ParamValue value;
  if (node.is_list()) value.kind = ParamValue::Kind::list;
  for (const YamlNode& item : node.items) value.items.push_back(param_of(item));
  return value;
}

Field field_of(const brigade_tensor& tensor, bool batched) {
  Field field;
  field.name = tensor.name;
  field.dtype = static_cast<DType>(tensor.dtype);
  field.ragged = (tensor.flags & BRIGADE_RAGGED) != 0;
  for (int i = 0; i < tensor.rank; ++i) field.shape.push_back(tensor.shape[i]);
  field.bounds = field.shape;
  for (int i = batched ? 1 : 0; i < tensor.rank; ++i) field.sample_shape.push_back(tensor.shape[i]);
  field.sample_bounds = field.sample_shape;
  field.data = static_cast<std::byte*>(tensor.data);
  if (batched)
    field.sample_stride = static_cast<std::size_t>(tensor.strides[0]) * tensor.element_bytes;
  return field;
}

/// The process: a stage, and the tasks that it asks for.
class Host {
 public:
  Host(const std::string& type, std::string random, bool wrong)
      : wrong_(wrong), stream_(stream_id(random)) {
    info_.size = sizeof info_;
    expect(brigade_worker_attach(&worker_) == BRIGADE_OK, "attach");
    expect(brigade_worker_describe(worker_, &info_) == BRIGADE_OK, "describe");
    types_ = conformance_stage_types().append(builtin_stage_types());
    type_ = types_.find(type);
    params_ = type_->contract.make_params();
    const YamlNode params = exec_param_node(info_.params);
    for (const YamlEntry& entry : params.entries) {
      const ParamSpec* const spec = type_->contract.find_param(entry.key);
      expect(set_param(*spec, params_.get(), param_of(entry.value)).ok(), "a parameter");
    }
    context_.stage = info_.stage;
    context_.replica = info_.replica;
    context_.replicas = info_.replicas;
    context_.seed = info_.seed;
    context_.stream = stream_;
    context_.samples_max = static_cast<std::int64_t>(info_.samples_max);
    context_.params_data = params_.get();
    context_.params_type = type_->contract.params_type;
  }

  void run() {
    open();
    brigade_task task{};
    task.size = sizeof task;
    brigade_status status = BRIGADE_OK;
    while ((status = brigade_worker_next(worker_, &task)) == BRIGADE_OK) serve(task);
    expect(status == BRIGADE_END, "next");
    brigade_worker_close(worker_);
  }

 private:
  void open() {
    if (type_->indexed) {
      producer_ = type_->make_producer();
      expect(producer_->open(context_).ok(), "open");
    } else {
      stage_ = type_->make_stage();
      expect(stage_->open(context_).ok(), "open");
    }
  }

  void serve(const brigade_task& task) {
    Frame in = frame(task, task.inputs, brigade_worker_input);
    Frame out = frame(task, task.outputs, brigade_worker_output);
    in.port = task.source;
    std::vector<SampleInfo> infos;
    for (std::uint64_t i = 0; i < task.samples; ++i) infos.push_back(sample(i));
    in.infos = infos;
    Outputs outputs(out);
    const Result<Next> answer = producer_ ? producer_->read(in.infos.front().id, outputs)
                                          : stage_->process(Inputs(in), outputs);
    if (!answer) {
      brigade_worker_error(worker_, answer.error().message.c_str());
    } else if (*answer == Next::drop) {
      expect(brigade_worker_drop(worker_) == BRIGADE_OK, "drop");
    } else {
      finish(out, task);
    }
  }

  void finish(Frame& out, const brigade_task& task) {
    for (const Field& field : out.fields)
      if (field.ragged && info_.batched == 0)
        expect(brigade_worker_resize(worker_, field.name.c_str(), field.shape.begin(),
                                     field.shape.rank()) == BRIGADE_OK,
               "resize");
    if (wrong_ && task.samples > 0 && !out.fields.empty())
      out.fields.front().data[0] ^= producer_ ? std::byte{4} : std::byte{1};
    expect(brigade_worker_finish(worker_) == BRIGADE_OK, "finish");
  }

  void expect(bool fine, const char* what) {
    if (fine) return;
    if (worker_ != nullptr)
      brigade_worker_fail(worker_, concat(what, ": ", brigade_last_error()).c_str());
    std::exit(1);
  }

  using Show = brigade_status (*)(const brigade_worker*, std::uint64_t, brigade_tensor*);
  Frame frame(const brigade_task& task, std::uint64_t tensors, Show show) {
    Frame frame;
    frame.samples = static_cast<std::int64_t>(task.samples);
    frame.batched = info_.batched != 0;
    frame.seed = info_.seed;
    frame.stream = stream_;
    for (std::uint64_t i = 0; i < tensors; ++i) {
      brigade_tensor tensor{};
      tensor.size = sizeof tensor;
      expect(show(worker_, i, &tensor) == BRIGADE_OK, "tensor");
      frame.fields.push_back(field_of(tensor, frame.batched));
    }
    return frame;
  }

  SampleInfo sample(std::uint64_t i) {
    brigade_sample known{};
    known.size = sizeof known;
    expect(brigade_worker_sample(worker_, i, &known) == BRIGADE_OK, "sample");
    std::uint64_t word = 0;
    expect(brigade_worker_random(worker_, i, &word, 1) == BRIGADE_OK, "random");
    const auto epoch = static_cast<std::uint32_t>(known.epoch);
    expect(word == Philox(info_.seed, stream_, epoch, known.id).next64(), "the random numbers");
    return {known.number, known.index, known.id, epoch};
  }

  const bool wrong_;
  const std::uint64_t stream_;
  brigade_worker* worker_ = nullptr;
  brigade_worker_info info_{};
  StageTypes types_;
  const StageType* type_ = nullptr;
  std::shared_ptr<void> params_;
  OpenContext context_;
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace

int make_programs(Plan& plan, bool wrong) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  int made = 0;
  for (PlanStage& stage : plan.stages) {
    if (!kTypes.contains(stage.type) || stage.fan_out != 1 || stage.flat_map_outputs != 0) continue;
    for (auto& [name, value] : stage.params) {
      if (stage.type == "synthetic" && name == "count") stage.count = std::stoull(value.text);
      value = ParamValue::scalar(exec_param_text(node_of(value)));
    }
    stage.exec = {self, kOption, stage.name, stage.type, stage.random, wrong ? "wrong" : ""};
    stage.exec_folder = "/";
    stage.type = "exec";
    ++made;
  }
  return made;
}

void run_if_program(int argc, char** argv) {
  if (argc != 6 || std::string(argv[1]) != kOption) return;
  Host(argv[3], argv[4], std::string(argv[5]) == "wrong").run();
  std::exit(0);
}

}  // namespace brigade::conformance
