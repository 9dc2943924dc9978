#include "stages/torch/weights_file.h"

#include <torch/script.h>
#include <torch/serialize.h>

#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include <brigade/text.h>

namespace brigade {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

constexpr std::string_view kHowToSave =
    "; write it in Python with torch.save(dict(model.state_dict()), FILE) or torch.jit.save, or "
    "use a checkpoint of torch_classifier";

std::string sizes_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (const std::int64_t size : tensor.sizes()) text += concat(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

Tensors tensors_of(const torch::jit::Module& module) {
  Tensors found;
  for (const auto& parameter : module.named_parameters()) found[parameter.name] = parameter.value;
  for (const auto& buffer : module.named_buffers()) found[buffer.name] = buffer.value;
  return found;
}

/// Of a module, or of a checkpoint, whose model is one of several things; null: it is neither.
Tensors read_module(const std::string& path) {
  const torch::jit::Module module = torch::jit::load(path, at::kCPU);
  if (!module.hasattr("model") || !module.hasattr("optimizer")) return tensors_of(module);
  return tensors_of(module.attr("model").toModule());
}

/// Of a dict of tensors, or of one that has it as "model" or "state_dict".
Tensors read_dict(const c10::IValue& value) {
  Tensors found;
  if (!value.isGenericDict()) return found;
  for (const auto& entry : value.toGenericDict()) {
    if (!entry.key().isString()) continue;
    const std::string& name = entry.key().toStringRef();
    if (entry.value().isTensor())
      found[std::string(strip_prefix(name, "module.").value_or(name))] = entry.value().toTensor();
    else if (name == "model" || name == "state_dict")
      return read_dict(entry.value());
  }
  return found;
}

Result<Tensors> read_tensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Error{concat("cannot read ", path)};
  Tensors found;
  try {
    found = read_dict(torch::pickle_load(bytes));
  } catch (const c10::Error&) {
    try {
      found = read_module(path);
    } catch (const c10::Error&) {
      return Error{concat(path, " is not a file of weights", kHowToSave)};
    }
  }
  if (found.empty()) return Error{concat(path, " has no named tensors", kHowToSave)};
  return found;
}

/// Parameters and buffers, in the model's order.
std::vector<std::pair<std::string, at::Tensor>> tensors_of(const torch::nn::Module& model) {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& parameter : model.named_parameters())
    all.emplace_back(parameter.key(), parameter.value());
  for (const auto& buffer : model.named_buffers()) all.emplace_back(buffer.key(), buffer.value());
  return all;
}

/// "fc." of a model whose last parameter is fc.bias.
std::string last_layer_of(const torch::nn::Module& model) {
  const auto parameters = model.named_parameters();
  if (parameters.is_empty()) return {};
  const std::string& name = parameters.back().key();
  return name.substr(0, name.rfind('.') + 1);
}

Error other_shape(const std::string& name, const at::Tensor& in_file, const at::Tensor& in_model,
                  bool last) {
  return Error{concat(name, " is ", sizes_text(in_file), " in the file, but ", sizes_text(in_model),
                      " in the model",
                      last ? "; write `new_head: true` to train a new last layer, or the "
                             "`classes:` that the file was trained for"
                           : "; choose the `model:` that the file was trained with")};
}

}  // namespace

Result<std::size_t> load_weights(torch::nn::Module& model, const std::string& path,
                                 WeightsFor which) {
  BRIGADE_ASSIGN(Tensors found, read_tensors(path));
  const std::string last = last_layer_of(model);
  const auto of_last = [&](const std::string& name) {
    return !last.empty() && name.starts_with(last);
  };
  const bool left = which == WeightsFor::all_but_the_last;
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const auto& [name, tensor] : tensors_of(model)) {
    const auto there = found.extract(name);
    if (left && of_last(name)) continue;
    if (there.empty() && name.ends_with("num_batches_tracked")) continue;  // old files have none
    if (there.empty())
      return Error{
          concat(path, " has no ", name, "; choose the `model:` that the file was trained with")};
    if (there.mapped().sizes() != tensor.sizes())
      return other_shape(name, there.mapped(), tensor, of_last(name)).within(path);
    copies.emplace_back(tensor, there.mapped());
  }
  for (const auto& [name, tensor] : found)
    if (!left || !of_last(name))
      return Error{
          concat(path, " has ", name,
                 ", but the model does not; choose the `model:` that the file was trained with")};
  const at::NoGradGuard no_gradients;
  for (const auto& [to, from] : copies) to.copy_(from);
  return copies.size();
}

}  // namespace brigade
