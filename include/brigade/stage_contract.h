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
/// What one call of process() sees.
enum class Takes : std::uint8_t {
  samples,  ///< one sample; the runtime loops over them
  batches,  ///< a whole batch; the edge must have a `batch:`
  either    ///< batches where the edge has a `batch:`, else samples
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

/// What a producer has, as far as parameters and headers of files tell.
struct SampleCount {
  std::uint64_t samples = 0;
  std::vector<SkippedInputs> skipped;  ///< what SkipsInputs will say, where that is known, too

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

/// A contract with its parameter type erased: what the configuration and the runtime work with.
struct StageContract {
  std::string type;
  std::string help;     ///< one sentence
  std::string example;  ///< YAML to paste, may be empty
  StageKind kind = StageKind::transform;
  Takes takes = Takes::samples;
  std::vector<ParamSpec> params;
  std::vector<TensorPattern> inputs;               ///< all must be there
  std::vector<std::vector<TensorPattern>> one_of;  ///< of each group at least one
  std::vector<std::string> metadata;               ///< parameters (InputPath) whose header is read
  std::vector<ReportSpec> reports;
  bool rest_passes = false;  ///< tensors it does not name travel on
  std::vector<std::string>
      named_inside;             ///< by a fused stage's later links: these do not travel on
  bool several_inputs = false;  ///< may have more than one source (zip, epochs, merge)
  std::vector<std::string> source_ports;  ///< what these may be called; empty: anything
  bool may_drop = false;
  Numbering numbering = Numbering::one_to_one;
  /// k of `expand` and `flat_map` for these parameters; unset for one_to_one.
  std::function<Result<std::uint64_t>(const void* params)> outputs_per_input;
  /// Samples of a producer, or room of a cache; unset, or nothing: these do not tell.
  std::function<std::optional<SampleCount>(const void* params, const FileMetadata& metadata)>
      samples;
  /// The classes that a producer's labels name, in the order of their numbers, where it numbers
  /// them itself; nothing where only a run finds them. Reads whole files: asked only where several
  /// sources of a graph name classes. Unset: labels are no names.
  std::function<std::optional<std::vector<NamedClass>>(const void* params)> named_classes;
  /// Whether outputs depend on random draws with these parameters; unset: they do not.
  std::function<bool(const void* params)> draws;
  /// Bytes that process() takes at most with these parameters, whatever a sample holds, beyond what
  /// open() has taken; unset: it does not say. `private_bytes_by`: the parameter that decides.
  std::function<std::uint64_t(const void* params)> private_bytes;
  std::string private_bytes_by;
  /// Tensors that process() reads, or writes, on a device where they lie there; unset: none.
  std::function<std::vector<std::string>(const void* params)> reads_on_device;
  std::function<std::vector<std::string>(const void* params)> writes_on_device;
  std::function<std::vector<std::string>(const void* params)> uploads;  ///< to that device
  bool cache = false;     ///< keeps the samples of one epoch, and is a source of them
  bool stateful = false;  ///< keeps state between calls, beyond caches
  bool saves = false;     ///< can save that state, and resume from it
  bool holds = false;     ///< a consumer whose tasks end when what it keeps of them has gone
  bool holds_for_device = false;  ///< on a device alone
  bool application = false;       ///< its replica is the program that starts the graph

  const char* params_type = "";  ///< typeid name of the parameter struct
  std::function<std::shared_ptr<void>()> make_params;
  /// Output tensors for these parameters, inputs and file metadata; for a consumer, a check of
  /// them.
  std::function<Result<Ports>(const void* params, const Ports& in, const FileMetadata& metadata)>
      outputs;

  /// Whether what it reads may be pinned for its device.
  bool pins() const { return holds || uploads != nullptr; }
  /// Null when there is none of that name.
  BRIGADE_API const ParamSpec* find_param(std::string_view name) const;
  /// Whether the type itself takes a tensor of that name, or a fused stage's later links do.
  BRIGADE_API bool names(std::string_view tensor) const;
  /// Changes when anything a graph depends on changes; compared between contract and body.
  BRIGADE_API std::uint64_t hash() const;
};

}  // namespace brigade
