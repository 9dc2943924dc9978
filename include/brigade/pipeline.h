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

/// A graph that runs. Destroying it ends the run at once. In a child that the program has forked
/// calls fail or do nothing, and batches that were held may be read.
class BRIGADE_API Run {
 public:
  ~Run();

  /// Waits until every stage has ended: until every output that the program has asked for has been
  /// read to its end or is closed, and every such input is closed; others are closed here. An error
  /// says why the run failed, in one line; a run that was stopped and drained is no error. Any
  /// thread, any number of times.
  Result<void> wait();

  /// Lets the sources finish and drains the line (at most `drain:`); the second call ends the run
  /// at once. Any thread.
  void stop();

  /// The stage of that name, a `consumer: application`: every call gives the same output. Where
  /// the graph has none of that name, an output that has ended, and wait() fails with those that
  /// there are.
  Output output(std::string_view name);
  /// Likewise a `producer: application`.
  Input input(std::string_view name);

  /// A tensor of `shared:`, all of it. Under `access: own_part` it is to be read, and with
  /// BRIGADE_POISON a copy of what is there now. Usable also when the run is gone. Where
  /// `init: STAGE.replica_0` names a stage of this program, call set_initialised() once it is
  /// filled: replicas that map it wait for that. Any thread.
  Result<SharedTensor> shared(std::string_view name) const;

  /// Where each output of the graph stands: at the first batch that it has not given. Batches that
  /// the program still holds have been given; what waits in the graph's memory has not. Keep it
  /// with what was learned of those batches, and give it to Pipeline::state(). At most 4 KiB, and a
  /// line of some 60 bytes for each sample that was skipped or quarantined. Any thread, also when
  /// the run has ended or failed; an output whose next() another thread is in stands before or
  /// behind that batch. Error: a graph that cannot be resumed (a stream, `transform: merge`), or
  /// has no output; a forked child.
  Result<std::string> state() const;
  /// The same at the beginning of an epoch, counted from 0, where an output has not come so far:
  /// what is left of the epochs before it is never given. Error, too: an output that has not given
  /// a batch, so that how long its epochs are may not be known yet.
  Result<std::string> state_at_epoch(std::uint64_t epoch) const;
  /// Where each output stands, as a few numbers, for a program that reads ahead of the loop that it
  /// feeds: state_at_mark() makes the state of that moment when it is asked for. A mark is of this
  /// run alone. Any thread. Error: a forked child.
  Result<std::string> mark() const;
  /// Errors are those of state(), and what is not a mark of this run.
  Result<std::string> state_at_mark(std::string_view mark) const;

  /// How far the run is at this moment, in the form of summary_json(): `end` is "running",
  /// `seconds` are those since the first sample, and there are no sources, edges and results. Any
  /// thread.
  Result<std::string> stats_json() const;
  /// What `brigade run --summary` writes. Waits. An error in a forked child.
  Result<std::string> summary_json();

 private:
  friend class Pipeline;
  friend struct MemoryOfRun;
  Run();
  std::shared_ptr<const RunMemory> memory() const;  // null in a forked child
  struct State;
  std::unique_ptr<State> state_;
};

/// What is wrong with a graph, or looks so, and where: as `brigade check` shows it.
struct GraphDiagnostic {
  bool is_error = false;     ///< else a warning
  std::string file = {};     ///< as it was given; "--set" for what was set; empty: no place
  int line = 0;              ///< from 1; 0: it is about all of `file`
  int column = 0;            ///< from 1, in characters
  std::string source = {};   ///< that line of the file
  std::string message = {};  ///< one line: what was expected and found
  std::string help = {};     ///< what to do; lines, without the last one's end
};

class BRIGADE_API Pipeline {
 public:
  /// Files after the first lie over it, key by key. An error names a file that cannot be read.
  static Result<Pipeline> from_file(const std::string& path,
                                    const std::vector<std::string>& more = {});

  /// YAML in hand. Its paths are relative to the working directory; messages call it `name`.
  static Pipeline from_text(std::string yaml, std::string name = "graph");

  /// YAML in hand that lies over what is there, key by key.
  Pipeline& add_text(std::string yaml, std::string name = "graph");
  /// As `--set stages.augment.replicas=4` on the command line.
  Pipeline& set(std::string key_and_value);
  /// Only so many samples of every indexed producer: its `limit:`.
  Pipeline& limit(std::uint64_t samples);
  /// The program reads these stages, whatever the graph was written for: what is not above one of
  /// them is left out, a consumer of another type becomes a `consumer: application`, a producer or
  /// transform gets one; Run::output() knows each by the name given here. Samples that nobody makes
  /// batches of come as batches of one. The graph's checkpoint is left out, too. So a program can
  /// read any graph as it is. The last call holds.
  Pipeline& read(std::vector<std::string> stages);
  /// This process reads the part of `rank`, of `world` processes: for programs that know it by
  /// another way than a launcher's variables. `shard: {rank: R, world: N}` of the graph is
  /// stronger, unless `over_graph` is. A `world` of 0: the program knows none, and tells its user
  /// itself what plan_json() says of RANK or WORLD_SIZE without the other, which is no mistake
  /// then.
  Pipeline& rank(std::uint64_t rank, std::uint64_t world, bool over_graph = false);
  /// plan_json() opens sources that do not tell how many samples they have, and asks them: as long
  /// as a run takes to open them.
  Pipeline& count(bool yes = true);
  /// Threads of this process instead of processes, for debuggers.
  Pipeline& in_process(bool yes = true);
  /// Resumes from the graph's checkpoint, as `brigade run --resume` does.
  Pipeline& resume(bool yes = true);
  /// Goes on where the run stood that gave this state: what it had given and what is given from
  /// here on are what one run gives that was never interrupted. Below `repack` the epoch is begun
  /// again. start() refuses bytes that are damaged, the state of a graph with other samples or
  /// another order, which it names, and a state beside resume().
  Pipeline& state(std::string bytes);
  /// Begins anew where a checkpoint is there, and replaces it, as `brigade run --overwrite` does.
  /// Without one of the two such a run is refused.
  Pipeline& overwrite(bool yes = true);
  /// Shows warnings and errors only; otherwise progress goes to standard error.
  Pipeline& quiet(bool yes = true);
  /// Where lines go instead: a descriptor, which start() copies, or kNoLines. What its reader does
  /// not take in time is dropped and counted; it holds up nothing.
  Pipeline& log_to(int descriptor);
  static constexpr int kNoLines = -1;
  /// Puts the events of the run that start() starts, or fails to, into this queue, too.
  Pipeline& events(const Events& to);
  /// Has workers of `exec:` stages forked by another process instead, which start() asks through
  /// this socket, which it copies. For interpreters (brigade.DataLoader); its messages
  /// change with the version.
  Pipeline& fork_workers(int socket);
  /// Lets the program come back from calls that wait: next(), acquire(), Run::wait() and
  /// summary_json() ask this on their own thread, whenever a signal has ended its sleep and about
  /// every 100 ms that they wait; not where nothing has to be waited for. Yes: the call fails
  /// (Refusal::interrupted), and everything is as it was before; a range ends the run, as with any
  /// error. wait() and summary_json() ask once before they close what was never asked for, which
  /// stays closed where the answer is yes later. It must not throw, nor call this run.
  Pipeline& interrupted(std::function<bool()> asked);

  /// All mistakes and warnings, in the order of their places; runs nothing. Imports the files of
  /// Python stages anew; the calls below import each once, for this object and its copies.
  std::vector<GraphDiagnostic> check(const App& app) const;
  /// What `brigade plan --json` prints. The error holds every mistake, a few lines each; `found`
  /// gets what check() would give of a graph that is wrong; otherwise it stays as it is.
  Result<std::string> plan_json(const App& app,
                                std::vector<GraphDiagnostic>* found = nullptr) const;

  /// Checks everything and starts. The error and `found` are as above. `app` outlives the run.
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
  std::shared_ptr<StageDescriber> describer_;  // knows what Python stages have said already
};

}  // namespace brigade
