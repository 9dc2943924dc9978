#pragma once

// Batches as tensors of LibTorch, 1.13 and later. Header-only:
// the including program links LibTorch, libbrigade does not.
//
//   for (const brigade::Batch& batch : run->output("train"))
//     step(brigade::to_torch(batch, "image"), brigade::to_torch(batch, "label"));
//
// Such a tensor is memory of the graph and co-owns its batch: the batch returns when no handle and
// no tensor is left, including views and tensors saved by autograd, on any thread.

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <brigade/check.h>
#include <brigade/output.h>
#include <brigade/shared.h>
#include <brigade/tensor.h>
#include <brigade/torch/view.h>

namespace brigade {

/// A tensor of `batch` or of one of its rows; a ragged tensor must come from a row, otherwise it
/// aborts. It is the memory of the batch, which it co-owns, so operations may work in place. If the
/// program may not write it (Batch::writable()), it is a copy that does not hold the batch. Any
/// thread; throws what LibTorch throws.
inline at::Tensor to_torch(const Batch& batch, const TensorView& tensor) {
  BRIGADE_CHECK(batch.dense(tensor), "ragged: read it from batch.row(i)");
  if (!batch.writable(tensor)) return torch_view(tensor).clone();
  const at::IntArrayRef sizes(tensor.shape().begin(), tensor.shape().end());
  return at::from_blob(
      const_cast<void*>(tensor.data()), sizes, [held = batch](void*) mutable { /* until here */ },
      at::TensorOptions(scalar_type(tensor.dtype())));
}
/// [size(), ...]
inline at::Tensor to_torch(const Batch& batch, std::string_view name) {
  return to_torch(batch, batch[name]);
}

/// A tensor of `shared:` as a LibTorch tensor that co-owns the memory. All processes see its
/// stores.
inline at::Tensor to_torch(const SharedTensor& tensor) {
  BRIGADE_CHECK(tensor.writable(), tensor.name(), "a tensor with own_part is read with view()");
  const at::IntArrayRef sizes(tensor.shape().begin(), tensor.shape().end());
  return at::from_blob(
      tensor.data(), sizes, [held = tensor](void*) mutable { /* until here */ },
      at::TensorOptions(scalar_type(tensor.dtype())));
}

/// Moves the parameters and buffers of a module into a shared tensor of one dimension. All
/// processes that do this train the same memory. If this process initializes the tensor
/// (SharedTensor::fill(), or a program before set_initialised()), the module's values are copied
/// in; otherwise the module takes the stored values. Call it before you create an optimizer. An
/// error names the number of elements and the dtype that the module needs.
template <class Module>
Result<void> share_parameters(Module& module, const SharedTensor& shared, bool fill) {
  std::vector<at::Tensor> all = module.parameters();
  const std::vector<at::Tensor> buffers = module.buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  std::int64_t elements = 0;
  bool one_type = true;
  for (const at::Tensor& tensor : all) {
    elements += tensor.numel();
    one_type = one_type && tensor.scalar_type() == scalar_type(shared.dtype());
  }
  if (elements != shared.elements() || !one_type)
    return Error{"shared tensor \"" + shared.name() + "\" has " +
                 std::to_string(shared.elements()) + " elements of " +
                 std::string(dtype_name(shared.dtype())) + ", but the module has " +
                 std::to_string(elements) + " of " +
                 (all.empty() ? "none" : std::string(c10::toString(all[0].scalar_type()))) +
                 (one_type ? "" : ", or of several types") + "; write `shape: [" +
                 std::to_string(elements) + "]` and the dtype of the module"};
  const at::Tensor flat = to_torch(shared).reshape({-1});
  std::int64_t at = 0;
  for (at::Tensor& tensor : all) {
    const at::Tensor place = flat.narrow(0, at, tensor.numel()).view(tensor.sizes());
    if (fill) place.copy_(tensor.detach());
    tensor.set_data(place);
    at += tensor.numel();
  }
  return {};
}
template <class Module>
Result<void> share_parameters(Module& module, const SharedTensor& shared) {
  return share_parameters(module, shared, shared.fill());
}

/// A loop for code written for LibTorch's DataLoader; only the line that creates the loader
/// changes:
///
///   auto loader = brigade::make_data_loader<torch::data::Example<>>(run->output("train"), "image",
///                                                                   "label");
///   for (auto& example : *loader) step(example.data, example.target);
///
/// Each loop reads the next epoch, or the rest of one after a loop that was left early; after the
/// last epoch it is empty. Tensors come from to_torch(); `hold:` counts batches with a tensor that
/// is still held. Throws std::runtime_error if next() fails. One thread at a time.
template <class Example>
class DataLoader {
 public:
  DataLoader(Output output, std::vector<std::string> names)
      : output_(std::move(output)), names_(std::move(names)) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Example;
    using difference_type = std::ptrdiff_t;
    using pointer = Example*;
    using reference = Example&;

    Iterator() = default;  ///< the end
    explicit Iterator(DataLoader& loader) : loader_(&loader) { take(loader.output_.next()); }
    Example& operator*() { return *example_; }
    Example* operator->() { return &*example_; }
    Iterator& operator++() {
      example_.reset();  // before the next batch is asked for
      take(loader_->output_.next_in_epoch(epoch_));
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.example_.has_value() == b.example_.has_value();
    }

   private:
    void take(Result<std::optional<Batch>> next) {
      if (!next) throw std::runtime_error(next.error().message);
      if (!*next) return;
      const Batch& batch = **next;
      epoch_ = batch.epoch();
      example_ = loader_->example(batch, std::make_index_sequence<kTensors>());
    }

    DataLoader* loader_ = nullptr;
    std::uint64_t epoch_ = 0;
    std::optional<Example> example_;
  };
  Iterator begin() { return Iterator(*this); }
  Iterator end() { return {}; }

  /// An example with one named tensor, or with two.
  static constexpr std::size_t kTensors =
      std::is_constructible_v<Example, at::Tensor, at::Tensor> ? 2 : 1;

 private:
  template <std::size_t... I>
  Example example(const Batch& batch, std::index_sequence<I...>) const {
    return Example(to_torch(batch, names_[I])...);
  }

  Output output_;
  std::vector<std::string> names_;
};

/// `names`: of the data and the target; of the data alone if an Example has no target.
template <class Example, class... Names>
std::unique_ptr<DataLoader<Example>> make_data_loader(Output output, const Names&... names) {
  static_assert(sizeof...(Names) == DataLoader<Example>::kTensors,
                "give one name per tensor of the example");
  return std::make_unique<DataLoader<Example>>(std::move(output),
                                               std::vector<std::string>{std::string(names)...});
}

}  // namespace brigade
