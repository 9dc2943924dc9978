#include "pipeline/config/language/key_table.h"

namespace brigade {
namespace {

using enum KeyScope;

constexpr ValueSpec kValues[] = {
    {stage, "take", "spread", "from all over the source, by the seed"},
    {stage, "take", "first", "the first ones"},
    {stage, "join", "zip", "the same number of samples from each, side by side"},
    {stage, "join", "merge", "whichever is there"},
    {stage, "join", "epochs", "an epoch of the first, then one of the second, and so on"},
    {stage, "assign", "shared", "whoever is free takes the next task"},
    {stage, "assign", "fixed", "task t to replica t mod R, for equal counts"},
    {stage, "pin", "auto", "where that can be had; else batches are copied more slowly"},
    {stage, "pin", "yes", "else the run is refused"},
    {stage, "pin", "no", "batches are copied as ordinary memory"},
    {stage, "memory", "host", "in shared memory, for any reader"},
    {stage, "memory", "device", "on that device, for one reader that computes there, too"},
    {shard, "uneven", "pad", "some samples are read twice in an epoch"},
    {shard, "uneven", "drop", "the last few samples of an epoch are dropped"},
    {shard, "uneven", "error", "the run is refused"},
    {KeyScope::shared, "access", "shared", "everybody, all of it"},
    {KeyScope::shared, "access", "own_part", "each replica of its one stage writes its part"},
    {restart, "policy", "never", "a death ends the run"},
    {restart, "policy", "on_failure",
     "started again after a crash, a kill or an exit with an error"},
    {restart, "policy", "always", "started again after any end before its work is done"},
    {restart, "then", "fail", "the run fails"},
    {restart, "then", "degrade", "the other replicas carry on"},
    {stall, "then", "warn", "nothing: a call that takes long is not a fault"},
    {stall, "then", "abort",
     "after twice that time aborted with a backtrace, after three times killed"},
};

}  // namespace

std::span<const ValueSpec> value_table() { return kValues; }

const ValueSpec* find_value(KeyScope scope, std::string_view key, std::string_view value) {
  for (const ValueSpec& spec : kValues)
    if (spec.scope == scope && spec.key == key && spec.value == value) return &spec;
  return nullptr;
}

std::vector<std::string_view> value_names(KeyScope scope, std::string_view key) {
  std::vector<std::string_view> names;
  for (const ValueSpec& spec : kValues)
    if (spec.scope == scope && spec.key == key) names.push_back(spec.value);
  return names;
}

std::string_view scope_name(KeyScope scope) {
  switch (scope) {
    case KeyScope::top:
      return "";
    case KeyScope::checkpoint:
      return "checkpoint";
    case KeyScope::shard:
      return "shard";
    case KeyScope::shared:
      return "shared";
    case KeyScope::stage:
      return "stage";
    case KeyScope::source:
      return "source";
    case KeyScope::on_error:
      return "on_error";
    case KeyScope::restart:
      return "restart";
    case KeyScope::stall:
      return "stall_timeout";
  }
  return "";
}

}  // namespace brigade
