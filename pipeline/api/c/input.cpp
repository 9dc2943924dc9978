#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"
#include "pipeline/api/c/show_tensor.h"
#include "pipeline/application/run_memory.h"

using namespace brigade;
using namespace brigade::c_api;

namespace {

brigade_status refused(const brigade_input& input, const Error& error) {
  const bool was_closed = !input.pool->mark.in_child();
  return fail(error, was_closed ? BRIGADE_ERROR_ARGUMENT : BRIGADE_ERROR_RUN);
}

brigade_status is_busy() {
  return fail(BRIGADE_ERROR_BUSY,
              "another thread is in a call with this input; use one thread at a time");
}

Result<std::optional<Slot>> acquire(Input& input, std::uint64_t timeout_ns, Input::Here at) {
  if (timeout_ns == 0) return input.try_acquire(at);
  if (timeout_ns == BRIGADE_FOR_EVER) return input.acquire(at);
  const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
  return input.acquire_for(std::chrono::nanoseconds(std::min(timeout_ns, most)), at);
}

brigade_slot* hold(const std::shared_ptr<SlotPool>& pool, Slot taken) {
  const std::lock_guard lock(pool->mutex);
  if (pool->free.empty()) pool->free.push_back(&pool->slots.emplace_back());
  brigade_slot* const held = pool->free.front();
  pool->free.pop_front();
  held->slot.emplace(std::move(taken));
  held->pool = pool;
  return held;
}

/// The pool may go with it.
void let_go(brigade_slot& slot) {
  slot.slot.reset();
  const std::shared_ptr<SlotPool> pool = std::move(slot.pool);
  const std::lock_guard lock(pool->mutex);
  pool->free.push_back(&slot);
}

brigade_status check(const brigade_slot& slot) {
  if (slot.pool == nullptr || slot.slot->empty())
    return fail(BRIGADE_ERROR_ARGUMENT,
                "the slot was already submitted or dropped: each slot is one sample");
  if (slot.pool->mark.in_child()) return fail(BRIGADE_ERROR_RUN, kForkedText);
  return BRIGADE_OK;
}

/// Calls use(slot) with one that has a sample to write.
template <class Handle, class Use>
brigade_status with(Handle* slot, Use use) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(slot);
    if (const brigade_status wrong = check(*slot)) return wrong;
    return use(*slot->slot);
  });
}

brigade_status no_tensor(const Frame& frame, std::string_view name) {
  std::vector<std::string> names;
  for (const Field& field : frame.fields) names.push_back(field.name);
  return fail(BRIGADE_ERROR_ARGUMENT, concat("the slot has no tensor ", quote(name),
                                             ": its tensors are ", join(names, ", ", " and ")));
}

brigade_status show(const Field& field, brigade_tensor* tensor) {
  const std::uint32_t flags = BRIGADE_WRITABLE | (field.ragged ? BRIGADE_RAGGED : 0);
  return write_struct(show_tensor(field, field.data, field.shape, flags), "tensor", tensor);
}

}  // namespace

brigade_status brigade_run_input(brigade_run* run, const char* name, brigade_input** input) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(run);
    BRIGADE_C_NEEDS(name);
    BRIGADE_C_NEEDS(input);
    auto shared = run->inputs.get(name, [&] { return run->run->input(name); });
    if (!shared) return fail(BRIGADE_ERROR_ARGUMENT, shared.error().message);
    *input = new brigade_input{std::move(*shared), std::make_shared<SlotPool>()};
    return BRIGADE_OK;
  });
}

brigade_status brigade_input_acquire_at(brigade_input* input, uint64_t timeout_ns, const char* file,
                                        int32_t line, brigade_slot** slot) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(input);
    BRIGADE_C_NEEDS(slot);
    SharedEnd<Input>& shared = *input->shared;
    const OneCall call(shared.in_call);
    if (!call.is_mine()) return is_busy();
    auto taken = acquire(shared.end, timeout_ns, {shared.place(file), line});
    if (!taken) return refused(*input, taken.error());
    if (!*taken)
      return timeout_ns == BRIGADE_FOR_EVER || shared.end.ended() ? BRIGADE_END : BRIGADE_TIMEOUT;
    *slot = hold(input->pool, std::move(**taken));
    return BRIGADE_OK;
  });
}

brigade_status brigade_input_end_epoch(brigade_input* input) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(input);
    const OneCall call(input->shared->in_call);
    if (!call.is_mine()) return is_busy();
    const auto ended = input->shared->end.end_epoch();
    return ended ? BRIGADE_OK : refused(*input, ended.error());
  });
}

int32_t brigade_input_ended(const brigade_input* input) {
  return input == nullptr || input->shared->end.ended();
}

void brigade_input_close(brigade_input* input) { delete input; }

brigade_status brigade_slot_sample(const brigade_slot* slot, brigade_sample* sample) {
  return with(slot, [&](const Slot& of) {
    const SampleInfo& info = of.sample();
    return write_struct(
        {.size = 0, .number = info.number, .epoch = info.epoch, .index = info.index, .id = info.id},
        "sample", sample);
  });
}

size_t brigade_slot_tensors(const brigade_slot* slot) {
  if (slot == nullptr || slot->pool == nullptr || slot->slot->empty()) return 0;
  return const_cast<Slot&>(*slot->slot).record().size();
}

brigade_status brigade_slot_tensor(brigade_slot* slot, uint64_t i, brigade_tensor* tensor) {
  return with(slot, [&](Slot& of) {
    Outputs record = of.record();
    if (i >= record.size())
      return fail(BRIGADE_ERROR_ARGUMENT,
                  concat("there is no tensor ", i, ": expected an index below ", record.size()));
    return show(record.frame().fields[i], tensor);
  });
}

brigade_status brigade_slot_find(brigade_slot* slot, const char* name, brigade_tensor* tensor) {
  return with(slot, [&](Slot& of) -> brigade_status {
    BRIGADE_C_NEEDS(name);
    Outputs record = of.record();
    const Field* const field = record.frame().find(name);
    return field == nullptr ? no_tensor(record.frame(), name) : show(*field, tensor);
  });
}

brigade_status brigade_slot_resize(brigade_slot* slot, const char* name, const int64_t* sizes,
                                   int32_t rank) {
  return with(slot, [&](Slot& of) -> brigade_status {
    BRIGADE_C_NEEDS(name);
    Outputs record = of.record();
    if (record.frame().find(name) == nullptr) return no_tensor(record.frame(), name);
    return resize_tensor(record[name], sizes, rank);
  });
}

brigade_status brigade_slot_submit(brigade_slot* slot) {
  return with(slot, [&](Slot& of) {
    const auto given = of.submit();
    if (!given)
      return fail(of.empty() ? BRIGADE_ERROR_RUN : BRIGADE_ERROR_ARGUMENT, given.error().message);
    let_go(*slot);
    return brigade_status{BRIGADE_OK};
  });
}

void brigade_slot_drop(brigade_slot* slot) {
  // A forked child keeps what is its parent's.
  if (slot == nullptr || slot->pool == nullptr || slot->pool->mark.in_child()) return;
  guarded([&]() -> brigade_status {
    let_go(*slot);
    return BRIGADE_OK;
  });
}
