#pragma once

// A graph in your own program: read it, start it, wait for it. Nothing here throws.
//
//   brigade::App app(argc, argv, types);   // first in main(): see app.h
//   auto run = brigade::Pipeline::from_file("imagenet.yaml").value().start(app).value();
//   return run->wait() ? 0 : 1;
//
// Legal order: (from_file | from_text) (set | limit | state)* start, then wait, stop and state in
// any order.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/app.h>
#include <brigade/event.h>
#include <brigade/export.h>
#include <brigade/input.h>
#include <brigade/output.h>
#include <brigade/result.h>
#include <brigade/shared.h>

namespace brigade {

struct GraphFiles;
struct MemoryOfRun;
struct RunMemory;
class StageDescriber;

/// A running graph. Destroying it ends the run at once. In a forked child its calls fail or do
/// nothing, but batches that were held may be read.
class BRIGADE_API Run {
 public:
  ~Run();

  /// Waits until every stage has ended, that is, until every output that the program uses was read
  /// to its end or closed, and every input that it uses was closed; it closes all others. An error
  /// is the one-line reason why the run failed; a run that was stopped and drained did not fail.
  /// Any thread, any number of times.
  Result<void> wait();

  /// Stops the sources and drains the pipeline (at most `drain:`); a second call ends the run at
  /// once. Any thread.
  void stop();

  /// The output of the stage `name`, a `consumer: application`; every call returns the same one. If
  /// the graph has no such stage, the output has ended and wait() fails with the existing names.
  Output output(std::string_view name);
  /// Same for a `producer: application`.
  Input input(std::string_view name);

  /// The whole tensor `name` of `shared:`. With `access: own_part` it is read-only, and with
  /// BRIGADE_POISON a copy of the current values. Stays usable after the run. If `init:
  /// STAGE.replica_0` names a stage of this program, call set_initialised() once it is filled:
  /// replicas that map it wait for that. Any thread.
  Result<SharedTensor> shared(std::string_view name) const;

  /// The position of each output: the first batch that it has not delivered. Batches that the
  /// program holds are delivered; batches that wait in the graph are not. Store it with what was
  /// learned from the delivered batches, and pass it to Pipeline::state(). At most 4 KiB, plus
  /// about 60 bytes for each skipped or quarantined sample. Any thread, even if the run has ended
  /// or failed. If another thread is in next() of an output, the position is before or after that
  /// batch. Error: the graph cannot be resumed (a stream, `transform: merge`) or has no output, or
  /// this is a forked child.
  Result<std::string> state() const;
  /// The same at the beginning of an epoch (from 0) that an output has not reached: the rest of
  /// earlier epochs is never delivered. An error also if an output has not delivered a batch yet,
  /// because the length of its epochs may be unknown.
  Result<std::string> state_at_epoch(std::uint64_t epoch) const;
  /// The position of each output as a few numbers, for a program that reads ahead of its training
  /// loop: state_at_mark() turns it into a state later. A mark belongs to this run. Any thread.
  /// Error: a forked child.
  Result<std::string> mark() const;
  /// Errors: those of state(), or not a mark of this run.
  Result<std::string> state_at_mark(std::string_view mark) const;

  /// Progress of the current run, in the form of summary_json(): `end` is "running", `seconds`
  /// counts from the first sample, and sources, edges and results are missing. Any thread.
  Result<std::string> stats_json() const;
  /// Waits, then returns what `brigade run --summary` writes. Error: a forked child.
  Result<std::string> summary_json();

 private:
  friend class Pipeline;
  friend struct MemoryOfRun;
  Run();
  std::shared_ptr<const RunMemory> memory() const;  // null in a forked child
  struct State;
  std::unique_ptr<State> state_;
};

/// An error or a warning about a graph, with its place, as `brigade check` shows it.
struct GraphDiagnostic {
  bool is_error = false;     ///< otherwise a warning
  std::string file = {};     ///< as passed; "--set" for settings; empty: no place
  int line = 0;              ///< from 1; 0: all of `file`
  int column = 0;            ///< from 1, in characters
  std::string source = {};   ///< that line of the file
  std::string message = {};  ///< one line: what was expected and found
  std::string help = {};     ///< what to do; lines, without the last line end
};

class BRIGADE_API Pipeline {
 public:
  /// Later files override earlier ones, key by key. Error: a file cannot be read.
  static Result<Pipeline> from_file(const std::string& path,
                                    const std::vector<std::string>& more = {});

  /// YAML as text. Its paths are relative to the working directory; messages call it `name`.
  static Pipeline from_text(std::string yaml, std::string name = "graph");

  /// YAML as text that overrides the graph so far, key by key.
  Pipeline& add_text(std::string yaml, std::string name = "graph");
  /// Same as `--set stages.augment.replicas=4` on the command line.
  Pipeline& set(std::string key_and_value);
  /// Limits the samples of every indexed producer, as its `limit:` does.
  Pipeline& limit(std::uint64_t samples);
  /// Sets the stages that the program reads, so that a program can read any graph unchanged.
  /// Upstream stages that none of them needs are omitted. A consumer of another type becomes a
  /// `consumer: application`; a producer or transform gets one. Run::output() finds each by the
  /// name given here. Samples without a batch arrive as batches of one. The graph's checkpoint is
  /// omitted. The last call wins.
  Pipeline& read(std::vector<std::string> stages);
  /// This process reads the part of `rank` of `world` processes; for programs that do not use the
  /// variables of a launcher. `shard: {rank: R, world: N}` of the graph wins unless `over_graph` is
  /// set. A `world` of 0 means unknown: then RANK or WORLD_SIZE alone is not a mistake, and the
  /// program itself reports what plan_json() says about it.
  Pipeline& rank(std::uint64_t rank, std::uint64_t world, bool over_graph = false);
  /// Lets plan_json() open sources of unknown length to count their samples, which takes as long as
  /// opening them in a run.
  Pipeline& count(bool yes = true);
  /// Uses threads of this process instead of processes, for debuggers.
  Pipeline& in_process(bool yes = true);
  /// Resumes from the graph's checkpoint, as `brigade run --resume` does.
  Pipeline& resume(bool yes = true);
  /// Resumes from the state of an earlier run: together, both runs deliver the same batches as one
  /// run without interruption. Downstream of `repack` the epoch starts over. start() rejects
  /// damaged bytes, the state of a graph with other samples or another order (it names the
  /// difference), and a state together with resume().
  Pipeline& state(std::string bytes);
  /// Starts over and replaces an existing checkpoint, as `brigade run --overwrite` does. Without
  /// overwrite() or resume(), start() rejects a run whose checkpoint exists.
  Pipeline& overwrite(bool yes = true);
  /// Shows warnings and errors only; otherwise progress goes to standard error.
  Pipeline& quiet(bool yes = true);
  /// Where log lines go: a descriptor, which start() copies, or kNoLines. Lines that its reader
  /// does not read in time are dropped and counted; the run never waits for it.
  Pipeline& log_to(int descriptor);
  static constexpr int kNoLines = -1;
  /// Also puts the events of the run into this queue, even if start() fails.
  Pipeline& events(const Events& to);
  /// Lets another process fork the workers of `exec:` stages; start() sends requests through a copy
  /// of this socket. For interpreters (brigade.DataLoader); its messages change between versions.
  Pipeline& fork_workers(int socket);
  /// Lets calls that wait return early. next(), acquire(), Run::wait() and summary_json() call
  /// `asked` on their own thread, whenever a signal interrupts the wait and about every 100 ms;
  /// calls that need not wait never do. If it returns true, the call fails (Refusal::interrupted)
  /// and changes nothing; a range ends the run, as after any error. wait() and summary_json() call
  /// it once before they close outputs that were never used; those stay closed even if a later
  /// answer is true. It must not throw, nor use this run.
  Pipeline& interrupted(std::function<bool()> asked);

  /// All mistakes and warnings, in the order of their places; runs nothing. Imports the files of
  /// Python stages again; the calls below import each file once for this object and its copies.
  std::vector<GraphDiagnostic> check(const App& app) const;
  /// What `brigade plan --json` prints. The error lists every mistake, a few lines each; for a
  /// wrong graph `found` gets the result of check(), otherwise it is unchanged.
  Result<std::string> plan_json(const App& app,
                                std::vector<GraphDiagnostic>* found = nullptr) const;

  /// Checks everything and starts. The error and `found` are as above. `app` must outlive the run.
  Result<std::unique_ptr<Run>> start(const App& app,
                                     std::vector<GraphDiagnostic>* found = nullptr) const;

 private:
  Pipeline();
  GraphFiles graph_files() const;
  std::vector<std::string> files_;
  std::vector<std::pair<std::string, std::string>> texts_;  // name, YAML
  std::vector<std::string> sets_;
  std::optional<std::vector<std::string>> read_;
  std::optional<std::string> state_;
  std::uint64_t limit_ = 0;  // 0: all
  struct Rank {
    std::uint64_t rank;
    std::uint64_t world;
    bool over_graph;
  };
  std::optional<Rank> rank_;
  bool count_ = false;
  bool in_process_ = false;
  bool resume_ = false;
  bool overwrite_ = false;
  bool quiet_ = false;
  int log_descriptor_ = 2;
  int forker_ = -1;
  std::optional<Events> events_;
  std::function<bool()> interrupted_;
  std::shared_ptr<StageDescriber> describer_;  // caches the answers of Python stages
};

}  // namespace brigade
