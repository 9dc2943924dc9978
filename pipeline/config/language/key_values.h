#pragma once

// The values of the keys of the YAML: a member for each plain key, whose initializer is the
// key's default. key_table.cpp has a row for each member, with its name, its range and its help;
// the parser, `plan --yaml`, the plan's JSON, the help and the schema go through those rows.
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
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  Uneven uneven = Uneven::pad;
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct RestartSpec {
  enum class Policy : std::uint8_t { never, on_failure, always } policy = Policy::on_failure;
  std::int64_t backoff_ns = 100'000'000;
  int burst = 5;
  std::int64_t within_ns = 30'000'000'000;
  bool degrade = false;  ///< when the burst is spent: carry on with the other replicas
  friend bool operator==(const RestartSpec&, const RestartSpec&) = default;
};

/// When a call that does not return is said, and whether its process is ended.
struct StallSpec {
  std::int64_t after_ns = 60'000'000'000;
  bool abort = false;  ///< after twice as long SIGABRT, after three times SIGKILL
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

struct StageKeys {
  Mix mix;
  bool shuffle = false;  ///< of indexed sources
  std::uint64_t skip = 0;
  Split split;
  std::string part;  ///< of `split`
  SampleLimit limit;
  Take take = Take::spread;
  Weights weights;
  RepeatFactor repeat_factor;
  std::uint64_t draws = 0;  ///< `samples:` of an epoch, with these; 0: what they say
  std::uint64_t count = 0;  ///< samples of a source that is a program (`exec:`)
  bool drop_last = false;
  std::string device = "cpu";
  Pin pin = Pin::automatic;
  std::vector<int> cpus;  ///< none: all
  std::vector<std::pair<std::string, std::string>> env;
  OnError on_error;
  RestartSpec restart;
  int poison_after = 2;
  StallSpec stall;
  std::string random;  ///< name of the random stream; empty until validated: the stage's
  std::int64_t hold_timeout_ns = 1'000'000'000;  ///< of an application: next() with `hold` held
  friend bool operator==(const StageKeys&, const StageKeys&) = default;
};

struct StagePlanningKeys {
  std::optional<std::uint64_t> seed;  ///< nothing: the graph's
  std::uint64_t replicas = 1;         ///< 0: auto
  bool fixed = false;                 ///< `assign: fixed`: task t to replica t mod R
  std::uint64_t threads = 1;
  std::uint64_t batch = 0;     ///< the writer's `batch:`; 0: none
  std::uint64_t chunk = 0;     ///< task size of a per-sample stage; 0: auto
  std::uint64_t buffers = 0;   ///< 0: the plan's sum
  bool hugepages = false;      ///< of the output's buffers
  bool device_memory = false;  ///< `memory: device`: what the type writes there stays there
  std::uint64_t hold = 4;      ///< of an application: batches that its program has at once
};

/// Of one source of a stage. Which of them were given is known beside it.
struct SourceKeys {
  std::int64_t max_wait_ns = 5'000'000;
};

struct GraphKeys {
  std::string name;  ///< empty until validated: the file's
  std::uint64_t seed = 0;
  std::uint64_t epochs = 1;
  std::int64_t drain_ns = 10'000'000'000;
  friend bool operator==(const GraphKeys&, const GraphKeys&) = default;
};

struct GraphPlanningKeys {
  bool oversubscribe = false;
  std::uint64_t memory_bytes_max = 0;  ///< 0: what the machine allows
};

}  // namespace brigade
