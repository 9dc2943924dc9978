#include "pipeline/process/pipeline.h"

#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "pipeline/config/source_text.h"
#include "pipeline/process/console.h"
#include "pipeline/process/graph_files.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/resume_point.h"
#include "pipeline/process/run_session.h"

namespace brigade {

struct Run::State {
  std::unique_ptr<Console> console;
  StageTypes types;
  std::optional<RunBegin> begin;  // ends after the session
  std::unique_ptr<RunSession> session;
};

Run::Run() = default;
Run::~Run() = default;

Result<void> Run::wait() {
  const RunOutcome& outcome = state_->session->wait();
  state_->console->flush();  // before what the program says about it
  if (outcome.failure.empty()) return {};
  return Error{outcome.failure};
}

void Run::stop() { state_->session->stop(SIGTERM); }

std::string Run::summary_json() { return brigade::summary_json(state_->session->wait().summary); }

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

Pipeline& Pipeline::set(std::string key_and_value) {
  sets_.push_back(std::move(key_and_value));
  return *this;
}

Pipeline& Pipeline::limit(std::uint64_t samples) {
  limit_ = samples;
  return *this;
}

Pipeline& Pipeline::in_process(bool yes) {
  in_process_ = yes;
  return *this;
}

Pipeline& Pipeline::resume(bool yes) {
  resume_ = yes;
  return *this;
}

Pipeline& Pipeline::overwrite(bool yes) {
  overwrite_ = yes;
  return *this;
}

Pipeline& Pipeline::quiet(bool yes) {
  quiet_ = yes;
  return *this;
}

Result<std::unique_ptr<Run>> Pipeline::start(const App& app) const {
  GraphFiles files{files_, sets_, {}};
  if (limit_ != 0) files.limit = limit_;
  PlannedGraph planned = plan_files(files, app.types());
  if (!planned.plan) return Error{std::string(trim(planned.messages))};
  std::unique_ptr<Run> run(new Run());
  run->state_ = std::make_unique<Run::State>();
  RunOptions options;
  options.in_process = in_process_;
  options.exec_ns = app.started_ns();
  Run::State& state = *run->state_;
  BRIGADE_ASSIGN(state.console, Console::create(STDERR_FILENO, quiet_));
  state.types = types_of(app.types(), *planned.loaded.graph);
  const Past past = resume_ ? Past::resume : overwrite_ ? Past::overwrite : Past::refuse;
  auto begin = begin_run(*planned.plan, state.types, past);
  if (!begin) return begin.error();
  state.begin.emplace(std::move(*begin));
  if (!state.begin->line.empty()) state.console->line(LineKind::note, state.begin->line);
  BRIGADE_ASSIGN(state.session,
                 RunSession::start(std::move(*planned.plan), state.types, *state.console, options));
  return run;
}

}  // namespace brigade
