#pragma once

// A stage type for the configuration and the runtime: its contract with
// the parameter type erased. Made by Contract<P> (brigade/contract.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/params.h>
#include <brigade/skipped_inputs.h>
#include <brigade/types.h>

namespace brigade {

enum class StageKind : std::uint8_t { producer, transform, consumer };
BRIGADE_API std::string_view stage_kind_name(StageKind kind);
/// What one call of process() gets.
enum class Takes : std::uint8_t {
  samples,  ///< one sample; the runtime loops over them
  batches,  ///< a whole batch; the edge must have a `batch:`
  either    ///< batches if the edge has a `batch:`, otherwise samples
};

/// How the outputs of a stage are numbered.
enum class Numbering : std::uint8_t {
  one_to_one,  ///< at most one output per input, under the input's number
  expand,      ///< k outputs per input: output i of sample s is sample s * k + i of a new numbering
  flat_map     ///< any number up to k per input, renumbered; one replica only
};

/// How a number reported by several replicas becomes one in the summary.
enum class Combine : std::uint8_t {
  sum,           ///< added up
  mean,          ///< weighted by the replicas' samples
  exclusive_or,  ///< of 64-bit integers
  only           ///< of one replica only; null with several
};

/// Number of samples of a producer, as far as parameters and file headers tell.
struct SampleCount {
  std::uint64_t samples = 0;
  std::vector<SkippedInputs> skipped;  ///< what SkipsInputs will report, if known

  SampleCount(std::uint64_t count) : samples(count) {}  // NOLINT: implicit
  SampleCount(std::uint64_t count, std::vector<SkippedInputs> beside)
      : samples(count), skipped(std::move(beside)) {}
  friend bool operator==(const SampleCount&, const SampleCount&) = default;
};

struct ReportSpec {
  std::string name;
  Combine combine = Combine::sum;
  bool progress = false;  ///< shown on the progress line
  std::string help;
};

/// A class that labels name, and where: "train.csv:2:9".
struct NamedClass {
  std::string name;
  std::string place;
};

/// A contract without its parameter type, used by the configuration and the runtime.
struct StageContract {
  std::string type;
  std::string help;     ///< one sentence
  std::string example;  ///< YAML to paste, may be empty
  StageKind kind = StageKind::transform;
  Takes takes = Takes::samples;
  std::vector<ParamSpec> params;
  std::vector<TensorPattern> inputs;               ///< all are required
  std::vector<std::vector<TensorPattern>> one_of;  ///< at least one of each group
  std::vector<std::string> metadata;               ///< parameters (InputPath) whose header is read
  std::vector<ReportSpec> reports;
  bool rest_passes = false;               ///< tensors that it does not name pass through
  std::vector<std::string> named_inside;  ///< by a fused stage's later links: these do not pass
  bool several_inputs = false;            ///< may have more than one source (zip, epochs, merge)
  std::vector<std::string> source_ports;  ///< their names; empty: any name
  bool may_drop = false;
  Numbering numbering = Numbering::one_to_one;
  /// k of `expand` and `flat_map` for these parameters; unset for one_to_one.
  std::function<Result<std::uint64_t>(const void* params)> outputs_per_input;
  /// Samples of a producer, or capacity of a cache; unset or nothing: unknown.
  std::function<std::optional<SampleCount>(const void* params, const FileMetadata& metadata)>
      samples;
  /// The classes named by a producer's labels, in the order of their numbers, if the producer
  /// numbers them; nothing if only a run finds them. Reads whole files, so it is called only if
  /// several sources of a graph name classes. Unset: labels are not names.
  std::function<std::optional<std::vector<NamedClass>>(const void* params)> named_classes;
  /// True if outputs depend on random draws with these parameters; unset: they do not.
  std::function<bool(const void* params)> draws;
  /// Most bytes that process() allocates with these parameters, for any sample and in addition to
  /// open(); unset: unknown. `private_bytes_by`: the parameter that controls it.
  std::function<std::uint64_t(const void* params)> private_bytes;
  std::string private_bytes_by;
  /// Tensors that process() reads, or writes, in device memory if they are there; unset: none.
  std::function<std::vector<std::string>(const void* params)> reads_on_device;
  std::function<std::vector<std::string>(const void* params)> writes_on_device;
  std::function<std::vector<std::string>(const void* params)> uploads;  ///< to that device
  bool cache = false;             ///< stores the samples of one epoch and is their source
  bool stateful = false;          ///< keeps state between calls, beyond caches
  bool saves = false;             ///< can save that state, and resume from it
  bool holds = false;             ///< a consumer whose tasks end when it has released them
  bool holds_for_device = false;  ///< only on a device
  bool application = false;       ///< its replica is the program that starts the graph

  const char* params_type = "";  ///< typeid name of the parameter struct
  std::function<std::shared_ptr<void>()> make_params;
  /// Output tensors for these parameters, inputs and file metadata; for a consumer, a check of
  /// them.
  std::function<Result<Ports>(const void* params, const Ports& in, const FileMetadata& metadata)>
      outputs;

  /// True if its input memory may be pinned for its device.
  bool pins() const { return holds || uploads != nullptr; }
  /// Null if the name does not exist.
  BRIGADE_API const ParamSpec* find_param(std::string_view name) const;
  /// True if the type itself takes the tensor `name`, or a later link of a fused stage does.
  BRIGADE_API bool names(std::string_view tensor) const;
  /// Changes whenever a part changes that a graph depends on; compared between contract and body.
  BRIGADE_API std::uint64_t hash() const;
};

}  // namespace brigade
