#include "stages/torch/scripted_model.h"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/serialize.h>

#include <optional>
#include <utility>

#include <brigade/text.h>
#include "stages/torch/torch_adapter.h"

namespace brigade {
namespace {

/// The same tensors, by the same names.
void add_tensors(const torch::jit::Module& from, torch::nn::Module& to) {
  for (const auto& parameter : from.named_parameters(false))
    to.register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
  for (const auto& buffer : from.named_buffers(false))
    to.register_buffer(buffer.name, buffer.value);
  for (const auto& child : from.named_children()) {
    const auto module = std::make_shared<torch::nn::Module>();
    add_tensors(child.value, *module);
    to.register_module(child.name, module);
  }
}

class ScriptedModel : public ClassifierModel {
 public:
  explicit ScriptedModel(torch::jit::Module script) : script_(std::move(script)) {
    add_tensors(script_, *this);
  }

  c10::IValue run(const at::Tensor& images) {
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    return script_.forward({images.contiguous()});
  }
  at::Tensor forward(const at::Tensor& images) override { return run(images).toTensor(); }
  void train(bool on) override {
    script_.train(on);
    ClassifierModel::train(on);
  }
  void keep_statistics() override {
    for (torch::jit::Module module : script_.modules())
      if (module.hasattr("running_mean")) module.train(false);
  }
  /// A script may have put another tensor in the place of a buffer.
  void save(torch::serialize::OutputArchive& archive) const override {
    const at::NoGradGuard no_gradients;
    const auto saved = named_buffers();
    for (const auto& buffer : script_.named_buffers())
      if (!buffer.value.is_same(saved[buffer.name])) saved[buffer.name].set_data(buffer.value);
    ClassifierModel::save(archive);
  }

 private:
  torch::jit::Module script_;
};

bool has_tensors(const c10::TypePtr& type) {
  if (type->isSubtypeOf(*c10::TensorType::get())) return true;
  if (const auto object = type->cast<c10::ClassType>()) return !object->is_module();
  for (const c10::TypePtr& inside : type->containedTypes())
    if (has_tensors(inside)) return true;
  return false;
}

/// An attribute with tensors that are neither parameters nor buffers; empty: there is none.
std::string unsaved_tensors(const torch::jit::Module& module, const std::string& prefix) {
  const c10::ClassTypePtr type = module.type();
  for (std::size_t i = 0; i < type->numAttributes(); ++i)
    if (!type->is_parameter(i) && !type->is_buffer(i) && has_tensors(type->getAttribute(i)))
      return prefix + type->getAttributeName(i);
  for (const auto& child : module.named_children())
    if (std::string found = unsaved_tensors(child.value, concat(prefix, child.name, "."));
        !found.empty())
      return found;
  return {};
}

/// An attribute that is set by a call and is neither a parameter nor a buffer.
std::string unsaved_setting(const torch::jit::Block* block) {
  for (const torch::jit::Node* node : block->nodes()) {
    if (node->kind() == c10::prim::SetAttr) {
      const std::string& name = node->s(c10::attr::name);
      const auto type = node->input(0)->type()->expect<c10::ClassType>();
      const auto slot = type->findAttributeSlot(name);
      const bool module = slot && type->is_module();
      if (!module || !(type->is_buffer(*slot) || type->is_parameter(*slot))) return name;
    }
    for (const torch::jit::Block* inner : node->blocks())
      if (std::string found = unsaved_setting(inner); !found.empty()) return found;
  }
  return {};
}

Result<void> check_state(const torch::jit::Module& module) {
  bool learns = false;
  for (const at::Tensor& parameter : module.parameters()) learns |= parameter.requires_grad();
  if (!learns)
    return Error{
        "has no parameters to train, because torch.jit.freeze makes them constants; save the "
        "module before freezing, or write `train: false`"};
  std::string unsaved = unsaved_tensors(module, "");
  if (unsaved.empty()) {
    const auto graph = module.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph);
    unsaved = unsaved_setting(graph->block());
  }
  if (unsaved.empty()) return {};
  return Error{concat("stores a tensor in ", quote(unsaved),
                      " that a checkpoint would not contain; make it a buffer (register_buffer), "
                      "or write `train: false`")};
}

/// Of a copy: a call may change what is in buffers.
Result<void> check_scores(const torch::jit::Module& script, const Shape& picture,
                          std::int64_t classes) {
  const at::NoGradGuard no_gradients;
  ScriptedModel model(script.deepcopy());
  model.train(false);
  const std::string asked =
      concat("expected [1, ", classes, "] for one image ", shape_text(picture));
  const auto given = torch_guarded([&]() -> Result<c10::IValue> {
    return model.run(at::zeros({1, picture[0], picture[1], picture[2]}));
  });
  if (!given) return Error{concat(asked, ", but the model fails: ", given.error().message)};
  if (!given->isTensor())
    return Error{concat(asked, ", but the model outputs a ", given->tagKind())};
  const at::Tensor scores = given->toTensor();
  if (scores.dim() == 2 && scores.size(0) == 1 && scores.size(1) == classes) return {};
  Shape sizes;
  for (const std::int64_t size : scores.sizes()) sizes.push_back(size);
  return Error{concat(asked, ", but the model outputs ", shape_text(sizes),
                      scores.dim() == 2 ? concat("; write `classes: ", scores.size(1), "`") : "")};
}

}  // namespace

Result<std::shared_ptr<ClassifierModel>> load_scripted_model(const std::string& path,
                                                             const Shape& picture,
                                                             std::int64_t classes, bool trains) {
  std::optional<torch::jit::Module> script;
  try {
    script = torch::jit::load(path, at::kCPU);
  } catch (const std::exception&) {
    return Error{concat(path,
                        " is not a TorchScript file; write it in Python with "
                        "torch.jit.save(torch.jit.script(model), FILE)")};
  }
  if (trains) {
    if (auto known = check_state(*script); !known)
      return Error{concat(path, " ", known.error().message)};
  }
  if (const auto fits = check_scores(*script, picture, classes); !fits)
    return fits.error().within(path);
  return std::shared_ptr<ClassifierModel>(std::make_shared<ScriptedModel>(std::move(*script)));
}

}  // namespace brigade
