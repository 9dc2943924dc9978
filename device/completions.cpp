#include "device/completions.h"

#include <unistd.h>

#include <iterator>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/thread.h"

namespace brigade {
namespace {

/// Between two looks at events that have not passed: a small share of what a batch takes to copy.
constexpr std::chrono::microseconds kLookEvery{50};

}  // namespace

void SilenceWarning::look(const Device& device) {
  if (said_ || std::chrono::steady_clock::now() - begin_ < after_) return;
  said_ = true;
  log_warning("device ", device.name(), " has not answered for ",
              std::chrono::duration_cast<std::chrono::seconds>(after_).count(),
              " s: this process waits for copies before it frees their memory; check that "
              "`nvidia-smi` answers, or run `kill -9 ",
              getpid(), "` to end this process");
}

Result<std::unique_ptr<Completions>> Completions::create(std::shared_ptr<Device> device,
                                                         std::chrono::milliseconds silence) {
  std::unique_ptr<Completions> self(new Completions(std::move(device), silence));
  BRIGADE_ASSIGN(self->spare_, own<OwnedEvent>(self->device_, self->device_->create_event()));
  BRIGADE_ASSIGN(self->thread_, start_thread([raw = self.get()] { raw->run(); }));
  return self;
}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  told_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Result<OwnedEvent> Completions::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_events_.empty()) {
      OwnedEvent event = std::move(free_events_.back());
      free_events_.pop_back();
      return event;
    }
  }
  return own<OwnedEvent>(device_, device_->create_event());
}

Result<void> Completions::after(DeviceStream stream, std::shared_ptr<const void> kept) {
  Result<OwnedEvent> event = take_event();
  if (!event) return wait_for(stream);
  BRIGADE_TRY(device_->record(event->get(), stream));
  {
    const std::lock_guard lock(mutex_);
    new_.push_back({std::move(*event), std::move(kept)});
  }
  told_.notify_one();
  return {};
}

Result<void> Completions::wait_for(DeviceStream stream) {
  const std::lock_guard lock(spare_mutex_);
  BRIGADE_TRY(device_->record(spare_.get(), stream));
  return device_->wait(spare_.get());
}

Result<void> Completions::check() const {
  const std::lock_guard lock(mutex_);
  if (error_) return *error_;
  return {};
}

void Completions::run() {
  std::vector<Kept> pending;
  std::optional<SilenceWarning> warning;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto told = [this] { return ends_ || !new_.empty(); };
      if (!pending.empty())
        told_.wait_for(lock, kLookEvery);
      else
        while (!told_.wait_for(lock, std::chrono::minutes(1), told)) {
        }
      if (ends_ && pending.empty() && new_.empty()) return;
      std::move(new_.begin(), new_.end(), std::back_inserter(pending));
      new_.clear();
      if (ends_ && !warning) warning.emplace(silence_);
    }
    if (warning) warning->look(*device_);
    for (auto kept = pending.begin(); kept != pending.end();) {
      const Result<bool> passed = device_->passed(kept->event.get());
      if (passed && !*passed) {
        ++kept;
        continue;
      }
      kept->object.reset();
      const std::lock_guard lock(mutex_);
      if (!passed && !error_) error_ = passed.error();
      free_events_.push_back(std::move(kept->event));
      kept = pending.erase(kept);
    }
  }
}

}  // namespace brigade
