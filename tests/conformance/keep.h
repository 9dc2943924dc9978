#pragma once

// `keep`: a `record` that keeps each batch for a while, and looks then, on another thread, whether
// it is as it was. Where nothing may be kept (samples one by one) it is a `record`.

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/stage.h>

namespace brigade::conformance {

class KeptForAWhile {
 public:
  ~KeptForAWhile() { end(); }
  void begin(std::chrono::microseconds while_it_keeps, bool lets_go_at_once) {
    delay_ = while_it_keeps;
    lets_go_at_once_ = lets_go_at_once;
    thread_ = std::thread([this] { run(); });
  }
  void add(const Inputs& in) {
    Batch batch;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto* const data = static_cast<const std::byte*>(in.at(i).data());
      batch.tensors.emplace_back(data, std::vector(data, data + in.at(i).bytes()));
    }
    if (!lets_go_at_once_) batch.lease = in.keep();
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(std::move(batch));
    }
    told_.notify_one();
  }
  Result<void> check() {
    const std::lock_guard lock(mutex_);
    return changed_ ? Result<void>(Error{"a batch has changed that was kept"}) : Result<void>();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    told_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Batch {
    std::vector<std::pair<const std::byte*, std::vector<std::byte>>> tensors;
    Lease lease;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      told_.wait(lock, [this] { return ends_ || !batches_.empty(); });
      if (batches_.empty()) return;
      Batch batch = std::move(batches_.front());
      batches_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(delay_);
      bool same = true;
      for (const auto& [data, before] : batch.tensors)
        same &= before.empty() || std::memcmp(data, before.data(), before.size()) == 0;
      lock.lock();
      changed_ |= !same;
      lock.unlock();  // the lease goes without the lock
      batch.lease.reset();
      lock.lock();
    }
  }

  std::chrono::microseconds delay_{0};
  bool lets_go_at_once_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable told_;
  std::deque<Batch> batches_;
  bool ends_ = false;
  bool changed_ = false;
  std::thread thread_;
};

}  // namespace brigade::conformance
