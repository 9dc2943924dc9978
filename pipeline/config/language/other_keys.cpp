#include "pipeline/config/language/other_keys.h"

#include <algorithm>
#include <cctype>

#include <brigade/check.h>
#include <brigade/text.h>

namespace brigade {
namespace {

using enum KeyScope;

struct OtherKey {
  std::string_view names;    ///< as plain_key() gives them
  std::string_view key;      ///< none: `instead` says what to do
  KeyScope scope = stage;    ///< of the key
  std::string_view instead;  ///< a line of help
};

constexpr OtherKey kOtherKeys[] = {
    {"numworkers workers nworkers numprocs numproc nproc numprocesses processes numthreads njobs "
     "numparallelcalls",
     "replicas", stage, ""},
    {"batchsize bs perdevicebatchsize perdevicetrainbatchsize", "batch", stage, ""},
    {"pinmemory pinmemorydevice", "pin", stage, ""},
    {"prefetch prefetchfactor prefetchqueuedepth", "buffers", stage, ""},
    {"numepochs maxepochs nepochs numtrainepochs", "epochs", top, ""},
    {"shufflebuffer shufflebuffersize buffersize", "shuffle", stage, ""},
    {"sampler batchsampler weightedrandomsampler sampleweights", "weights", stage, ""},
    {"numsamples maxsamples", "limit", stage, ""},
    {"worldsize numreplicas numshards shardid", "shard", top, ""},
    {"timeout", "stall_timeout", stage, ""},
    {"randomseed manualseed randomstate generator", "seed", top, ""},
    {"collate collatefn", "", stage,
     "`batch:` makes batches; a `transform: python` downstream can collate them differently"},
    {"workerinitfn", "", stage,
     "write a class as a Python stage: its `__init__` runs once in each replica"},
    {"persistentworkers", "", stage, "omit it: replicas live for the whole run"},
    {"multiprocessingcontext", "", stage, "omit it: replicas are separate processes"},
};

/// Small letters and digits alone.
std::string plain_key(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const OtherKey* find_other_key(std::string_view name) {
  const std::string wanted = plain_key(name);
  for (const OtherKey& other : kOtherKeys)
    for (const std::string_view one : split(other.names, ' '))
      if (one == wanted) return &other;
  return nullptr;
}

std::string_view place_of(KeyScope key, std::optional<KeyScope> scope) {
  if (scope == key) return "";
  if (key == top) return " at the top level of the file";
  return scope ? " at a stage" : " beside `params:`";
}

}  // namespace

std::optional<std::string> other_key_help(std::string_view name, std::optional<KeyScope> scope) {
  const OtherKey* const other = find_other_key(name);
  if (other == nullptr) return std::nullopt;
  if (other->key.empty()) return std::string(other->instead);
  const KeySpec* const key = find_key(other->scope, other->key);
  BRIGADE_CHECK(key != nullptr, other->key);
  return concat("write `", key->name, ":`", place_of(key->scope, scope), ": ", key->help);
}

std::optional<std::string> key_as_setting(std::string_view name, std::string_view value) {
  std::string written(name);
  std::replace(written.begin(), written.end(), '-', '_');
  const KeySpec* key = find_key(top, written);
  if (key == nullptr) key = find_key(stage, written);
  if (key == nullptr)
    if (const OtherKey* const other = find_other_key(written); other && !other->key.empty())
      key = find_key(other->scope, other->key);
  if (key == nullptr) return std::nullopt;
  return concat("--set ", key->scope == stage ? "stages.STAGE." : "", key->name, "=",
                value.empty() ? "VALUE" : value);
}

}  // namespace brigade
