#include "pipeline/config/language/key_reader.h"

#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/policy_parser.h"
#include "pipeline/config/language/subset_parser.h"
#include "pipeline/config/language/weights_parser.h"

namespace brigade {

namespace {

struct Reader {
  const YamlEntry& entry;
  const KeySpec& key;
  SpecReader& read;

  template <class Value, class Member>
  static bool set(const Given<Value>& given, Member& member) {
    if (given) member = static_cast<Member>(given->value);
    return given.has_value();
  }

  Given<std::uint64_t> number() const {
    if (key.type == KeyType::size) return read.size(entry, key);
    return key.type == KeyType::whole_auto ? read.whole_or_auto(entry, key)
                                           : read.whole(entry, key);
  }

  bool operator()(bool* out) const {
    return key.type == KeyType::choice ? set(read.choice(entry, key), *out)
                                       : set(read.flag(entry, key), *out);
  }
  bool operator()(int* out) const { return set(number(), *out); }
  bool operator()(std::uint64_t* out) const { return set(number(), *out); }
  bool operator()(std::optional<std::uint64_t>* out) const { return set(number(), *out); }
  bool operator()(std::int64_t* out) const { return set(read.duration(entry, key), *out); }
  bool operator()(Uneven* out) const { return set(read.choice(entry, key), *out); }
  bool operator()(Pin* out) const { return set(read.choice(entry, key), *out); }
  bool operator()(Take* out) const { return set(read.choice(entry, key), *out); }
  bool operator()(RestartSpec::Policy* out) const { return set(read.choice(entry, key), *out); }

  bool operator()(std::string* out) const {
    if (key.type == KeyType::special) return set(parse_device(entry, key, read), *out);
    return set(key.type == KeyType::name ? read.name(entry, key) : read.text(entry, key), *out);
  }
  bool operator()(KeyTexts* out) const { return parse_variables(entry, key, read, *out); }
  bool operator()(std::vector<int>* out) const { return parse_cpus(entry, key, read, *out); }
  bool operator()(SampleLimit* out) const { return parse_limit(entry, key, read, *out); }
  bool operator()(Split* out) const { return parse_split(entry, key, read, *out); }
  bool operator()(Weights* out) const { return parse_weights(entry, key, read, *out); }
  bool operator()(RepeatFactor* out) const { return parse_repeat(entry, key, read, *out); }
  bool operator()(Mix* out) const { return parse_mix(entry, key, read, *out); }
  bool operator()(OnError* out) const { return parse_on_error(entry, key, read, *out); }
  bool operator()(RestartSpec* out) const { return parse_restart(entry, key, read, *out); }
  bool operator()(StallSpec* out) const { return parse_stall(entry, key, read, *out); }
};

}  // namespace

bool read_key(const YamlEntry& entry, const KeySpec& key, KeyField field, SpecReader& read) {
  return std::visit(Reader{entry, key, read}, field);
}

}  // namespace brigade
