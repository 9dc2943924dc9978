#include "pipeline/config/key_table.h"

#include <array>

#include "base/text.h"

namespace brigade {

namespace {

constexpr std::uint64_t kSeedMax = ~0ull;
constexpr std::uint64_t kCpuMax = 4095;
constexpr bool kNotBuilt = false;
constexpr std::uint64_t kUnboundedFrom = 1ull << 31;  // a limit that nobody meets is not told

using enum KeyScope;
using enum KeyType;

// clang-format off
constexpr std::array kKeys = {
  KeySpec{top, "brigade", whole, "", "1", "", "version of this language", 1, 1},
  KeySpec{top, "name", text, "", "the file's name", "", "name of the graph, for messages and files"},
  KeySpec{top, "seed", whole, "", "0", "", "keys every random number and shuffle", 0, kSeedMax},
  KeySpec{top, "epochs", whole, "", "1", "epochs", "how often the sources are read", 1, 0xFFFF'FFFF},
  KeySpec{top, "vars", mapping, "", "", "", "variables for ${name}"},
  KeySpec{top, "stages", mapping, "", "", "", "the stages by name"},
  KeySpec{top, "state", path, "", "", "", "folder in which stages keep state over runs", 0, 0, kAllStages, kNotBuilt},
  KeySpec{top, "shard", special, "auto or {rank: R, world_size: N}", "auto", "", "the part of each source that this process reads", 0, 0, kAllStages, kNotBuilt},
  KeySpec{top, "checkpoint", special, "{file: PATH}", "", "", "where a consumer saves what it learned"},
  KeySpec{top, "drain", duration, "", "10s", "", "how long a stopped run may take to run dry"},
  KeySpec{top, "oversubscribe", flag, "", "false", "", "allows more threads than cores"},
  KeySpec{top, "memory", size, "", "what the machine allows", "", "most memory for buffers"},

  KeySpec{checkpoint, "file", path, "", "", "", "file that is replaced as a whole"},
  KeySpec{checkpoint, "every", special, "a number of samples, or a duration", "the end of each epoch", "", "how often", 0, 0, kAllStages, kNotBuilt},

  KeySpec{shard, "rank", whole, "", "", "", "number of this process", 0, 1 << 20, kAllStages, kNotBuilt},
  KeySpec{shard, "world_size", whole, "", "", "processes", "processes that share the sources", 1, 1 << 20, kAllStages, kNotBuilt},

  KeySpec{stage, "producer", special, "the name of a stage type", "", "", "stage type that makes samples"},
  KeySpec{stage, "transform", special, "the name of a stage type, or a list of them", "", "", "stage type that changes samples"},
  KeySpec{stage, "consumer", special, "the name of a stage type", "", "", "stage type that uses samples up"},
  KeySpec{stage, "from", special, "a source, a list of sources, or a mapping port: source", "", "", "what the stage reads", 0, 0, kReaders},
  KeySpec{stage, "join", choice, "", "", "", "how several sources become one input", 0, 0, kReaders},
  KeySpec{stage, "params", mapping, "", "", "", "parameters of the stage type (`brigade stages TYPE` lists them)"},
  KeySpec{stage, "replicas", whole_auto, "", "1", "processes", "processes that share the stage's work", 1, kStagesMax},
  KeySpec{stage, "threads", whole, "", "1", "threads", "threads that libraries inside one replica may use", 1, kThreadsMax},
  KeySpec{stage, "batch", whole, "", "", "samples", "samples per batch of the stage's output", 1, kBatchMax, kWriters},
  KeySpec{stage, "drop_last", flag, "", "false", "", "leaves out an epoch's last batch when it is short"},
  KeySpec{stage, "rows", whole_auto, "", "auto", "samples", "samples per task of a per-sample stage", 1, kBatchMax},
  KeySpec{stage, "buffers", whole_auto, "", "auto", "tasks", "tasks that the output holds", 1, kBatchMax, kWriters},
  KeySpec{stage, "assign", choice, "", "shared", "", "which replica gets which task", 0, 0, kReaders},
  KeySpec{stage, "device", special, "auto, cpu, cuda or cuda:N", "cpu", "", "where the stage computes"},
  KeySpec{stage, "on_error", special, "stop, {skip: N} or {skip: N%}", "stop", "", "what happens to a sample that fails"},
  KeySpec{stage, "restart", special, "never, on_failure, always or {policy: ..., backoff: ..., burst: ..., within: ..., then: ...}", "on_failure, consumers never", "", "what happens when a replica dies"},
  KeySpec{stage, "stall_timeout", duration, "", "no limit", "", "longest time for one sample before the stage is reported"},
  KeySpec{stage, "poison_after", whole, "", "2", "deaths", "deaths by one sample after which it is left out", 1, 100},
  KeySpec{stage, "cpus", special, "a list of cores: [0, 1] or 0-3", "all", "", "cores that the replicas may run on", 0, kCpuMax},
  KeySpec{stage, "env", mapping, "", "", "", "environment variables of the replicas"},
  KeySpec{stage, "plugin", path, "", "", "", "shared library with the stage type", 0, 0, kAllStages, kNotBuilt},
  KeySpec{stage, "exec", special, "a command: text or a list", "", "", "program that runs the stage", 0, 0, kAllStages, kNotBuilt},
  KeySpec{stage, "outputs", mapping, "", "", "", "tensors that the application writes", 0, 0, kProducers, kNotBuilt},
  KeySpec{stage, "hold", whole, "", "1", "batches", "batches that the application holds at once", 1, kBatchMax, kConsumers, kNotBuilt},
  KeySpec{stage, "keep", names, "", "all", "", "tensors that travel on, of those the type does not name", 0, 0, kTransforms},
  KeySpec{stage, "drop", names, "", "none", "", "tensors that do not travel on", 0, 0, kTransforms},
  KeySpec{stage, "random", name, "", "the stage's name", "", "stages that share it draw the same random numbers"},
  KeySpec{stage, "state", path, "", "", "", "file in which the stage keeps its state", 0, 0, kAllStages, kNotBuilt},
  KeySpec{stage, "shuffle", flag, "", "false", "", "a new order in every epoch", 0, 0, kIndexedProducers},
  KeySpec{stage, "seed", whole, "", "the graph's", "", "keys this source's shuffle", 0, kSeedMax, kIndexedProducers},
  KeySpec{stage, "limit", whole, "", "all", "samples", "only the first N of the source, before the shuffle", 1, kNumbersMax, kIndexedProducers},

  KeySpec{source, "stage", name, "", "", "", "the stage that is read, or stage.tensor"},
  KeySpec{source, "batch", whole, "", "the writer's", "samples", "samples per batch for this reader", 1, kBatchMax},
  KeySpec{source, "max_wait", duration, "", "5ms", "", "longest wait for a full batch below a live source", 0, 0, kAllStages, kNotBuilt},

  KeySpec{on_error, "skip", special, "a number of samples, or a percentage of an epoch", "", "", "samples that may fail before the run stops"},

  KeySpec{restart, "policy", choice, "", "on_failure", "", "when a replica is started again"},
  KeySpec{restart, "backoff", duration, "", "100ms", "", "wait before the first restart, doubled each time"},
  KeySpec{restart, "burst", whole, "", "5", "restarts", "restarts within `within:` before `then:`", 1, 1000},
  KeySpec{restart, "within", duration, "", "30s", "", "time over which restarts are counted"},
  KeySpec{restart, "then", choice, "", "fail", "", "what happens when the burst is spent"},
};

constexpr std::array kValues = {
  ValueSpec{stage, "join", "zip", "the same number of samples from each, side by side"},
  ValueSpec{stage, "join", "merge", "whichever is there", kNotBuilt},
  ValueSpec{stage, "join", "epochs", "an epoch of the first, then one of the second, and so on"},
  ValueSpec{stage, "assign", "shared", "whoever is free takes the next task"},
  ValueSpec{stage, "assign", "fixed", "task t to replica t mod R", kNotBuilt},
  ValueSpec{restart, "policy", "never", "a death ends the run"},
  ValueSpec{restart, "policy", "on_failure", "started again after a death", kNotBuilt},
  ValueSpec{restart, "policy", "always", "started again after any end", kNotBuilt},
  ValueSpec{restart, "then", "fail", "the run fails", kNotBuilt},
  ValueSpec{restart, "then", "degrade", "the other replicas carry on", kNotBuilt},
  ValueSpec{stage, "producer", "application", "an embedding program writes the samples", kNotBuilt},
  ValueSpec{stage, "consumer", "application", "an embedding program reads the batches", kNotBuilt},
  ValueSpec{stage, "transform", "[...]", "several stage types in one process", kNotBuilt},
};
// clang-format on

}  // namespace

std::span<const KeySpec> key_table() { return kKeys; }
std::span<const ValueSpec> value_table() { return kValues; }

const KeySpec* find_key(KeyScope scope, std::string_view name) {
  for (const KeySpec& key : kKeys)
    if (key.scope == scope && key.name == name) return &key;
  return nullptr;
}

const ValueSpec* find_value(KeyScope scope, std::string_view key, std::string_view value) {
  for (const ValueSpec& spec : kValues)
    if (spec.scope == scope && spec.key == key && spec.value == value) return &spec;
  return nullptr;
}

std::vector<std::string_view> key_names(KeyScope scope) {
  std::vector<std::string_view> names;
  for (const KeySpec& key : kKeys)
    if (key.scope == scope) names.push_back(key.name);
  return names;
}

std::vector<std::string_view> value_names(KeyScope scope, std::string_view key) {
  std::vector<std::string_view> names;
  for (const ValueSpec& spec : kValues)
    if (spec.scope == scope && spec.key == key) names.push_back(spec.value);
  return names;
}

std::string key_takes(const KeySpec& key) {
  const auto whole_number = [&key] {
    if (key.minimum == key.maximum) return concat(key.minimum);
    if (key.maximum >= kUnboundedFrom) return concat("a whole number of at least ", key.minimum);
    return concat("a whole number from ", key.minimum, " to ", key.maximum);
  };
  switch (key.type) {
    case flag:
      return "true or false";
    case whole:
      return whole_number();
    case whole_auto:
      return concat(whole_number(), " or auto");
    case KeyType::text:
      return "text";
    case KeyType::name:
      return "a name";
    case names:
      return "a name or a list of names";
    case path:
      return "a path";
    case size:
      return "a size such as 64MiB";
    case duration:
      return "a duration such as 100ms or 5s";
    case choice:
      return join(value_names(key.scope, key.name), ", ", " or ");
    case mapping:
      return "a mapping";
    case special:
      return std::string(key.takes);
  }
  return "";
}

std::string_view scope_text(KeyScope scope) {
  switch (scope) {
    case top:
      return "at the top level";
    case checkpoint:
      return "in `checkpoint:`";
    case shard:
      return "in `shard:`";
    case KeyScope::stage:
      return "of a stage";
    case source:
      return "of a source";
    case KeyScope::on_error:
      return "in `on_error:`";
    case restart:
      return "in `restart:`";
  }
  return "";
}

}  // namespace brigade
