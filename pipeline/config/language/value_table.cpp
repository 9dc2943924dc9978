#include "pipeline/config/language/key_table.h"

namespace brigade {
namespace {

using enum KeyScope;

constexpr ValueSpec kValues[] = {
    {stage, "take", "spread", "spread over the source, chosen by the seed"},
    {stage, "take", "first", "the first samples"},
    {stage, "join", "zip", "the same number of samples from each, side by side"},
    {stage, "join", "merge", "samples of any source, as they arrive"},
    {stage, "join", "epochs",
     "an epoch of the first source, then an epoch of the second, and so on"},
    {stage, "assign", "shared", "the next free replica takes the next task"},
    {stage, "assign", "fixed", "task t to replica t mod R, for equal counts"},
    {stage, "pin", "auto", "if possible; otherwise batches are copied more slowly"},
    {stage, "pin", "yes", "required; without it, the run is rejected with an error"},
    {stage, "pin", "no", "never; batches are copied from ordinary memory"},
    {stage, "memory", "host", "in shared memory, for any reader"},
    {stage, "memory", "device", "on the device, for one reader on the same device"},
    {shard, "uneven", "pad", "some samples are read twice in an epoch"},
    {shard, "uneven", "drop", "the last few samples of an epoch are dropped"},
    {shard, "uneven", "error", "the run is rejected with an error"},
    {KeyScope::shared, "access", "shared", "every replica may write all of it"},
    {KeyScope::shared, "access", "own_part", "each replica of its one stage writes its part"},
    {restart, "policy", "never", "a death ends the run"},
    {restart, "policy", "on_failure", "restarted after a crash, a kill or an exit with an error"},
    {restart, "policy", "always", "restarted whenever it ends before its work is done"},
    {restart, "then", "fail", "the run fails"},
    {restart, "then", "degrade", "the other replicas continue"},
    {stall, "then", "warn", "nothing: a slow call is not a fault"},
    {stall, "then", "abort",
     "aborted with a backtrace after twice that time, killed after three times that time"},
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
