#include "base/forked.h"

#include <pthread.h>
#include <sys/mman.h>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace brigade {
namespace {

struct Ranges {
  std::mutex mutex;
  std::unordered_map<const ReadOnlyInChildren*, std::pair<std::byte*, std::size_t>> by_owner;
};

Ranges& ranges() {
  static Ranges* const all = new Ranges();  // beyond what static destructors let go of
  return *all;
}

struct Kept {
  std::shared_ptr<void> object;
  Kept* before;
};
std::atomic<Kept*> last_kept{nullptr};

}  // namespace

std::atomic<std::uint32_t> ForkMark::forks_so_far{0};

ForkMark::ForkMark() {
  static const int watched =
      pthread_atfork([] { ranges().mutex.lock(); }, [] { ranges().mutex.unlock(); },
                     [] {
                       for (const auto& [_, range] : ranges().by_owner)
                         mprotect(range.first, range.second, PROT_READ);
                       ranges().mutex.unlock();
                       forks_so_far.fetch_add(1, std::memory_order_relaxed);
                     });
  static_cast<void>(watched);
  forks_ = forks_so_far.load(std::memory_order_relaxed);
}

ReadOnlyInChildren::ReadOnlyInChildren(std::byte* data, std::size_t bytes) {
  static_cast<void>(ForkMark());
  const std::lock_guard lock(ranges().mutex);
  ranges().by_owner[this] = {data, bytes};
}

ReadOnlyInChildren::~ReadOnlyInChildren() {
  const std::lock_guard lock(ranges().mutex);
  ranges().by_owner.erase(this);
}

void keep_for_ever(std::shared_ptr<void> object) {
  auto* const one = new Kept{std::move(object), last_kept.load(std::memory_order_relaxed)};
  while (!last_kept.compare_exchange_weak(one->before, one, std::memory_order_relaxed)) continue;
}

}  // namespace brigade
