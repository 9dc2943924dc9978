#include <brigade/pipeline.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <mutex>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/forked.h"
#include "pipeline/api/load_and_plan.h"
#include "pipeline/api/start_run.h"
#include "pipeline/config/language/program_reads.h"
#include "pipeline/config/yaml/source_text.h"
#include "pipeline/plan/libraries.h"
#include "pipeline/report/console.h"
#include "pipeline/report/event_queue.h"
#include "pipeline/report/plan_report.h"
#include "pipeline/run/launch/describe_process.h"
#include "pipeline/worker/plugin_loader.h"

namespace brigade {

namespace {

/// What an output and an input are to a program, until the last handle on it goes.
template <class Queue>
struct Opened {
  const ForkMark mark;
  std::shared_ptr<ProgramEnds> program;
  std::shared_ptr<Queue> queue;  // null: it cannot be used
  std::string why_not;

  Opened(std::shared_ptr<ProgramEnds> of, std::shared_ptr<Queue> opened, std::string why_not_used)
      : program(std::move(of)), queue(std::move(opened)), why_not(std::move(why_not_used)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (!queue) return;
    if (mark.in_child()) {
      keep_for_ever(std::move(queue));
    } else {
      queue->let_go();
    }
  }
  Result<void> check() const {
    if (!queue) return Error{why_not};
    return {};
  }
};

}  // namespace

struct Output::Handle : Opened<OutputQueue> {
  using Opened::Opened;
};
struct Input::Handle : Opened<InputQueue> {
  using Opened::Opened;
};

struct Run::State {
  template <class Handle>
  using Handles = std::map<std::string, std::weak_ptr<Handle>, std::less<>>;

  const ForkMark mark;
  std::unique_ptr<Console> console;  // null: nobody wants lines
  EventsOfRun events;
  std::unique_ptr<RunOutputs> told;  // the two
  std::optional<StartedRun> run;

  std::mutex mutex;
  // Those asked for.
  Handles<Output::Handle> outputs;
  Handles<Input::Handle> inputs;
  bool closed = false;  // what has not been asked for

  explicit State(std::shared_ptr<Events::State> wanted) : events(std::move(wanted)) {}
  void close_the_rest();
  /// An error where the program cannot, or says that the wait was interrupted.
  Result<const RunOutcome*> wait();
  template <class Handle, class Queue>
  std::shared_ptr<Handle> open(Handles<Handle>& handles, std::string_view what,
                               std::string_view name, Queue queue_of);
};

namespace {

/// `what`: an input or an output.
std::string none_of_that_name(const Plan& plan, std::string_view what, std::string_view name) {
  const bool output = what == "output";
  std::vector<std::string> names;
  for (const PlanStage& stage : plan.stages)
    if (output ? stage.is_output() : stage.is_input()) names.push_back(stage.name);
  const std::string_view way_out =
      output
          ? "the graph has none; write `consumer: application` at a stage whose batches the "
            "program reads"
          : "the graph has none; write `producer: application` at a stage that the program feeds";
  return concat(
      "there is no ", what, " ", quote(name), ": ",
      names.empty() ? std::string(way_out) : concat("the graph has ", join(names, ", ", " and ")));
}

}  // namespace

Result<std::optional<Batch>> Output::next(Here here) { return next_in_epoch(kNever, here); }

Result<void> Output::check() const { return handle_->check(); }

Result<std::optional<Batch>> Output::next_in_epoch(std::uint64_t epoch, Here here) {
  BRIGADE_TRY(check());
  return handle_->queue->next(epoch, here);
}

Result<std::optional<Batch>> Output::poll_in_epoch(std::uint64_t epoch, Here here) {
  BRIGADE_TRY(check());
  return handle_->queue->next(epoch, here, false);
}

bool Output::ended() const { return !handle_->queue || handle_->queue->ended(); }

bool Output::full() const { return handle_->queue && handle_->queue->full(); }

Output::Iterator Output::begin(Here here) { return {*this, kNever, here}; }

std::optional<Batch> Output::next_or_fail(std::uint64_t last_epoch, const Here& here) {
  auto batch = next_in_epoch(last_epoch, here);
  if (batch) return std::move(*batch);
  handle_->program->fail(batch.error().message);
  return std::nullopt;
}

/// The handle that there is, or a first one: of what `queue_of` finds in the session.
template <class Handle, class Queue>
std::shared_ptr<Handle> Run::State::open(Handles<Handle>& handles, std::string_view what,
                                         std::string_view name, Queue queue_of) {
  const RunSession& session = *run->session;
  if (mark.in_child())
    return std::make_shared<Handle>(session.program(), nullptr, std::string(kForkedText));
  const std::lock_guard lock(mutex);
  const auto [known, first] = handles.try_emplace(std::string(name));
  auto handle = known->second.lock();
  if (handle) return handle;
  auto queue = queue_of(session, name);
  std::string why_not;
  if (queue == nullptr) {
    why_not = none_of_that_name(session.plan(), what, name);
  } else if (!first || closed) {
    why_not = concat(what, " ", quote(name),
                     closed ? " was closed by wait(): request it earlier"
                            : " was closed with its last handle; keep a handle for further loops");
    queue = nullptr;
  }
  handle = std::make_shared<Handle>(session.program(), std::move(queue), std::move(why_not));
  known->second = handle;
  return handle;
}

Output Run::output(std::string_view name) {
  const RunSession& session = *state_->run->session;
  const std::string beneath = output_of(std::string(name));  // of Pipeline::read()
  const bool is_read = session.output(name) == nullptr && session.output(beneath) != nullptr;
  return Output(state_->open(state_->outputs, "output", is_read ? beneath : name,
                             [](const RunSession& of, auto n) { return of.output(n); }));
}

Input Run::input(std::string_view name) {
  return Input(state_->open(state_->inputs, "input", name,
                            [](const RunSession& of, auto n) { return of.input(n); }));
}

Result<SharedTensor> Run::shared(std::string_view name) const {
  if (state_->mark.in_child()) return Error{std::string(kForkedText)};
  return state_->run->session->shared(name);
}

std::shared_ptr<const RunMemory> Run::memory() const {
  if (state_->mark.in_child()) return nullptr;
  return state_->run->session->memory();
}

void Run::State::close_the_rest() {
  const std::lock_guard lock(mutex);
  if (std::exchange(closed, true)) return;
  for (const PlanStage& stage : run->session->plan().stages) {
    if (stage.is_output() && !outputs.contains(stage.name))
      run->session->output(stage.name)->let_go();
    if (stage.is_input() && !inputs.contains(stage.name)) run->session->input(stage.name)->let_go();
  }
}

/// What is closed stays so: a program that has been interrupted before is told so first.
Result<const RunOutcome*> Run::State::wait() {
  if (mark.in_child()) return Error{std::string(kForkedText)};
  const RunOutcome* outcome = nullptr;
  if (!run->session->is_interrupted()) {
    close_the_rest();
    outcome = run->session->wait_unless_interrupted();
  }
  if (outcome == nullptr)
    return Error{"the wait for the end of the run was interrupted", Refusal::interrupted};
  return outcome;
}

Result<std::optional<Slot>> Input::acquire(Here here) {
  BRIGADE_TRY(handle_->check());
  return handle_->queue->acquire(InputQueue::kForEver, here);
}

Result<std::optional<Slot>> Input::try_acquire(Here here) {
  BRIGADE_TRY(handle_->check());
  return handle_->queue->acquire(0, here);
}

Result<std::optional<Slot>> Input::acquire_for(std::chrono::nanoseconds timeout, Here here) {
  BRIGADE_TRY(handle_->check());
  const std::int64_t now = monotonic_ns();
  const std::int64_t most = InputQueue::kForEver - now;
  return handle_->queue->acquire(now + std::clamp<std::int64_t>(timeout.count(), 0, most), here);
}

Result<void> Input::check() const {
  BRIGADE_TRY(handle_->check());
  return handle_->queue->check();
}

bool Input::ended() const { return !handle_->queue || handle_->queue->ended(); }

bool Input::full() const { return handle_->queue && handle_->queue->full(); }

Result<void> Input::end_epoch() {
  BRIGADE_TRY(handle_->check());
  return handle_->queue->end_epoch();
}

Result<void> Input::close() {
  BRIGADE_TRY(handle_->check());
  return handle_->queue->close();
}

Run::Run() = default;
Run::~Run() {
  if (state_ && state_->mark.in_child()) keep_for_ever(std::move(state_));
}

Result<void> Run::wait() {
  BRIGADE_ASSIGN(const RunOutcome* const outcome, state_->wait());
  if (state_->console) state_->console->flush();  // before what the program says about it
  if (outcome->failure.empty()) return {};
  return Error{outcome->failure};
}

void Run::stop() {
  if (!state_->mark.in_child()) state_->run->session->stop(SIGTERM);
}

Result<std::string> Run::state() const { return state_at_epoch(0); }

Result<std::string> Run::state_at_epoch(std::uint64_t epoch) const {
  if (state_->mark.in_child()) return Error{std::string(kForkedText)};
  return state_->run->session->state(epoch);
}

Result<std::string> Run::mark() const {
  if (state_->mark.in_child()) return Error{std::string(kForkedText)};
  return state_->run->session->mark();
}

Result<std::string> Run::state_at_mark(std::string_view mark) const {
  if (state_->mark.in_child()) return Error{std::string(kForkedText)};
  return state_->run->session->state_at_mark(mark);
}

Result<std::string> Run::stats_json() const {
  if (state_->mark.in_child()) return Error{std::string(kForkedText)};
  return state_->run->session->stats_json();
}

Result<std::string> Run::summary_json() {
  BRIGADE_ASSIGN(const RunOutcome* const outcome, state_->wait());
  return brigade::summary_json(*outcome);
}

Pipeline::Pipeline()
    : describer_(std::make_shared<KeptAnswers>(std::make_unique<DescribeProcess>())) {}

Result<Pipeline> Pipeline::from_file(const std::string& path,
                                     const std::vector<std::string>& more) {
  Pipeline pipeline;
  pipeline.files_ = {path};
  pipeline.files_.insert(pipeline.files_.end(), more.begin(), more.end());
  for (const std::string& file : pipeline.files_) {
    if (auto text = read_source(file); !text) return text.error().within(file);
  }
  return pipeline;
}

Pipeline Pipeline::from_text(std::string yaml, std::string name) {
  return std::move(Pipeline().add_text(std::move(yaml), std::move(name)));
}

GraphFiles Pipeline::graph_files() const {
  GraphFiles files{files_, sets_, {}};
  if (limit_ != 0) files.limit = limit_;
  files.read = read_;
  for (const auto& [name, yaml] : texts_) files.texts.push_back({name, yaml, ""});
  files.describer = describer_.get();
  if (rank_) files.rank = {rank_->rank, rank_->world, rank_->over_graph};
  return files;
}

std::vector<GraphDiagnostic> Pipeline::check(const App& app) const {
  GraphFiles files = graph_files();
  files.describer = nullptr;
  return diagnostics_of(plan_files(files, app.types()));
}

Result<std::string> Pipeline::plan_json(const App& app, std::vector<GraphDiagnostic>* found) const {
  GraphFiles files = graph_files();
  files.count = count_;
  const PlannedGraph planned = plan_files(files, app.types());
  if (!planned.plan) return mistakes_of(planned, found);
  return plan_report(*planned.plan, planned.sources, planned.consumers, planned.loaded.ranks,
                     packages_of(*planned.plan, types_of(app.types(), *planned.loaded.graph),
                                 build_facts().packages));
}

Result<std::unique_ptr<Run>> Pipeline::start(const App& app,
                                             std::vector<GraphDiagnostic>* found) const {
  std::unique_ptr<Run> run(new Run());
  run->state_ = std::make_unique<Run::State>(events_ ? events_->state_ : nullptr);
  const PlannedGraph planned = plan_files(graph_files(), app.types());
  if (!planned.plan) return mistakes_of(planned, found);
  RunOptions options;
  options.in_process = in_process_;
  options.program = true;
  options.interrupted = interrupted_;
  options.forker = forker_;
  options.exec_ns = app.started_ns();
  options.workers = app.workers();
  Run::State& state = *run->state_;
  std::vector<RunOutput*> outputs;
  if (log_descriptor_ != kNoLines) {
    BRIGADE_ASSIGN(state.console, Console::create(log_descriptor_, quiet_));
    outputs.push_back(state.console.get());
  }
  if (state.events.output() != nullptr) outputs.push_back(state.events.output());
  state.told = std::make_unique<RunOutputs>(std::move(outputs));
  const Past past = resume_ ? Past::resume : overwrite_ ? Past::overwrite : Past::refuse;
  StartedRun started = start_run(planned, app.types(), past, *state.told, options, state_);
  if (!started.session)
    return Error{started.failure, started.interrupted ? Refusal::interrupted : Refusal::other};
  state.run.emplace(std::move(started));
  return run;
}

}  // namespace brigade
