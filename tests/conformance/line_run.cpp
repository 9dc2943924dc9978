#include "tests/conformance/line_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/plan/planner/planner.h"
#include "stages/builtin.h"
#include "tests/conformance/hang_timer.h"
#include "tests/conformance/plain/plain_stages.h"
#include "tests/conformance/test_stages.h"
#include "tests/support/plan_limits.h"

namespace brigade::conformance {
namespace {

bool is_recorder(std::string_view type) { return type == "record" || type == "keep"; }

constexpr std::int64_t kNeverNs = 3'600'000'000'000;
constexpr auto kFirstCallMax = std::chrono::seconds(5);  // there may be none

/// "WEIGHTS_40": a file with the weights of 40 samples.
std::optional<std::string> weights_file(const TemporaryFolder& folder, const std::string& name) {
  const auto count = strip_prefix(name, "WEIGHTS_");
  if (!count) return std::nullopt;
  std::string lines;
  for (std::uint64_t i = 0; i < std::stoull(std::string(*count)); ++i)
    lines += concat(print_number(weight_of(i)), "\n");
  return folder.write(name, lines);
}

}  // namespace

LineRun::LineRun() : types_(conformance_stage_types().append(builtin_stage_types())) {}

std::string LineRun::load(const std::string& yaml) {
  yaml_ = yaml;
  FileMetadataProbe metadata;
  const std::string records = folder_.path().string();
  LoadedGraph loaded =
      load_graph({{"test.yaml", yaml, "/", false}},
                 {.files = {},
                  .sets = {},
                  .limit = {},
                  .types = types_,
                  .metadata = metadata,
                  .environment = [&](const std::string& name) -> std::optional<std::string> {
                    if (name == "RECORDS") return records;
                    return weights_file(folder_, name);
                  },
                  .working_directory = "/"});
  if (!loaded.graph) return loaded.messages();
  graph_ = std::move(loaded.graph);
  return "";
}

std::string LineRun::prepare(const std::string& yaml, std::uint64_t hold,
                             const std::set<std::string>& inputs, Rings rings) {
  std::string mistakes = load(yaml);
  if (mistakes.empty() && !inputs.empty()) {
    feeds_ = feeds_of(*graph_, inputs);
    mistakes = load(with_inputs(yaml, *graph_, inputs));
  }
  if (!mistakes.empty()) return mistakes;
  if (hold > 0) make_applications(hold);
  for (ValidStage& stage : graph_->stages)
    if (rings == Rings::smallest && stage.kind != StageKind::consumer) stage.buffers = 1;
  PlanResult planned = plan_graph(*graph_, small_machine());
  for (const PlanProblem& problem : planned.problems) return problem.message;
  plan_ = std::move(planned.plan);
  for (PlanStage& stage : plan_.stages)  // batches are closed by their samples alone
    if (stage.is_input()) stage.max_wait_ns = kNeverNs;
  return "";
}

void LineRun::make_applications(std::uint64_t hold) {
  for (ValidStage& stage : graph_->stages) {
    if (stage.type->contract.type != "record") continue;
    stage.type = types_.find("application");
    stage.hold = hold;
    stage.replicas = 1;
    stage.fixed = false;
    stage.param_values.clear();
    stage.batched = true;
    for (ValidSource& source : stage.sources)
      source.batch = std::max<std::uint64_t>(source.batch, 1);
  }
}

std::unique_ptr<RunSession> LineRun::start(const RunOptions& options, ResumePoint from) {
  auto session = RunSession::start({plan_, std::move(from)}, types_, lines_, options);
  if (session.ok()) return std::move(*session);
  outcome_.failure = session.error().message;
  return nullptr;
}

void LineRun::run(bool in_process) {
  const HangTimer watchdog(yaml_);
  RunOptions options;
  options.in_process = in_process;
  if (const auto session = start(options)) outcome_ = session->wait();
}

/// Whom a disturbed run does not kill: nobody could do their work again. All others are started
/// again as often as it takes.
std::set<std::string> LineRun::spared_of(const Disturbance& disturbance) {
  std::set<std::string> spared;
  for (PlanStage& stage : plan_.stages) {
    if (stage.is_application()) continue;
    stage.restart = {RestartSpec::Policy::on_failure, 0, 1 << 30, 1'000'000'000, false};
    if (disturbance.degrade) stage.restart = {RestartSpec::Policy::never, 0, 1, 1, true};
    const bool stream = stage.kind == StageKind::producer && !stage.indexed;
    const bool consumer = stage.kind == StageKind::consumer;
    if (stream || (consumer && (!disturbance.consumers || stage.type == "count")))
      spared.insert(stage.name);
  }
  return spared;
}

void LineRun::run(const Disturbance& disturbance) {
  const std::set<std::string> spared = spared_of(disturbance);
  const Faults faults(disturbance);
  RunOptions options;
  options.repair_rules = disturbance.rules;
  const auto session = start(options);
  if (session == nullptr) return;
  bool hung = false;
  {
    Disturber disturber(disturbance, spared, [this] { return recorded_bytes() > 0; });
    const SoftWatchdog watchdog(std::chrono::seconds(disturbance.hangs_after_s), [&] {
      hung = true;
      session->stop(SIGTERM);
      session->stop(SIGTERM);
    });
    outcome_ = session->wait();
    disturbed_ = disturber.stop();
  }
  if (hung) outcome_.failure = "the run did not come to an end";
}

void LineRun::run(const Part& part) {
  const HangTimer watchdog(yaml_);
  ResumePoint resume = from_the_beginning(plan_, types_);
  outcome_ = {};
  if (part.resume) {
    auto from = resume_from_files(plan_, resume);
    if (!from.ok()) outcome_.failure = from.error().message;
    if (!from.ok()) return;
    resume = std::move(from->from);
  }
  RunOptions options;
  options.in_process = part.in_process;
  const auto session = start(options, std::move(resume));
  if (session == nullptr) return;
  std::atomic<bool> over{false};
  const std::uint64_t recorded = recorded_bytes();
  std::thread stopper([&] {
    const auto patience = std::chrono::steady_clock::now() + kFirstCallMax;
    while (!over && records() && recorded_bytes() == recorded &&
           std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    const auto until = std::chrono::steady_clock::now() + part.stop_after;
    while (!over && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    session->stop(SIGTERM);
    if (part.at_once) session->stop(SIGTERM);
  });
  outcome_ = session->wait();
  over = true;
  stopper.join();
}

bool LineRun::records() const {
  return std::any_of(plan_.stages.begin(), plan_.stages.end(),
                     [](const PlanStage& stage) { return is_recorder(stage.type); });
}

std::uint64_t LineRun::recorded_bytes() const {
  std::uint64_t bytes = 0;
  for (const PlanStage& stage : plan_.stages) {
    for (int replica = 0; is_recorder(stage.type) && replica < stage.replicas; ++replica) {
      std::error_code not_there;
      const auto size =
          std::filesystem::file_size(folder_.path() / concat(stage.name, '.', replica), not_there);
      if (!not_there) bytes += size;
    }
  }
  return bytes;
}

std::vector<Events> LineRun::records(const Expected& consumer) const {
  if (const auto read = read_.find(consumer.stage); read != read_.end()) return {read->second};
  return read_records(folder_.path(), consumer.stage, consumer.replicas);
}

std::uint64_t LineRun::reported(const std::string& stage, const std::string& name) const {
  for (const auto& [other, results] : outcome_.summary.results) {
    for (const StageResult& result : results)
      if (other == stage && result.name == name && result.value)
        return std::get<std::uint64_t>(*result.value);
  }
  return 0;
}

std::string LineRun::difference_to(const PlainLoop& plain, bool repeats) const {
  if (!outcome_.failure.empty()) return outcome_.failure;
  for (const Expected& consumer : plain.consumers()) {
    if (consumer.recorded) {
      const std::string wrong = difference(consumer, records(consumer), repeats);
      if (!wrong.empty()) return wrong;
      continue;
    }
    const std::uint64_t samples = reported(consumer.stage, "samples");
    const std::uint64_t batches = reported(consumer.stage, "batches");
    if (samples != consumer.samples() || batches != consumer.calls.size())
      return concat("consumer ", quote(consumer.stage), " counts ", samples, " samples in ",
                    batches, " calls, expected ", consumer.samples(), " in ",
                    consumer.calls.size());
  }
  return audit_difference(plain.edges(), outcome_.summary.edges);
}

std::string audit_difference(const std::vector<ExpectedEdge>& expected,
                             const std::vector<NamedEdgeAudit>& audits) {
  if (expected.size() != audits.size())
    return concat("expected ", expected.size(), " edges, found ", audits.size());
  for (std::size_t i = 0; i < audits.size(); ++i) {
    const ExpectedEdge& edge = expected[i];
    const EdgeAudit& audit = audits[i].audit;
    const bool same = audits[i].from == edge.from && audits[i].to == edge.to &&
                      audit.produced == edge.produced && audit.delivered == edge.delivered &&
                      audit.dropped == edge.produced - edge.delivered && audit.quarantined == 0 &&
                      audit.leaked == 0 && audit.unread == 0;
    if (!same)
      return concat(audit_text(audits[i]), "; expected ", edge.from, " -> ", edge.to, ": produced ",
                    edge.produced, ", delivered ", edge.delivered);
  }
  return "";
}

namespace {

/// What the plan says of epochs, where it does, is what the plain loop gives, beside what fails.
std::string difference_of_epochs(const ValidGraph& graph, const Plan& plan,
                                 const PlainLoop& plain) {
  const std::vector<ConsumerEpoch> known = consumer_epochs(graph, plan);
  const bool some_fail = std::any_of(plan.stages.begin(), plan.stages.end(),
                                     [](const PlanStage& stage) { return stage.skips_max > 0; });
  for (const Expected& consumer : plain.consumers()) {
    std::optional<std::uint64_t> samples = 0;
    std::optional<std::uint64_t> batches = 0;
    for (const ConsumerEpoch& one : known) {
      if (one.stage != consumer.stage) continue;
      const auto at = std::find(consumer.ports.begin(), consumer.ports.end(), one.port);
      const auto port = static_cast<std::size_t>(at - consumer.ports.begin());
      const std::uint64_t epochs =
          port < consumer.ends.size() ? consumer.ends[port] : consumer.epochs;
      samples =
          one.samples && samples ? std::optional(*samples + *one.samples * epochs) : std::nullopt;
      batches =
          one.batches && batches ? std::optional(*batches + *one.batches * epochs) : std::nullopt;
    }
    const auto agree = [&](std::uint64_t planned, std::uint64_t given) {
      return some_fail ? planned >= given : planned == given;
    };
    if (samples && !agree(*samples, consumer.samples()))
      return concat("the plan gives ", quote(consumer.stage), " ", *samples,
                    " samples, the plain loop ", consumer.samples());
    if (batches && !agree(*batches, consumer.calls.size()))
      return concat("the plan gives ", quote(consumer.stage), " ", *batches,
                    " batches, the plain loop ", consumer.calls.size());
  }
  return "";
}

}  // namespace

std::vector<std::set<std::string>> choices_of_inputs(const std::string& yaml) {
  LineRun line;
  std::vector<std::set<std::string>> choices;
  if (!line.prepare(yaml).empty()) return choices;
  const std::vector<std::string> producers = producers_of(line.graph());
  for (std::size_t chosen = 1; chosen < std::size_t{1} << producers.size(); ++chosen) {
    std::set<std::string> inputs;
    for (std::size_t i = 0; i < producers.size(); ++i)
      if ((chosen >> i & 1) != 0) inputs.insert(producers[i]);
    if (LineRun().prepare(yaml, 0, inputs).empty()) choices.push_back(std::move(inputs));
  }
  return choices;
}

std::string differs_from_plain_loop(const std::string& yaml, bool in_process, Rings rings) {
  LineRun line;
  const std::string mistakes = line.prepare(yaml, 0, {}, rings);
  if (!mistakes.empty()) return "the graph is not valid: " + mistakes;
  const PlainLoop plain(line.graph(), line.plan());
  const std::string other = difference_of_epochs(line.graph(), line.plan(), plain);
  if (!other.empty()) return other;
  line.run(in_process);
  return line.difference_to(plain);
}

}  // namespace brigade::conformance
