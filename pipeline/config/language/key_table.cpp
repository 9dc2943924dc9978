#include "pipeline/config/language/key_table.h"

#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/subset_parser.h"

namespace brigade {
namespace {

constexpr std::uint64_t kSeedMax = ~0ull;
constexpr std::uint64_t kCpuMax = 1023;  // what a cpu_set_t holds
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kMemoryMin = 1 << 20;
constexpr std::uint64_t kMemoryMax = (1ull << 63) - 1;
constexpr std::uint64_t kHoldMax = 1024;  // each has memory

using enum KeyScope;
using enum KeyType;

template <class Keys, class Value>
Keys owner_of(Value Keys::*);

template <auto Member>
KeyField member(decltype(owner_of(Member))& keys) {
  return &(keys.*Member);
}

// A row of the table, written as a sentence.
struct Row {
  KeySpec key;

  template <class T>
  constexpr Row with(T KeySpec::*member, T value) const {
    Row out = *this;
    out.key.*member = value;
    return out;
  }

  constexpr operator KeySpec() const { return key; }  // NOLINT: implicit
  constexpr Row takes(std::string_view what) const { return with(&KeySpec::takes, what); }
  constexpr Row otherwise(std::string_view value) const {
    return with(&KeySpec::default_text, value);
  }
  template <auto Member>
  constexpr Row of_member() const {
    return with(&KeySpec::find_field, FindField(&member<Member>));
  }
  constexpr Row in_plan(std::string_view name) const { return with(&KeySpec::plan_name, name); }
  constexpr Row counts(std::string_view unit) const { return with(&KeySpec::unit, unit); }
  constexpr Row range(std::uint64_t from, std::uint64_t to) const {
    return with(&KeySpec::minimum, from).with(&KeySpec::maximum, to);
  }
  constexpr Row of(std::uint8_t users) const { return with(&KeySpec::users, users); }
};

constexpr Row row(KeyScope scope, std::string_view name, KeyType type, std::string_view help) {
  Row out;
  out.key.scope = scope;
  out.key.name = name;
  out.key.type = type;
  out.key.help = help;
  return out;
}

constexpr KeySpec kKeyTable[] = {
    row(top, "brigade", whole, "version of this language").range(1, 1).otherwise("1"),
    row(top, "name", text, "name of the graph, for messages and files")
        .of_member<&GraphKeys::name>()
        .otherwise("the file's name"),
    row(top, "seed", whole, "seed of every random number and shuffle")
        .of_member<&GraphKeys::seed>()
        .range(0, kSeedMax),
    row(top, "epochs", whole, "number of passes over the sources")
        .of_member<&GraphKeys::epochs>()
        .range(1, 0xFFFF'FFFF)
        .counts("epochs"),
    row(top, "vars", mapping, "variables for ${name}"),
    row(top, "stages", mapping, "the stages by name"),
    row(top, "shared", mapping, "tensors in shared memory that replicas map and update"),
    row(top, "shard", special, "the part of each source that this process reads")
        .takes("auto or {rank: R, world: N, uneven: pad}")
        .otherwise("auto"),
    row(top, "checkpoint", special, "where a consumer saves its state").takes("{file: PATH}"),
    row(top, "drain", duration, "how long a stopped run may take to drain")
        .of_member<&GraphKeys::drain_ns>()
        .range(0, kDurationMax),
    row(top, "oversubscribe", flag, "allows more threads than cores")
        .of_member<&GraphPlanningKeys::oversubscribe>(),
    row(top, "memory", size, "upper limit of memory for buffers")
        .of_member<&GraphPlanningKeys::memory_bytes_max>()
        .range(kMemoryMin, kMemoryMax)
        .otherwise("the memory of the machine"),

    row(checkpoint, "file", path, "checkpoint file, replaced atomically"),
    row(checkpoint, "every", special, "interval between checkpoints")
        .takes("a number of samples from 1 to 2^47, or a duration from 1ms to 8760h")
        .range(kMillisecond, kDurationMax)
        .otherwise("the end of each epoch"),

    row(shard, "rank", whole_auto, "rank of this process")
        .of_member<&Shard::rank>()
        .range(0, 1 << 20)
        .otherwise("auto"),
    row(shard, "world", whole_auto, "processes that share the sources")
        .of_member<&Shard::world>()
        .range(1, 1 << 20)
        .otherwise("auto")
        .counts("processes"),
    row(shard, "uneven", choice, "what happens when a source does not divide evenly")
        .of_member<&Shard::uneven>(),

    row(KeyScope::shared, "dtype", special, "dtype of the elements")
        .takes("bool, u8, i8, i16, i32, i64, f16, bf16, f32 or f64")
        .otherwise("none (required)"),
    row(KeyScope::shared, "shape", special, "sizes of the whole tensor")
        .takes("a list of sizes: [1000, 10]")
        .otherwise("none (required)"),
    row(KeyScope::shared, "init", special, "contents when the run begins")
        .takes("zeros, replica_0, STAGE.replica_0 or a NumPy file (.npy)")
        .otherwise("zeros"),
    row(KeyScope::shared, "save", path, "NumPy file that the tensor is saved to").otherwise("none"),
    row(KeyScope::shared, "access", choice, "which replicas may write which part")
        .otherwise("shared"),

    row(stage, "producer", special, "stage type that makes samples")
        .takes("the name of a stage type"),
    row(stage, "transform", special, "stage type that changes samples")
        .takes("the name of a stage type, or a list of them"),
    row(stage, "consumer", special, "stage type that consumes samples")
        .takes("the name of a stage type"),
    row(stage, "mix", special, "mixture of several producers, with the share of each")
        .of_member<&StageKeys::mix>()
        .takes("a mapping STAGE: NUMBER")
        .otherwise("one producer"),
    row(stage, "plugin", path, "shared library with the stage type"),
    row(stage, "shuffle", flag, "a new order in every epoch")
        .of_member<&StageKeys::shuffle>()
        .of(kIndexedProducers),
    row(stage, "seed", whole, "seed of this source's shuffle")
        .of_member<&StagePlanningKeys::seed>()
        .range(0, kSeedMax)
        .otherwise("the graph's seed")
        .of(kIndexedProducers),
    row(stage, "skip", whole, "skips the first N samples of the source")
        .of_member<&StageKeys::skip>()
        .range(1, kNumbersMax)
        .otherwise("none")
        .counts("samples")
        .of(kDividedProducers),
    row(stage, "split", special, "divides the source into parts; the stage reads one of them")
        .of_member<&StageKeys::split>()
        .takes("a share for each part, and a seed: {train: 0.9, seed: 1}")
        .otherwise("one part")
        .of(kDividedProducers),
    row(stage, "part", name,
        "part of `split:` to read; a name that `split:` does not list reads the rest")
        .of_member<&StageKeys::part>()
        .otherwise("all")
        .of(kDividedProducers),
    row(stage, "limit", special, "number of samples to read, the same ones in every epoch")
        .of_member<&StageKeys::limit>()
        .takes("a number of samples, or a share such as 10% or 0.1")
        .range(1, kNumbersMax)
        .otherwise("all")
        .of(kIndexedProducers),
    row(stage, "take", choice, "which samples `limit:` selects")
        .of_member<&StageKeys::take>()
        .of(kIndexedProducers),
    row(stage, "weights", special, "relative frequencies of the samples in an epoch")
        .of_member<&StageKeys::weights>()
        .takes("balanced (each class equally often), a mapping CLASS: NUMBER, a file of numbers, "
               "or FILE:COLUMN")
        .otherwise("each sample once")
        .of(kDividedProducers),
    row(stage, "repeat_factor", special, "repeats samples of classes whose share is below this one")
        .of_member<&StageKeys::repeat_factor>()
        .takes("a share such as 0.001 or 0.1%")
        .otherwise("each sample once")
        .of(kDividedProducers),
    row(stage, "samples", whole,
        "samples per epoch drawn by `mix:`, `weights:` or `repeat_factor:`")
        .of_member<&StageKeys::draws>()
        .range(1, kNumbersMax)
        .otherwise("the size of the source; with `repeat_factor:`, the sum of the repetitions")
        .counts("samples")
        .of(kDividedProducers),
    row(stage, "from", special, "what the stage reads")
        .takes("a source, a list of sources, or a mapping port: source")
        .of(kReaders),
    row(stage, "join", choice, "how several sources become one input").of(kReaders),
    row(stage, "params", mapping,
        "parameters of the stage type (`brigade stages TYPE` lists them)"),
    row(stage, "replicas", whole_auto, "processes that share the stage's work")
        .of_member<&StagePlanningKeys::replicas>()
        .range(1, kStagesMax)
        .counts("processes"),
    row(stage, "assign", choice, "which replica gets which task")
        .of_member<&StagePlanningKeys::fixed>()
        .of(kReaders),
    row(stage, "threads", whole, "threads that libraries inside one replica may use")
        .of_member<&StagePlanningKeys::threads>()
        .range(1, kThreadsMax)
        .counts("threads"),
    row(stage, "batch", whole, "samples per batch of the stage's output")
        .of_member<&StagePlanningKeys::batch>()
        .range(1, kBatchMax)
        .counts("samples")
        .of(kWriters),
    row(stage, "drop_last", flag, "drops an epoch's last batch when it is short")
        .of_member<&StageKeys::drop_last>(),
    row(stage, "chunk", whole_auto, "samples per task of a per-sample stage")
        .of_member<&StagePlanningKeys::chunk>()
        .range(1, kBatchMax)
        .counts("samples"),
    row(stage, "buffers", whole_auto, "tasks that the output buffer holds")
        .of_member<&StagePlanningKeys::buffers>()
        .range(1, kBatchMax)
        .counts("tasks")
        .of(kWriters),
    row(stage, "hugepages", flag, "whether the output is stored in reserved huge pages of 2 MiB")
        .of_member<&StagePlanningKeys::hugepages>()
        .of(kWriters),
    row(stage, "device", special, "where the stage computes")
        .of_member<&StageKeys::device>()
        .takes("auto, cpu, cuda, cuda:N or, for tests, host"),
    row(stage, "pin", choice, "whether the buffers that a GPU reads are pinned for it")
        .of_member<&StageKeys::pin>()
        .of(kReaders),
    row(stage, "memory", choice, "where the output tensors of a device stage are stored")
        .of_member<&StagePlanningKeys::device_memory>()
        .of(kTransforms),
    row(stage, "cpus", special, "cores that the replicas may run on")
        .of_member<&StageKeys::cpus>()
        .takes("a list of cores, 0 to 1023: [0, 1] or 0-3")
        .range(0, kCpuMax)
        .otherwise("all"),
    row(stage, "env", mapping, "environment of the replicas").of_member<&StageKeys::env>(),
    row(stage, "on_error", special, "what happens to a sample that fails")
        .of_member<&StageKeys::on_error>()
        .takes("stop, {skip: N} or {skip: N%}"),
    row(stage, "restart", special, "what happens when a replica dies")
        .of_member<&StageKeys::restart>()
        .takes("never, on_failure, always or {policy: ..., backoff: ..., burst: ..., within: ..., "
               "then: ...}")
        .otherwise("on_failure; consumers and stages that keep state: never"),
    row(stage, "poison_after", whole,
        "deaths after which the sample that caused them is quarantined")
        .of_member<&StageKeys::poison_after>()
        .range(1, 100)
        .counts("deaths"),
    row(stage, "stall_timeout", special,
        "how long one call of a stage may take before it is reported")
        .of_member<&StageKeys::stall>()
        .in_plan("stall")
        .takes("a duration from 1ms to 8760h, or {after: ..., then: ...}")
        .range(kMillisecond, kDurationMax),
    row(stage, "keep", names, "tensors to pass through, among those that the type does not use")
        .otherwise("all")
        .of(kTransforms),
    row(stage, "drop", names, "tensors not to pass through").otherwise("none").of(kTransforms),
    row(stage, "random", name, "stages with the same name draw the same random numbers")
        .of_member<&StageKeys::random>()
        .otherwise("the stage's name"),
    row(stage, "exec", special, "program that runs the stage, in place of a stage type")
        .takes("a program or a list [PROGRAM, ARGUMENT, ...]"),
    row(stage, "tensors", special, "tensors that an application or an `exec:` program writes")
        .takes("a mapping NAME: {dtype: D, shape: [SIZES]}")
        .of(kWriters),
    row(stage, "count", whole, "number of samples of a source in `exec:` or Python")
        .of_member<&StageKeys::count>()
        .range(1, kNumbersMax)
        .otherwise("none (required)")
        .counts("samples")
        .of(kIndexedProducers),
    row(stage, "hold", whole,
        "batches that a program, or a consumer that keeps batches, may hold at once, counted from "
        "the oldest")
        .of_member<&StagePlanningKeys::hold>()
        .range(1, kHoldMax)
        .counts("batches"),
    row(stage, "hold_timeout", duration,
        "how long a program at the limit of `hold:` waits for a release before it fails with an "
        "error")
        .of_member<&StageKeys::hold_timeout_ns>()
        .range(0, kDurationMax),
    row(stage, "shared", names, "shared tensors of the graph that the replicas map")
        .otherwise("none"),

    row(source, "stage", name, "the stage to read, or stage.tensor"),
    row(source, "batch", whole, "samples per batch for this reader")
        .range(1, kBatchMax)
        .otherwise("`batch:` of the stage that is read")
        .counts("samples"),
    row(source, "max_wait", duration, "longest wait for a full batch downstream of a live source")
        .of_member<&SourceKeys::max_wait_ns>()
        .range(0, kDurationMax),

    row(on_error, "skip", special, "samples that may fail before the run stops")
        .takes("a number of samples, or a percentage of an epoch"),

    row(restart, "policy", choice, "when a replica is restarted").of_member<&RestartSpec::policy>(),
    row(restart, "backoff", duration,
        "wait before the second restart, doubled each time; the first restart is immediate")
        .of_member<&RestartSpec::backoff_ns>()
        .range(0, kDurationMax),
    row(restart, "burst", whole, "restarts within `within:` before `then:`")
        .of_member<&RestartSpec::burst>()
        .range(1, 1'000'000)
        .counts("restarts"),
    row(restart, "within", duration, "time over which restarts are counted")
        .of_member<&RestartSpec::within_ns>()
        .range(kMillisecond, kDurationMax),
    row(restart, "then", choice, "what happens after `burst:` restarts")
        .of_member<&RestartSpec::degrade>()
        .in_plan("degrade"),

    row(stall, "after", duration, "time without progress in one call")
        .of_member<&StallSpec::after_ns>()
        .range(kMillisecond, kDurationMax),
    row(stall, "then", choice, "what happens in addition to a warning")
        .of_member<&StallSpec::abort>()
        .in_plan("abort"),
};

}  // namespace

std::span<const KeySpec> key_table() { return kKeyTable; }

const KeySpec* find_key(KeyScope scope, std::string_view name) {
  for (const KeySpec& key : kKeyTable)
    if (key.scope == scope && key.name == name) return &key;
  return nullptr;
}

std::string_view renamed_key(KeyScope scope, std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"rows", "chunk"}, {"state", "shared"}, {"outputs", "tensors"}};
  for (const auto& [before, now] : kRenamed)
    if (before == name && find_key(scope, now) != nullptr) return now;
  return {};
}

std::vector<std::string_view> key_names(KeyScope scope) {
  std::vector<std::string_view> names;
  for (const KeySpec& key : kKeyTable)
    if (key.scope == scope) names.push_back(key.name);
  return names;
}

}  // namespace brigade
