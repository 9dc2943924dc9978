#pragma once

// The values of the keys of the YAML: a member for each plain key, whose initializer is the
// key's default. The members stand in key_table.inc, each in the row of its key, which says the
// rest of it; the parser, `plan --yaml`, the plan's JSON, the help and the schema go through them.
//
// The same structs are a part of StageSpec and GraphSpec (as written), of ValidStage and ValidGraph
// (values that depend on other keys are filled in) and of PlanStage and Plan. The planner turns the
// *PlanningKeys into numbers of the plan, so a plan has none of them. Plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <brigade/types.h>

// The rows of key_table.inc as members of the struct that is defined: a row of another one, whose
// BRIGADE_IS_ is not BRIGADE_THIS, is left out.
#define BRIGADE_THIS ~, BRIGADE_KEEP
#define BRIGADE_KEEP(...) __VA_ARGS__
#define BRIGADE_OMIT(...)
#define BRIGADE_SECOND(first, second, ...) second
#define BRIGADE_CHOOSE(...) BRIGADE_SECOND(__VA_ARGS__)
#define BRIGADE_ROW(...)
#define BRIGADE_KEY(Keys, Type, member, initial, ...) \
  BRIGADE_CHOOSE(BRIGADE_IS_##Keys, BRIGADE_OMIT, ~)(Type member = initial;)

namespace brigade {

/// How several sources become one input.
enum class Join : std::uint8_t { single, zip, merge, epochs };

/// What happens to a sample whose stage returned an error.
struct OnError {
  bool skip = false;            ///< false: stop the run
  std::uint64_t count_max = 0;  ///< samples that may be skipped over the run (skip: N)
  double percent_max = 0;       ///< of one epoch's samples (skip: N%); 0: count_max holds
  friend bool operator==(const OnError&, const OnError&) = default;
};

/// What happens when a source cannot be divided by the number of processes that share it.
enum class Uneven : std::uint8_t {
  pad,   ///< some samples are read twice in an epoch
  drop,  ///< the last few of an epoch are read by nobody
  error
};

/// The part of every indexed source that this process reads.
struct Shard {
#define BRIGADE_IS_Shard BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_Shard
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct RestartSpec {
  enum class Policy : std::uint8_t { never, on_failure, always };
#define BRIGADE_IS_RestartSpec BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_RestartSpec
  friend bool operator==(const RestartSpec&, const RestartSpec&) = default;
};

/// When a call that does not return is said, and whether its process is ended.
struct StallSpec {
#define BRIGADE_IS_StallSpec BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_StallSpec
  friend bool operator==(const StallSpec&, const StallSpec&) = default;
};

/// When a consumer saves a checkpoint: neither given, at the end of each epoch of each source.
struct CheckpointEvery {
  std::uint64_t samples = 0;
  std::int64_t ns = 0;
  friend bool operator==(const CheckpointEvery&, const CheckpointEvery&) = default;
};

/// Shares are counted in billionths, so that 0.1 is exactly a tenth.
inline constexpr std::uint64_t kWholeShare = 1'000'000'000;

/// How much of a source is read: so many samples, or a share of them. Neither: all.
struct SampleLimit {
  std::uint64_t samples = 0;
  std::uint64_t share = 0;                                            ///< in billionths
  constexpr SampleLimit(std::uint64_t count = 0) : samples(count) {}  // NOLINT: implicit
  constexpr bool any() const { return samples != 0 || share != 0; }
  friend bool operator==(const SampleLimit&, const SampleLimit&) = default;
};

/// Which samples a limit takes.
enum class Take : std::uint8_t { spread, first };

struct SplitShare {
  std::string name;
  std::uint64_t share = 0;  ///< in billionths
  friend bool operator==(const SplitShare&, const SplitShare&) = default;
};

/// Parts of a source. What the shares leave is one more part, which any other name reads.
struct Split {
  std::vector<SplitShare> shares;  ///< by name; none: the source is one part
  std::uint64_t seed = 0;
  friend bool operator==(const Split&, const Split&) = default;
};

/// How often samples come in an epoch, relative to each other. Nothing given: each comes once.
struct Weights {
  std::string file;  ///< with a number for each sample of the source
  std::vector<std::pair<std::string, double>> classes;  ///< of each sample of a class, by its name
  bool balanced = false;                                ///< each class as often as any other
  bool any() const { return balanced || !file.empty() || !classes.empty(); }
  friend bool operator==(const Weights&, const Weights&) = default;
};

/// Samples of a class that has a smaller share of all come more often.
struct RepeatFactor {
  std::uint64_t below = 0;  ///< that share, in billionths; 0: each sample comes once
  friend bool operator==(const RepeatFactor&, const RepeatFactor&) = default;
};

/// How much of an epoch is drawn from each of several producers, relative to each other.
struct Mix {
  std::vector<std::pair<std::string, double>> shares;  ///< by the name of the stage; none: no mix
  bool any() const { return !shares.empty(); }
  friend bool operator==(const Mix&, const Mix&) = default;
};

using KeyTexts = std::vector<std::pair<std::string, std::string>>;  ///< a mapping of the user's

struct StageKeys {
#define BRIGADE_IS_StageKeys BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_StageKeys
  friend bool operator==(const StageKeys&, const StageKeys&) = default;
};

struct StagePlanningKeys {
#define BRIGADE_IS_StagePlanningKeys BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_StagePlanningKeys
};

/// Of one source of a stage. Which of them were given is known beside it.
struct SourceKeys {
#define BRIGADE_IS_SourceKeys BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_SourceKeys
};

struct GraphKeys {
#define BRIGADE_IS_GraphKeys BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_GraphKeys
  friend bool operator==(const GraphKeys&, const GraphKeys&) = default;
};

struct GraphPlanningKeys {
#define BRIGADE_IS_GraphPlanningKeys BRIGADE_THIS
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_IS_GraphPlanningKeys
};

#undef BRIGADE_KEY
#undef BRIGADE_ROW
#undef BRIGADE_CHOOSE
#undef BRIGADE_SECOND
#undef BRIGADE_OMIT
#undef BRIGADE_KEEP
#undef BRIGADE_THIS

}  // namespace brigade
