#include "pipeline/worker/exec_worker.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include <brigade/text.h>
#include "base/json.h"
#include "pipeline/worker/replica_main.h"
#include "pipeline/worker/worker.h"
#include "stages/detail/exec_stage.h"

namespace brigade {
namespace {

void move_descriptors(WorkerRole& role, std::string_view moved) {
  std::map<int, int> places;
  for (const std::string_view one : split(moved, ',')) {
    int from = -1, to = -1;
    const std::size_t middle = std::min(one.find('='), one.size());
    std::from_chars(one.data(), one.data() + middle, from);
    std::from_chars(one.data() + std::min(middle + 1, one.size()), one.data() + one.size(), to);
    places[from] = to;
  }
  const auto move = [&places](int& fd) {
    if (const auto place = places.find(fd); place != places.end()) fd = place->second;
  };
  for (int* const fd : {&role.control_fd, &role.plan_fd, &role.report_fd}) move(*fd);
  for (RingGrant& grant : role.rings) {
    move(grant.fd);
    move(grant.cache_fd);
  }
  for (SharedGrant& grant : role.shared) move(grant.fd);
  for (DeviceGrant& grant : role.device) move(grant.fd);
}

Result<WorkerRole> take_role() {
  static std::atomic<bool> taken = false;
  const char* const text = std::getenv(kRoleVariable);
  if (text == nullptr)
    return Error{taken
                     ? "this process is already attached: a replica attaches once"
                     : "there is no graph to attach to: run this program as a stage with `exec:`"};
  auto role = parse_role(text);
  if (role && getppid() != role->supervisor)
    return Error{
        "only the process that `exec:` started can attach, not its children; in a shell script, "
        "write `exec PROGRAM` in the last line"};
  unsetenv(kRoleVariable);  // a program that this one starts is no worker
  taken = true;
  if (const char* const moved = std::getenv(kMovedVariable); moved != nullptr && role) {
    move_descriptors(*role, moved);
    unsetenv(kMovedVariable);
  }
  if (!role) return role.error().within("the run has a different version than this library");
  return role;
}

}  // namespace

ExecWorker::ExecWorker(WorkerRole role, SourceTypes::List types)
    : role_(std::move(role)),
      sink_(role_.report_fd),
      reporter_(role_.number, sink_, clock_),
      sources_(std::move(types), role_.source_libraries) {}

// What the program left running must not find its memory gone.
ExecWorker::~ExecWorker() {
  if (segments_) static_cast<void>(segments_.release());
}

Result<std::unique_ptr<ExecWorker>> ExecWorker::attach(SourceTypes::List types) {
  BRIGADE_ASSIGN(WorkerRole role, take_role());
  begin_worker(role);
  std::unique_ptr<ExecWorker> worker(new ExecWorker(std::move(role), std::move(types)));
  if (const auto opened = worker->open(); !opened) return worker->failed(opened.error());
  return worker;
}

Result<void> ExecWorker::open() {
  BRIGADE_ASSIGN(segments_, attach_role(role_));
  const PlanStage& of = stage();
  if (!of.is_exec())
    return Error{concat("stage ", quote(of.name), " is not a program, but ", quote(of.type))};
  if (const char* fault = std::getenv(kFaultVariable))
    BRIGADE_TRY(arm_worker_fault(fault, of.name, role_.replica));
  ReplicaSetup setup;
  setup.plan = &plan();
  setup.resume = &segments_->resume();
  setup.stage = role_.stage;
  setup.replica = role_.replica;
  setup.control = &segments_->control();
  setup.rings = segments_->slot_rings();
  setup.type = &exec_type(of.kind);
  setup.make_stage = [] { return Result<std::unique_ptr<Stage>>(make_exec_stage()); };
  setup.make_producer = [count = of.count] {
    return Result<std::unique_ptr<Producer>>(make_exec_source(count));
  };
  sources_.name_samples(setup);
  setup.reporter = &reporter_;
  setup.spins = role_.spins;
  BRIGADE_ASSIGN(setup.shared, map_shared(role_, plan()));
  shared_ = setup.shared.tensors;
  replica_.emplace(std::move(setup));
  return replica_->open();
}

std::string ExecWorker::params_json() const {
  auto params = nlohmann::ordered_json::object();
  for (const auto& [name, value] : stage().params)  // each is JSON in the plan already
    if (auto read = parse_json<nlohmann::ordered_json>(value.text)) params[name] = std::move(*read);
  return params.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Error ExecWorker::failed(const Error& error) {
  fail(error.message);
  return error;
}

void ExecWorker::fail(std::string_view message) {
  if (!has_failed_.exchange(true)) sink_.send({role_.number, Failed{std::string(message)}});
}

Result<std::optional<Call>> ExecWorker::next() {
  if (ended_) return std::optional<Call>();
  if (!std::exchange(ready_, true)) {
    for (const SharedTensor& tensor : shared_)
      if (tensor.fill()) tensor.set_initialised();
    sink_.send({role_.number, Ready{replica_->source_size(), replica_->skipped()}});
  }
  auto call = replica_->next_call();
  if (!call) return failed(call.error());
  ended_ = !call->has_value();
  // A program that sets no shape of a ragged tensor fills it.
  if (!ended_ && (*call)->out != nullptr && !(*call)->out->batched)
    for (Field& field : (*call)->out->fields) field.shape = field.bounds;
  return call;
}

Result<void> ExecWorker::settle(Result<Next> answer) {
  if (const auto settled = replica_->settle(std::move(answer)); !settled)
    return failed(settled.error());
  return {};
}

Result<void> ExecWorker::close() {
  if (std::exchange(closed_, true) || has_failed_) return {};
  reporter_.flush();
  if (!ended_) return {};
  const auto ended = end_replica(*replica_, role_.number, sink_, reporter_);
  return ended ? ended : Result<void>(failed(ended.error()));
}

}  // namespace brigade
