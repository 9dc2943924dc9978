#pragma once

// What the transforms of the conformance suite do with one sample, as functions of the sample: the
// stages call them with what the line brings them, the plain loop with what it has computed itself.

#include <algorithm>
#include <optional>

#include <brigade/random.h>
#include "tests/conformance/plain/plain_tensor.h"

namespace brigade::conformance {

struct SiftParams {
  std::uint64_t every = 3;
  std::uint64_t rest = 1;
  double chance = 0;
};

/// Whether a sample is dropped: by its id, and by a draw.
inline bool sifts_out(const SiftParams& params, const SampleInfo& info, Philox random) {
  return info.id % params.every == params.rest || random.chance(params.chance);
}

/// How many samples a `drip` gives in an epoch.
inline std::uint64_t drip_count(const std::vector<std::int64_t>& counts, std::uint32_t epoch) {
  return static_cast<std::uint64_t>(counts[epoch % counts.size()]);
}

/// What it gives: `data` i64[2].
inline PlainTensors drop_of(std::uint32_t epoch, std::uint64_t index) {
  const std::vector<std::int64_t> values{epoch, static_cast<std::int64_t>(index)};
  return {{"data", PlainTensor::of({2}, values)}};
}

/// Of a batch, by its first sample.
inline bool tosses_out(std::uint64_t every, const SampleInfo& first) {
  return first.id % every == 0;
}

/// `digest` i64[2]: a hash of all that is there, and a draw.
inline PlainTensors digest_of(PlainTensors in, Philox random) {
  std::sort(in.begin(), in.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::uint64_t hash = hash_bytes("");
  for (const auto& [name, tensor] : in) {
    hash = hash_bytes(concat(name, dtype_name(tensor.dtype), shape_text(tensor.shape)), hash);
    hash = hash_bytes(tensor.bytes, hash);
  }
  const std::vector<std::int64_t> both{static_cast<std::int64_t>(hash),
                                       static_cast<std::int64_t>(random.next64())};
  return {{"digest", PlainTensor::of({2}, both)}};
}

/// `data` with a draw laid over every byte; its shape stays.
inline PlainTensors shift_of(const PlainTensors& in, Philox random) {
  PlainTensor data = *find(in, "data");
  const auto mask = static_cast<char>(random.next());
  for (char& byte : data.bytes) byte = static_cast<char>(byte ^ mask);
  return {{"data", std::move(data)}};
}

/// Three outputs: `low` u8[3], `high` f32[2, 2], `words` i32[<=5, 2] with none to five words.
inline PlainTensors split_of(PlainTensors in, const SampleInfo& info, Philox random) {
  const PlainTensors digest = digest_of(std::move(in), random);
  std::vector<std::uint8_t> low(3);
  std::copy_n(digest[0].second.bytes.begin(), low.size(), low.begin());
  std::vector<float> high;
  for (int i = 0; i < 4; ++i) high.push_back(static_cast<float>(info.id * 4 + i) / 8);
  const auto count = static_cast<std::int64_t>(random.below(6));
  std::vector<std::int32_t> words;
  for (std::int64_t i = 0; i < count * 2; ++i)
    words.push_back(static_cast<std::int32_t>(random.next()));
  return {{"low", PlainTensor::of({3}, low)},
          {"high", PlainTensor::of({2, 2}, high)},
          {"words", PlainTensor::of({count, 2}, words)}};
}

/// Of each sample `count` pieces: `piece` u8[<=6], of a drawn length, and `part` i64, which one it
/// is.
inline std::vector<PlainTensors> pieces_of(PlainTensors in, Philox random, std::uint64_t count) {
  const PlainTensors digest = digest_of(std::move(in), random);
  std::vector<PlainTensors> pieces;
  for (std::uint64_t part = 0; part < count; ++part) {
    const auto length = static_cast<std::int64_t>(random.below(7));
    std::vector<std::uint8_t> piece(static_cast<std::size_t>(length));
    std::copy_n(digest[0].second.bytes.begin(), piece.size(), piece.begin());
    pieces.push_back({{"piece", PlainTensor::of({length}, piece)},
                      {"part", PlainTensor::of({}, std::vector<std::int64_t>{
                                                       static_cast<std::int64_t>(part)})}});
  }
  return pieces;
}

}  // namespace brigade::conformance
