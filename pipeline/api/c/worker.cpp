#include <brigade/worker.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <brigade/random.h>
#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"
#include "pipeline/api/c/show_tensor.h"
#include "pipeline/worker/exec_worker.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "stages/builtin.h"

using namespace brigade;
using namespace brigade::c_api;

struct brigade_worker {
  std::unique_ptr<ExecWorker> worker;
  std::string params = {};
  std::optional<Call> task = {};
};

static_assert(BRIGADE_PRODUCER == static_cast<int>(StageKind::producer) &&
              BRIGADE_TRANSFORM == static_cast<int>(StageKind::transform) &&
              BRIGADE_CONSUMER == static_cast<int>(StageKind::consumer));

namespace {

brigade_status no_task() {
  return fail(BRIGADE_ERROR_ARGUMENT, "there is no task: call brigade_worker_next() first");
}

std::uint64_t count(const Frame* frame) { return frame == nullptr ? 0 : frame->fields.size(); }

brigade_status show(const Frame* frame, const Field* field, bool writable, brigade_tensor* tensor) {
  std::uint32_t flags = writable ? BRIGADE_WRITABLE : 0;
  if (field->ragged && (writable || frame->batched)) flags |= BRIGADE_RAGGED;
  return write_struct(frame->batched ? show_batch_tensor(*field, flags)
                                     : show_tensor(*field, field->data, field->shape, flags),
                      "tensor", tensor);
}

/// One side of the task, which may have none.
template <class Side>
brigade_status at(const brigade_worker* worker, Side&& side, std::uint64_t i, bool writable,
                  brigade_tensor* tensor) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    if (!worker->task) return no_task();
    const Frame* const frame = side(*worker->task);
    if (i >= count(frame))
      return fail(BRIGADE_ERROR_ARGUMENT,
                  concat("there is no tensor ", i, ": expected an index below ", count(frame)));
    return show(frame, &frame->fields[i], writable, tensor);
  });
}

brigade_status no_tensor(const Frame* frame, std::string_view name, bool writable) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count(frame); ++i) names.push_back(frame->fields[i].name);
  return fail(BRIGADE_ERROR_ARGUMENT,
              concat("the task has no ", writable ? "output " : "input ", quote(name),
                     ": available: ", names.empty() ? "none" : join(names, ", ", " and ")));
}

template <class Side>
brigade_status find(const brigade_worker* worker, Side&& side, const char* name, bool writable,
                    brigade_tensor* tensor) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(name);
    if (!worker->task) return no_task();
    const Frame* const frame = side(*worker->task);
    const Field* const field = frame == nullptr ? nullptr : frame->find(name);
    return field == nullptr ? no_tensor(frame, name, writable)
                            : show(frame, field, writable, tensor);
  });
}

const Frame* in(const Call& task) { return task.in; }
const Frame* out(const Call& task) { return task.out; }

brigade_status settle(brigade_worker* worker, Result<Next> answer) {
  if (!worker->task) return no_task();
  worker->task.reset();
  const auto settled = worker->worker->settle(std::move(answer));
  return settled ? BRIGADE_OK : fail(BRIGADE_ERROR_RUN, settled.error().message);
}

brigade_status no_sample(const Call& task, std::uint64_t i) {
  return fail(BRIGADE_ERROR_ARGUMENT,
              concat("there is no sample ", i, ": expected an index below ", task.samples.size()));
}

}  // namespace

brigade_status brigade_worker_attach(brigade_worker** worker) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    auto attached = ExecWorker::attach(builtin_stage_types);
    if (!attached) return fail(BRIGADE_ERROR_RUN, attached.error().message);
    std::unique_ptr<brigade_worker> made(new brigade_worker{std::move(*attached)});
    made->params = made->worker->params_json();
    *worker = made.release();
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_describe(const brigade_worker* worker, brigade_worker_info* info) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    const PlanStage& stage = worker->worker->stage();
    brigade_worker_info known{};
    known.stage = stage.name.c_str();
    known.params = worker->params.c_str();
    known.device = stage.device.c_str();
    known.kind = static_cast<std::int32_t>(stage.kind);
    known.replica = worker->worker->replica();
    known.replicas = stage.replicas;
    known.threads = stage.threads;
    known.batched = stage.batched ? 1 : 0;
    known.samples_max = 1;
    for (const PlanQueue& queue : stage.queues)
      if (stage.batched) known.samples_max = std::max(known.samples_max, queue.task);
    known.seed = stage.seed;
    return write_struct(known, "info", info);
  });
}

brigade_status brigade_worker_next(brigade_worker* worker, brigade_task* task) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(task);
    if (const brigade_status wrong = check_size(task->size, "task"); wrong != BRIGADE_OK)
      return wrong;
    if (worker->task)
      return fail(BRIGADE_ERROR_ARGUMENT,
                  "the last task is not settled: finish it, drop it, or report its error");
    auto next = worker->worker->next();
    if (!next) return fail(BRIGADE_ERROR_RUN, next.error().message);
    if (!*next) return BRIGADE_END;
    worker->task = **next;
    const Call& given = *worker->task;
    return write_struct({.size = 0,
                         .samples = given.samples.size(),
                         .inputs = count(given.in),
                         .outputs = count(given.out),
                         .source = given.in == nullptr ? "" : given.in->port.c_str()},
                        "task", task);
  });
}

brigade_status brigade_worker_sample(const brigade_worker* worker, uint64_t i,
                                     brigade_sample* sample) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    if (!worker->task) return no_task();
    if (i >= worker->task->samples.size()) return no_sample(*worker->task, i);
    const SampleInfo& of = worker->task->samples[i];
    return write_struct(
        {.size = 0, .number = of.number, .epoch = of.epoch, .index = of.index, .id = of.id},
        "sample", sample);
  });
}

brigade_status brigade_worker_input(const brigade_worker* worker, uint64_t i,
                                    brigade_tensor* tensor) {
  return at(worker, in, i, false, tensor);
}

brigade_status brigade_worker_output(const brigade_worker* worker, uint64_t i,
                                     brigade_tensor* tensor) {
  return at(worker, out, i, true, tensor);
}

brigade_status brigade_worker_find_input(const brigade_worker* worker, const char* name,
                                         brigade_tensor* tensor) {
  return find(worker, in, name, false, tensor);
}

brigade_status brigade_worker_find_output(const brigade_worker* worker, const char* name,
                                          brigade_tensor* tensor) {
  return find(worker, out, name, true, tensor);
}

brigade_status brigade_worker_resize(brigade_worker* worker, const char* name, const int64_t* sizes,
                                     int32_t rank) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(name);
    if (!worker->task) return no_task();
    Frame* const frame = worker->task->out;
    if (frame == nullptr || frame->find(name) == nullptr) return no_tensor(frame, name, true);
    return resize_tensor(Outputs(*frame)[name], sizes, rank);
  });
}

brigade_status brigade_worker_random(const brigade_worker* worker, uint64_t i, uint64_t* words,
                                     size_t count) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    if (count != 0) BRIGADE_C_NEEDS(words);
    if (!worker->task) return no_task();
    if (i >= worker->task->samples.size()) return no_sample(*worker->task, i);
    const SampleInfo& of = worker->task->samples[i];
    const PlanStage& stage = worker->worker->stage();
    Philox random(stage.seed, stream_id(stage.random), of.epoch, of.id);
    for (size_t k = 0; k < count; ++k) words[k] = random.next64();
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_shared(const brigade_worker* worker, const char* name,
                                     brigade_shared** shared) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(name);
    BRIGADE_C_NEEDS(shared);
    OpenContext known;
    known.shared_tensors = worker->worker->shared();
    auto found = known.shared(name);
    if (!found) return fail(BRIGADE_ERROR_ARGUMENT, found.error().message);
    *shared = new brigade_shared{std::move(*found)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_finish(brigade_worker* worker) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    return settle(worker, Next::emit);
  });
}

brigade_status brigade_worker_drop(brigade_worker* worker) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    if (worker->worker->stage().kind == StageKind::consumer)
      return fail(BRIGADE_ERROR_ARGUMENT, "a consumer has no output to drop: finish its task");
    return settle(worker, Next::drop);
  });
}

brigade_status brigade_worker_error(brigade_worker* worker, const char* why) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(why);
    return settle(worker, Error{first_line(why)});
  });
}

brigade_status brigade_worker_report(brigade_worker* worker, const char* name, double value) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(name);
    worker->worker->reporter().report(name, value);
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_report_count(brigade_worker* worker, const char* name,
                                           uint64_t value) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(name);
    worker->worker->reporter().report(name, std::uint64_t{value});
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_log(brigade_worker* worker, const char* line) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(line);
    worker->worker->reporter().log(line);
    return BRIGADE_OK;
  });
}

brigade_status brigade_worker_fail(brigade_worker* worker, const char* why) {
  return c_api::guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(worker);
    BRIGADE_C_NEEDS(why);
    worker->worker->fail(first_line(why));
    return BRIGADE_OK;
  });
}

void brigade_worker_close(brigade_worker* worker) {
  if (worker == nullptr) return;
  c_api::guarded([&]() -> brigade_status {
    static_cast<void>(worker->worker->close());
    return BRIGADE_OK;
  });
  delete worker;
}
