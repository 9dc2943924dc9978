#include <xxhash.h>

#include <chrono>
#include <cstring>
#include <thread>

#include <brigade/text.h>
#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct CountParams {
  double sleep_ms = 0;
  bool checksum = true;
};

constexpr double kSleepMaxMs = 3'600'000;

Contract<CountParams> count_contract() {
  return Contract<CountParams>("count", "Counts samples and computes checksums of their contents.")
      .consumer()
      .saves()
      .takes(Takes::either)
      .several_inputs()
      .param("sleep_ms", &CountParams::sleep_ms, 0, kSleepMaxMs,
             "milliseconds to sleep in every call, to simulate a slow consumer")
      .param("checksum", &CountParams::checksum, "compute checksums")
      .reports("samples", Combine::sum, "samples seen")
      .reports("batches", Combine::sum,
               "number of calls: batches if the edge has a batch, otherwise samples")
      .reports("checksum", Combine::only,
               "checksum of all samples in order: id, epoch, and each tensor's name, dtype, shape "
               "and bytes; independent of the batch size")
      .reports("set_checksum", Combine::exclusive_or, "the same checksum, independent of the order")
      .example("consumer: count\nfrom: images\n");
}

template <class... Words>
std::uint64_t hash_words(Words... words) {
  const std::uint64_t all[] = {static_cast<std::uint64_t>(words)...};
  return XXH3_64bits(all, sizeof all);
}

/// Of a tensor's name, dtype and shape per sample.
std::uint64_t hash_type(std::string_view name, const TensorView& tensor) {
  std::uint64_t hash = XXH3_64bits(name.data(), name.size());
  hash = hash_words(hash, tensor.dtype(), tensor.shape().rank());
  for (std::int64_t size : tensor.shape()) hash = hash_words(hash, size);
  return hash;
}

class Count : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<CountParams>();
    reporter_ = context.reporter;
    for (const TensorType& input : context.inputs.tensors) ragged_ |= input.ragged();
    if (context.saved.empty()) return {};
    if (context.saved.size() != sizeof state_)
      return Error{concat("expected ", sizeof state_, " bytes of saved state, found ",
                          context.saved.size())};
    std::memcpy(&state_, context.saved.data(), sizeof state_);
    return {};
  }

  Result<std::string> save() override {
    return std::string(reinterpret_cast<const char*>(&state_), sizeof state_);
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    state_.samples += static_cast<std::uint64_t>(in.samples());
    ++state_.calls;
    for (std::int64_t i = 0; params_.checksum && i < in.samples(); ++i) add(in, in.sample(i), i);
    if (params_.sleep_ms > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(params_.sleep_ms));
    return Next::emit;
  }

  Result<void> epoch_end(const EpochEnd&) override {
    report();
    return {};
  }

  Result<void> close() override {
    report();
    return {};
  }

 private:
  struct State {
    std::uint64_t samples = 0;
    std::uint64_t calls = 0;
    std::uint64_t checksum = 0;
    std::uint64_t set_checksum = 0;
  };

  void add(const Inputs& batch, const Inputs& sample, std::int64_t slot) {
    const SampleInfo& info = sample.info();
    std::uint64_t hash = hash_words(info.id, info.epoch);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      TensorView tensor = sample.at(i);
      Shape shape = tensor.shape();
      if (ragged_) {
        if (is_shape_of_another(sample, i)) continue;
        shape = real_shape(batch, sample, i, slot);
        tensor = TensorView(tensor.data(), tensor.dtype(), shape);
      }
      if (slot == 0 || ragged_) {  // all slots of a dense batch have one type
        type_hashes_.resize(sample.size());
        type_hashes_[i] = hash_type(sample.name(i), tensor);
      }
      hash = hash_words(hash, type_hashes_[i], XXH3_64bits(tensor.data(), tensor.bytes()));
    }
    state_.checksum = hash_words(state_.checksum, hash);
    state_.set_checksum ^= hash;
  }

  /// A batch carries the shapes of the ragged tensor NAME in NAME.shape; a sample needs none.
  static bool is_shape_of_another(const Inputs& sample, std::size_t i) {
    const auto base = strip_suffix(sample.name(i), ".shape");
    return base && sample.has(*base);
  }

  static Shape real_shape(const Inputs& batch, const Inputs& sample, std::size_t i,
                          std::int64_t slot) {
    const std::string name = concat(sample.name(i), ".shape");
    if (!batch.has(name)) return sample.at(i).shape();
    Shape shape;
    for (std::int64_t size : batch.sample(slot)[name].as<std::int64_t>()) shape.push_back(size);
    return shape;
  }

  void report() {
    reporter_->report("samples", state_.samples);
    reporter_->report("batches", state_.calls);
    if (!params_.checksum) return;
    reporter_->report("checksum", state_.checksum);
    reporter_->report("set_checksum", state_.set_checksum);
  }

  CountParams params_;
  Reporter* reporter_ = nullptr;
  bool ragged_ = false;
  State state_;
  std::vector<std::uint64_t> type_hashes_;  // by tensor, of the current call
};

}  // namespace

void add_count(StageTypes& types) { types.add<Count>(count_contract()); }

}  // namespace brigade
