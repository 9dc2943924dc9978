#pragma once

// The fields of the values of YAML keys, for plan_fields.h: a key with a member follows from
// its row in the key table; one whose value is a struct names that struct's fields here.

#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <type_traits>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"

/// BRIGADE_VISIT_FIELDS(value, a, b) is `visit("a", value.a); visit("b", value.b);`. A field has
/// the member's name in JSON.
#define BRIGADE_VISIT_FIELD(r, value, field) visit(BOOST_PP_STRINGIZE(field), value.field);
#define BRIGADE_VISIT_FIELDS(value, ...) \
  BOOST_PP_SEQ_FOR_EACH(BRIGADE_VISIT_FIELD, value, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
/// plan_fields() of a struct.
#define BRIGADE_PLAN_FIELDS(Struct, ...)          \
  template <class Visit>                          \
  void plan_fields(Visit& visit, Struct& value) { \
    BRIGADE_VISIT_FIELDS(value, __VA_ARGS__)      \
  }

namespace brigade {

template <class Enum>
struct PlanChoice {  ///< an enum that is written as its value's name in the key table
  const KeySpec& key;
  Enum& value;
};

BRIGADE_PLAN_FIELDS(SampleLimit, samples, share)
BRIGADE_PLAN_FIELDS(SplitShare, name, share)
BRIGADE_PLAN_FIELDS(Split, shares, seed)
BRIGADE_PLAN_FIELDS(Weights, balanced, file, classes)
BRIGADE_PLAN_FIELDS(Mix, shares)
BRIGADE_PLAN_FIELDS(RepeatFactor, below)
BRIGADE_PLAN_FIELDS(OnError, skip, count_max, percent_max)

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
