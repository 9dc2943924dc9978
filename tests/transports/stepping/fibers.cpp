#include "tests/transports/stepping/fibers.h"

#include <algorithm>
#include <utility>

namespace brigade::stepping {
namespace {

// Stacks are used again by later runs.
std::vector<std::unique_ptr<char[]>> spare_stacks;

}  // namespace

Fibers* Fibers::active = nullptr;

Fibers::Fibers(Chooser& chooser, const Limits& limits, bool store_buffers)
    : chooser_(chooser), limits_(limits), store_buffers_(store_buffers) {
  active = this;
}

Fibers::~Fibers() {
  active = nullptr;
  for (auto& fiber : fibers_) spare_stacks.push_back(std::move(fiber->stack));
}

Fiber& Fibers::spawn(std::string name, std::function<void()> body) {
  fibers_.push_back(std::make_unique<Fiber>());
  Fiber& fiber = *fibers_.back();
  fiber.name = std::move(name);
  fiber.body = std::move(body);
  if (spare_stacks.empty()) spare_stacks.push_back(std::make_unique<char[]>(kStackBytes));
  fiber.stack = std::move(spare_stacks.back());
  spare_stacks.pop_back();
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, &Fibers::enter, 0);
  return fiber;
}

void Fibers::enter() {
  Fiber& fiber = *active->current_;
  try {
    if (!active->ending_) fiber.body();
  } catch (const Unwind&) {
  }
  active->drain();
  if (fiber.dying && !active->ending_) {
    fiber.died = true;
    if (active->on_death) active->on_death(fiber);
  }
  active->leave(Fiber::State::finished);
}

void Fibers::run() {
  switch_to(pick_other());
  unwind_rest();
}

void Fibers::unwind_rest() {
  ending_ = true;
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    if (fibers_[i]->state != Fiber::State::finished) switch_to(fibers_[i].get());
  }
}

bool Fibers::enabled(Fiber& fiber) const {
  if (fiber.state == Fiber::State::waiting && fiber.waiting_for()) {
    fiber.state = Fiber::State::ready;
  }
  return fiber.state == Fiber::State::ready;
}

/// The next that can run, in turn, or another for a detour; null when nobody can.
Fiber* Fibers::pick_other() {
  find_able();
  if (able_.empty()) {
    for (auto& fiber : fibers_) {
      if (fiber->state != Fiber::State::finished && failure_.empty()) failure_ = "deadlock";
    }
    return nullptr;
  }
  if (able_.size() == 1 || detours_ == limits_.detours) return able_[0];
  if (prune()) return nullptr;
  const int choice = chooser_.choose(static_cast<int>(able_.size()));
  if (choice != 0) ++detours_;
  return able_[static_cast<std::size_t>(choice)];
}

/// All that can run but the current fiber, those after it first.
void Fibers::find_able() {
  able_.clear();
  std::size_t after = 0;
  while (after < fibers_.size() && fibers_[after].get() != current_) ++after;
  for (std::size_t i = 1; i <= fibers_.size(); ++i) {
    Fiber& fiber = *fibers_[(after + i) % fibers_.size()];
    if (&fiber != current_ && enabled(fiber)) able_.push_back(&fiber);
  }
}

bool Fibers::prune() {
  if (!chooser_.wants_state()) return false;
  pruned_ = chooser_.is_known(fingerprint());
  return pruned_;
}

std::uint64_t Fibers::fingerprint() const {
  std::uint64_t hash = mix(memory_, other_state ? other_state() : 0);
  hash = mix(hash, static_cast<std::uint64_t>(detours_ << 8 | deaths_));
  for (const auto& fiber : fibers_) {
    hash = mix(hash, static_cast<std::uint64_t>(fiber->state) << 1 | (fiber.get() == current_));
    if (fiber->state == Fiber::State::finished) continue;
    hash = mix(hash, fiber->history);
    for (const Fiber::Store& store : fiber->buffer) {
      hash = mix(hash, mix(reinterpret_cast<std::uintptr_t>(store.word), store.value));
    }
    hash = mix(hash, fiber->ordered);
  }
  return hash;
}

/// To a fiber, or with null to whoever called run().
void Fibers::switch_to(Fiber* next) {
  Fiber* before = std::exchange(current_, next);
  if (before == next) return;
  ucontext_t* from = before != nullptr ? &before->context : &main_;
  ucontext_t* to = next != nullptr ? &next->context : &main_;
  swapcontext(from, to);
}

void Fibers::leave(Fiber::State state) {
  current_->state = state;
  switch_to(ending_ || !failure_.empty() ? nullptr : pick_other());
  if (ending_ && state != Fiber::State::finished) throw Unwind{};
}

void Fibers::fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
  if (current_ == nullptr || ending_) return;
  switch_to(nullptr);
  throw Unwind{};
}

void Fibers::step() {
  if (current_ == nullptr || ending_) return;
  if (current_->dying) return;
  if (after_step) after_step();
  if (++steps_ > limits_.steps) fail("livelock: more steps than any good run takes");
  const bool may_die = current_->mortal && deaths_ < limits_.deaths;
  if (detours_ < limits_.detours) {
    find_able();
  } else {
    able_.clear();
  }
  const int options = 1 + (may_die ? 1 : 0) + static_cast<int>(able_.size());
  current_->history = mix(current_->history, 2);  // a step of its own, whatever it sees
  if (options == 1) return;
  if (prune()) {
    switch_to(nullptr);
    throw Unwind{};
  }
  int choice = chooser_.choose(options);
  if (choice == 0) return;
  if (may_die && --choice == 0) {
    ++deaths_;
    current_->dying = true;
    throw Unwind{};
  }
  ++detours_;
  switch_to(able_[static_cast<std::size_t>(choice - 1)]);
  if (ending_) throw Unwind{};
}

bool Fibers::chance() {
  if (ending_ || current_->dying || detours_ >= limits_.detours) return false;
  if (prune()) {
    switch_to(nullptr);
    throw Unwind{};
  }
  const bool taken = chooser_.choose(2) != 0;
  detours_ += taken ? 1 : 0;
  current_->history = mix(current_->history, taken ? 4 : 3);
  return taken;
}

void Fibers::sleep_on(const void* word) {
  current_->asleep_on = word;
  leave(Fiber::State::asleep);
}

void Fibers::wake_all(const void* word) {
  for (auto& fiber : fibers_) {
    if (fiber->state == Fiber::State::asleep && fiber->asleep_on == word) {
      fiber->state = Fiber::State::ready;
    }
  }
}

void Fibers::wait_until(std::function<bool()> condition) {
  if (ending_) throw Unwind{};
  drain();
  current_->history = mix(current_->history, 1);
  current_->waiting_for = std::move(condition);
  if (current_->waiting_for()) return;
  leave(Fiber::State::waiting);
}

void Fibers::store(std::uint64_t* word, std::uint64_t value, bool buffered) {
  if (current_ != nullptr && buffered && store_buffers_) {
    current_->buffer.push_back({word, value});
  } else {
    drain();
    write(word, value);
  }
}

void Fibers::write(std::uint64_t* word, std::uint64_t value) {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  memory_ ^= mix(address, *word) ^ mix(address, value);
  *word = value;
}

std::uint64_t Fibers::load(const std::uint64_t* word) {
  if (current_ == nullptr) return *word;
  std::uint64_t value = *word;
  for (const Fiber::Store& store : current_->buffer) {
    if (store.word == word) value = store.value;
  }
  current_->history = mix(current_->history, mix(reinterpret_cast<std::uintptr_t>(word), value));
  return value;
}

void Fibers::drain() {
  if (current_ != nullptr) drain(*current_);
}

void Fibers::drain(Fiber& fiber) {
  for (const Fiber::Store& store : fiber.buffer) write(store.word, store.value);
  fiber.buffer.clear();
  fiber.ordered = 0;
}

void Fibers::drain_all() {
  drain();
  for (auto& fiber : fibers_) {
    const auto begin = fiber->buffer.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(std::exchange(fiber->ordered, 0));
    std::for_each(begin, end, [this](const auto& store) { write(store.word, store.value); });
    fiber->buffer.erase(begin, end);
  }
}

void Fibers::keep_order() {
  if (current_ != nullptr) current_->ordered = current_->buffer.size();
}

void Fibers::passed(FaultPoint point) {
  if (current_ == nullptr || ending_) return;
  passed_.emplace_back(current_, point);
  if (observer) observer(*current_, point);
}

std::string Fibers::trace() const {
  std::string text;
  const Fiber* last = nullptr;
  for (const auto& [fiber, point] : passed_) {
    if (fiber != last) text += "\n  " + fiber->name + ":";
    text += " " + std::string(fault_point_name(point));
    last = fiber;
  }
  for (const auto& fiber : fibers_) {
    text += "\n  " + fiber->name + " is ";
    text += fiber->died                              ? "dead"
            : fiber->state == Fiber::State::asleep   ? "asleep"
            : fiber->state == Fiber::State::waiting  ? "waiting"
            : fiber->state == Fiber::State::finished ? "done"
                                                     : "ready";
  }
  return text;
}

}  // namespace brigade::stepping
