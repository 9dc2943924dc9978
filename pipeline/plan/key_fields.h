#pragma once

// The fields of what keys of the YAML hold, for plan_fields.h: a key with a member follows from its
// row in the key table; one whose value is a struct names that struct's fields here.

#include <type_traits>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"

namespace brigade {

template <class Enum>
struct PlanChoice {  ///< an enum that is written as its value's name in the key table
  const KeySpec& key;
  Enum& value;
};

template <class Visit>
void plan_fields(Visit& visit, SampleLimit& limit) {
  visit("samples", limit.samples);
  visit("share", limit.share);
}

template <class Visit>
void plan_fields(Visit& visit, SplitShare& share) {
  visit("name", share.name);
  visit("share", share.share);
}

template <class Visit>
void plan_fields(Visit& visit, Split& split) {
  visit("shares", split.shares);
  visit("seed", split.seed);
}

template <class Visit>
void plan_fields(Visit& visit, Weights& weights) {
  visit("balanced", weights.balanced);
  visit("file", weights.file);
  visit("classes", weights.classes);
}

template <class Visit>
void plan_fields(Visit& visit, Mix& mix) {
  visit("shares", mix.shares);
}

template <class Visit>
void plan_fields(Visit& visit, RepeatFactor& repeat) {
  visit("below", repeat.below);
}

template <class Visit>
void plan_fields(Visit& visit, OnError& on_error) {
  visit("skip", on_error.skip);
  visit("count_max", on_error.count_max);
  visit("percent_max", on_error.percent_max);
}

template <class Visit, HoldsKeys Keys>
void plan_fields(Visit& visit, Keys& keys) {
  each_key(keys, [&visit]<class Value>(const KeySpec& key, Value& value) {
    if constexpr (!std::is_enum_v<Value>) return visit(plan_field_name(key), value);
    if constexpr (std::is_enum_v<Value>) {
      PlanChoice<Value> choice{key, value};
      visit(plan_field_name(key), choice);
    }
  });
}

}  // namespace brigade
