#pragma once

// Writes samples to a folder, for people to view: images as PNG, other tensors
// as NumPy files, scalars and ids in samples.tsv. As a consumer it takes any
// tensors; `brigade sample` adds it downstream of the requested stage.

#include <cstdint>
#include <string>

#include <brigade/result.h>
#include <brigade/stage_types.h>

namespace brigade {

/// Its name as a stage type.
inline constexpr const char* kSampleWriter = "brigade_sample_writer";

struct SampleWriterParams {
  OutputPath folder;        ///< must exist
  std::uint64_t count = 8;  ///< samples to write; the rest is ignored
};

/// A consumer that says a line per sample it wrote.
void add_sample_writer(StageTypes& types);

/// A tensor as the file that shows it best: name without the ending, then ending and bytes.
struct TensorFile {
  std::string ending;  ///< ".png", ".npy"
  std::string bytes;
};
TensorFile tensor_file(const TensorView& tensor);

/// A NumPy file (format 1.0). bf16, which NumPy lacks, becomes u16 with its bits.
std::string encode_npy(const TensorView& tensor);

/// The value of a scalar, as text.
std::string scalar_text(const TensorView& tensor);

}  // namespace brigade
