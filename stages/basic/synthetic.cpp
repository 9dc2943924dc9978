#include <algorithm>
#include <cstring>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/basic/basic_stages.h"
#include "stages/basic/half_float.h"

namespace brigade {
namespace {

enum class Fill { index, random, none };

struct SyntheticParams {
  std::uint64_t count = 1000;
  std::vector<std::int64_t> shape;
  DType dtype = DType::i64;
  Fill fill = Fill::index;
  bool vary = false;
  std::string name = "data";
};

constexpr double kSizeMax = 1ll << 40;

Contract<SyntheticParams> synthetic_contract() {
  return Contract<SyntheticParams>("synthetic", "Generates tensors, to test or measure a graph.")
      .producer()
      .param("count", &SyntheticParams::count, 0, 1ll << 47, "samples per epoch")
      .param("shape", &SyntheticParams::shape, 1, kSizeMax, "shape of one sample; [] is a scalar")
      .param("dtype", &SyntheticParams::dtype, "dtype of the tensor")
      .choice("fill", &SyntheticParams::fill,
              {{"index", Fill::index}, {"random", Fill::random}, {"none", Fill::none}},
              "index: every element is the sample's index; random: floats in [0, 1), otherwise "
              "random bits; none: uninitialized memory")
      .param("vary", &SyntheticParams::vary,
             "vary the first dimension from sample to sample, from 1 to its size in `shape`")
      .param("name", &SyntheticParams::name, "name of the tensor")
      .counts([](const SyntheticParams& params, const FileMetadata&) { return params.count; })
      .outputs([](const SyntheticParams& params, const Ports&) -> Result<Ports> {
        if (params.vary && params.shape.empty())
          return Error{"vary: true needs a shape with at least one dimension"};
        if (params.shape.size() >= kRankMax)
          return Error{concat("shape has ", params.shape.size(), " dimensions; the limit is ",
                              kRankMax - 1)};
        TensorType data{params.name, params.dtype, {}};
        for (std::int64_t size : params.shape) data.shape.emplace_back(size);
        if (params.vary) data.shape.front() = up_to(params.shape.front());
        return Ports{data};
      })
      .example("producer: synthetic\nparams: {count: 100000, shape: [224, 224, 3], dtype: u8}\n");
}

template <class T>
struct Maker {
  static T of_index(std::uint64_t index) { return static_cast<T>(index); }
  static T random(Philox& random) { return static_cast<T>(random.next64()); }
};
template <>
struct Maker<bool> {
  static bool of_index(std::uint64_t index) { return index != 0; }
  static bool random(Philox& random) { return random.next() >> 31; }
};
template <>
struct Maker<float> {
  static float of_index(std::uint64_t index) { return static_cast<float>(index); }
  static float random(Philox& random) { return static_cast<float>(random.next() >> 8) * 0x1p-24f; }
};
template <>
struct Maker<double> {
  static double of_index(std::uint64_t index) { return static_cast<double>(index); }
  static double random(Philox& random) { return random.uniform(); }
};
template <>
struct Maker<Half> {
  static Half of_index(std::uint64_t index) { return to_half(static_cast<float>(index)); }
  static Half random(Philox& random) {
    return to_half(static_cast<float>(random.next() >> 21) * 0x1p-11f);
  }
};
template <>
struct Maker<BFloat16> {
  static BFloat16 of_index(std::uint64_t index) { return to_bfloat16(static_cast<float>(index)); }
  static BFloat16 random(Philox& random) {
    return to_bfloat16(static_cast<float>(random.next() >> 24) * 0x1p-8f);
  }
};

template <class T>
void fill_random_bits(std::span<T> out, Philox& random) {
  // Whole blocks of words instead of one draw per element.
  auto bytes = std::as_writable_bytes(out);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next64();
    std::memcpy(&bytes[at], &word, std::min(sizeof word, bytes.size() - at));
  }
}

template <class T>
void fill(std::span<T> out, Fill how, std::uint64_t index, Philox& random) {
  if (how == Fill::index) {
    std::fill(out.begin(), out.end(), Maker<T>::of_index(index));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    fill_random_bits(out, random);
  } else {
    for (T& element : out) element = Maker<T>::random(random);
  }
}

using Filler = void (*)(const TensorSlot&, Fill, std::uint64_t, Philox&);

template <class... T>
Filler find_filler(DType dtype) {
  Filler filler = nullptr;
  const auto consider = [&]<class U>(U*) {
    if (dtype_of<U>() == dtype)
      filler = [](const TensorSlot& slot, Fill how, std::uint64_t index, Philox& random) {
        fill(slot.as<U>(), how, index, random);
      };
  };
  (consider(static_cast<T*>(nullptr)), ...);
  return filler;
}

class Synthetic : public Producer, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<SyntheticParams>();
    seed_ = context.seed;
    stream_ = context.stream;
    filler_ = find_filler<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                          Half, BFloat16, float, double>(params_.dtype);
    return {};
  }

  Result<std::uint64_t> size() override { return params_.count; }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    const bool numbers = params_.fill == Fill::index && params_.shape.empty();
    if (params_.name == "label" && numbers && params_.dtype == DType::u8)
      return static_cast<std::uint8_t>(index);
    if (params_.name == "label" && numbers && params_.dtype == DType::i64)
      return static_cast<std::int64_t>(index);
    return Error{"the tensor `label` must be a u8 or i64 scalar with `fill: index`"};
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    Philox random(seed_, stream_, 0, index);
    TensorSlot data = out[params_.name];
    if (params_.vary) BRIGADE_TRY(vary(data, random));
    if (params_.fill != Fill::none) filler_(data, params_.fill, index, random);
    return Next::emit;
  }

 private:
  Result<void> vary(TensorSlot& data, Philox& random) const {
    Shape shape = data.bounds();
    shape[0] =
        1 + static_cast<std::int64_t>(random.next64() % static_cast<std::uint64_t>(shape[0]));
    return data.resize(shape);
  }

  SyntheticParams params_;
  std::uint64_t seed_ = 0;
  std::uint64_t stream_ = 0;
  Filler filler_ = nullptr;
};

}  // namespace

void add_synthetic(StageTypes& types) { types.add<Synthetic>(synthetic_contract()); }

}  // namespace brigade
