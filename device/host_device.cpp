#include "device/host_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/thread.h"
#include "base/units.h"
#include "device/shared_block.h"

namespace brigade {
namespace {

std::byte* pointer(DeviceAddress at) { return reinterpret_cast<std::byte*>(at); }

/// Whether this process may write it all; where the kernel does not say (before 5.14), yes.
bool may_write(const std::byte* at, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t begin = address / kUsualPageBytes * kUsualPageBytes;
  const std::uintptr_t end = round_up(address + bytes, kUsualPageBytes);
  return populate_pages(reinterpret_cast<void*>(begin), end - begin) || !populate_pages(nullptr, 0);
}

}  // namespace

/// Of the device's mutex.
class HostDevice::Event {
 public:
  std::uint64_t recorded = 0;
  std::uint64_t passed = 0;
};

/// A thread that does one thing after the other. `told`: of the device's mutex.
class HostDevice::Stream {
 public:
  explicit Stream(HostDevice& device) : device_(device) {}

  Result<void> start() {
    auto started = start_thread([this] { run(); });
    if (!started) return started.error();
    thread_ = std::move(*started);
    return {};
  }
  ~Stream() {
    {
      const std::lock_guard lock(device_.mutex_);
      ends_ = true;
    }
    device_.changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void tell(std::function<void()> work) {
    {
      const std::lock_guard lock(device_.mutex_);
      told_.push_back(std::move(work));
    }
    device_.changed_.notify_all();
  }

  std::uint64_t copies = 0;  // of the thread

 private:
  void run() {
    std::unique_lock lock(device_.mutex_);
    for (;;) {
      device_.wait_until(lock, [this] { return ends_ || !told_.empty(); });
      if (told_.empty()) return;
      const std::function<void()> work = std::move(told_.front());
      told_.pop_front();
      const bool lost = !device_.lost_.empty();
      lock.unlock();
      if (!lost) work();
      lock.lock();
    }
  }

  HostDevice& device_;
  std::deque<std::function<void()>> told_;
  bool ends_ = false;
  std::thread thread_;
};

struct HostDevice::Copy {
  std::byte* to;
  const std::byte* from;
  std::uint64_t bytes;
  bool fails;
  std::vector<std::byte> seen;  // what `from` held when the copy was told
};

/// In a forked child it stays: threads that the child lacks wait for its condition, so that
/// destroying that would wait for them.
std::shared_ptr<HostDevice> HostDevice::create(const HostDeviceOptions& options) {
  return {new HostDevice(options), [](const HostDevice* device) {
            if (!device->in_child()) delete device;
          }};
}

HostDevice::~HostDevice() = default;

Result<void> HostDevice::check_locked() const {
  if (lost_.empty()) return {};
  return Error{concat("device host is lost: ", lost_), Refusal::lost};
}

Result<void> HostDevice::check() {
  const std::lock_guard lock(mutex_);
  return check_locked();
}

void HostDevice::lose(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) lost_ = std::move(why);
  }
  changed_.notify_all();
}

/// Not for ever at once: condition_variable::wait() would need a newer libstdc++.
template <class Condition>
void HostDevice::wait_until(std::unique_lock<std::mutex>& lock, Condition condition) {
  while (!changed_.wait_for(lock, std::chrono::minutes(1), condition)) {
  }
}

Result<void> HostDevice::take(Blocks& blocks, std::uint64_t at, std::uint64_t bytes,
                              std::uint64_t limit, std::string_view what) {
  std::uint64_t sum = bytes;
  for (const auto& [begin, taken] : blocks) {
    if (at < begin + taken && begin < at + bytes)
      return Error{concat("device host: ", what, " is already registered at the same address")};
    sum += taken;
  }
  if (sum > limit)
    return Error{concat("device host: ", what, " of ", format_size(bytes),
                        " does not fit: the limit is ", format_size(limit), ", ",
                        format_size(sum - bytes), " are in use")};
  blocks[at] = bytes;
  return {};
}

/// Memory that goes while it is copied is as bad as memory that changes.
void HostDevice::give_back(Blocks& blocks, std::uint64_t at) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks.find(at);
  if (block == blocks.end()) return;
  for (const auto& [begin, bytes] : in_flight_)
    if (begin < at + block->second && at < begin + bytes && lost_.empty())
      lost_ = "memory was freed while it was being copied";
  blocks.erase(block);
}

Result<DeviceAddress> HostDevice::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(check_locked());
  auto* const at = static_cast<std::byte*>(std::malloc(std::max<std::uint64_t>(bytes, 1)));
  const auto address = reinterpret_cast<std::uint64_t>(at);
  Result<void> taken =
      at == nullptr ? Error{"device host: out of memory"}
                    : take(allocated_, address, bytes, options_.memory_bytes, "device memory");
  if (taken) return DeviceAddress{address};
  std::free(at);
  return taken.error();
}

void HostDevice::free(DeviceAddress at) {
  give_back(allocated_, static_cast<std::uint64_t>(at));
  std::free(pointer(at));
}

Result<OwnedFd> HostDevice::make_shared(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(check_locked());
  Blocks none;
  BRIGADE_TRY(take(none, 0, bytes, options_.memory_bytes, "shared device memory"));
  auto made = make_shared_block(bytes);
  return made ? std::move(made) : made.error().within("device host");
}

Result<DeviceAddress> HostDevice::map_shared(int fd, std::uint64_t bytes, HostAccess access) {
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(check_locked());
  const MapMode mode = access == HostAccess::read_only ? MapMode::read_only : MapMode::read_write;
  auto mapping = map_shared_block(fd, bytes, mode);
  if (!mapping) return mapping.error().within("device host");
  const auto at = reinterpret_cast<std::uint64_t>(mapping->data());
  BRIGADE_TRY(take(allocated_, at, bytes, options_.memory_bytes, "device memory"));
  shared_[at] = std::move(*mapping);
  return DeviceAddress{at};
}

void HostDevice::unmap_shared(DeviceAddress at) {
  give_back(allocated_, static_cast<std::uint64_t>(at));
  const std::lock_guard lock(mutex_);
  shared_.erase(static_cast<std::uint64_t>(at));
}

Result<std::byte*> HostDevice::allocate_pinned(std::uint64_t bytes) {
  auto* const at = static_cast<std::byte*>(std::malloc(std::max<std::uint64_t>(bytes, 1)));
  if (at == nullptr) return Error{"device host: out of memory"};
  const Result<std::byte*> pinned = register_host(at, bytes, HostAccess::read_write);
  if (!pinned) std::free(at);
  return pinned;
}

void HostDevice::free_pinned(std::byte* at) {
  unregister_host(at);
  std::free(at);
}

Result<std::byte*> HostDevice::register_host(std::byte* at, std::uint64_t bytes,
                                             HostAccess access) {
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(check_locked());
  if (access == HostAccess::read_only && options_.read_only_refused)
    return Error{"device host: cannot pin read-only memory"};
  if (access == HostAccess::read_write && !may_write(at, bytes))
    return Error{"device host: cannot pin read-only memory for writing"};
  BRIGADE_TRY(take(pinned_, reinterpret_cast<std::uint64_t>(at), bytes, options_.pinned_bytes,
                   "pinned memory"));
  return at;
}

void HostDevice::unregister_host(std::byte* at) {
  give_back(pinned_, reinterpret_cast<std::uint64_t>(at));
}

Result<DeviceStream> HostDevice::create_stream() {
  auto stream = std::make_unique<Stream>(*this);
  BRIGADE_TRY(stream->start());
  return static_cast<DeviceStream>(stream.release());
}

void HostDevice::destroy_stream(DeviceStream stream) { delete static_cast<Stream*>(stream); }

Result<DeviceEvent> HostDevice::create_event() {
  const std::lock_guard lock(mutex_);
  if (events_ >= options_.events)
    return Error{concat("device host supports at most ", options_.events, " events (`events=`)")};
  ++events_;
  return static_cast<DeviceEvent>(new std::shared_ptr<Event>(std::make_shared<Event>()));
}

void HostDevice::destroy_event(DeviceEvent event) {
  delete static_cast<std::shared_ptr<Event>*>(event);
  const std::lock_guard lock(mutex_);
  --events_;
}

Result<void> HostDevice::copy_to_device(DeviceAddress to, const std::byte* from,
                                        std::uint64_t bytes, DeviceStream stream) {
  return enqueue({pointer(to), from, bytes, false, {}}, stream);
}

Result<void> HostDevice::copy_to_host(std::byte* to, DeviceAddress from, std::uint64_t bytes,
                                      DeviceStream stream) {
  return enqueue({to, pointer(from), bytes, false, {}}, stream);
}

Result<void> HostDevice::enqueue(Copy copy, DeviceStream stream) {
  {
    const std::lock_guard lock(mutex_);
    BRIGADE_TRY(check_locked());
    copy.fails = copies_++ == options_.fail_copy;
    in_flight_.emplace(reinterpret_cast<std::uint64_t>(copy.from), copy.bytes);
    in_flight_.emplace(reinterpret_cast<std::uint64_t>(copy.to), copy.bytes);
  }
  // What a stream of the device writes may come behind another copy: its source is not looked at.
  if (options_.checks && !is_of_device(copy.from))
    copy.seen.assign(copy.from, copy.from + copy.bytes);
  auto* const to = static_cast<Stream*>(stream);
  if (to == nullptr) {
    run(copy);
    const std::lock_guard lock(mutex_);
    return check_locked();
  }
  to->tell([this, to, copy = std::move(copy)] {
    const bool slow = to->copies++ % 2 == 1;
    if (options_.delay.count() > 0) std::this_thread::sleep_for(options_.delay * (slow ? 2 : 1));
    run(copy);
  });
  return {};
}

bool HostDevice::is_of_device(const std::byte* at) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(at);
  auto behind = allocated_.upper_bound(address);
  if (behind == allocated_.begin()) return false;
  --behind;
  return address < behind->first + behind->second;
}

void HostDevice::run(const Copy& copy) {
  std::memcpy(copy.to, copy.from, copy.fails ? copy.bytes / 2 : copy.bytes);
  if (copy.fails)
    lose("a copy failed midway");
  else if (!copy.seen.empty() && (std::memcmp(copy.to, copy.seen.data(), copy.bytes) != 0 ||
                                  std::memcmp(copy.from, copy.seen.data(), copy.bytes) != 0))
    lose("memory was written while it was being copied: it was returned before the event");
  const std::lock_guard lock(mutex_);
  for (const std::byte* const at : {copy.from, static_cast<const std::byte*>(copy.to)}) {
    const auto found = in_flight_.find(reinterpret_cast<std::uint64_t>(at));
    if (found != in_flight_.end()) in_flight_.erase(found);
  }
}

Result<void> HostDevice::record(DeviceEvent event, DeviceStream stream) {
  const auto of = *static_cast<std::shared_ptr<Event>*>(event);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    BRIGADE_TRY(check_locked());
    number = ++of->recorded;
  }
  const auto pass = [this, of, number] {
    {
      const std::lock_guard lock(mutex_);
      of->passed = number;
    }
    changed_.notify_all();
  };
  if (stream == nullptr || options_.early)
    pass();
  else
    static_cast<Stream*>(stream)->tell(pass);
  return {};
}

Result<void> HostDevice::make_wait(DeviceStream stream, DeviceEvent event) {
  if (stream == nullptr) return wait(event);
  const auto of = *static_cast<std::shared_ptr<Event>*>(event);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    BRIGADE_TRY(check_locked());
    number = of->recorded;
  }
  static_cast<Stream*>(stream)->tell([this, of, number] {
    std::unique_lock lock(mutex_);
    wait_until(lock, [&] { return of->passed >= number || !lost_.empty(); });
  });
  return {};
}

Result<bool> HostDevice::passed(DeviceEvent event) {
  const Event& of = **static_cast<std::shared_ptr<Event>*>(event);
  const std::lock_guard lock(mutex_);
  BRIGADE_TRY(check_locked());
  return of.passed >= of.recorded;
}

Result<void> HostDevice::wait(DeviceEvent event) {
  const Event& of = **static_cast<std::shared_ptr<Event>*>(event);
  std::unique_lock lock(mutex_);
  wait_until(lock, [&] { return of.passed >= of.recorded || !lost_.empty(); });
  return check_locked();
}

Result<void> HostDevice::compute(DeviceWork work, DeviceStream stream) {
  return compute(std::move(work.twin), stream);
}

Result<void> HostDevice::compute(std::function<void()> work, DeviceStream stream) {
  {
    const std::lock_guard lock(mutex_);
    BRIGADE_TRY(check_locked());
  }
  if (stream == nullptr)
    work();
  else
    static_cast<Stream*>(stream)->tell(std::move(work));
  return {};
}

std::uint64_t HostDevice::sum_of(const Blocks& blocks) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [at, bytes] : blocks) sum += bytes;
  return sum;
}

}  // namespace brigade
