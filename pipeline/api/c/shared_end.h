#pragma once

// The common part of outputs and inputs behind their handles: all handles of one name share
// one end of the run, which is closed with the last of them, and allows one call at a time.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <brigade/result.h>

namespace brigade::c_api {

/// An Output or an Input.
template <class End>
struct SharedEnd {
  explicit SharedEnd(End opened) : end(std::move(opened)) {}

  End end;
  std::atomic<bool> in_call{false};
  std::unordered_set<std::string> places = {};  // file names of callers; of whoever is in a call

  /// As long as the text of messages may need it.
  const char* place(const char* file) {
    return places.emplace(file == nullptr ? "?" : file).first->c_str();
  }
};

/// The one call with an end that may be under way.
class OneCall {
 public:
  explicit OneCall(std::atomic<bool>& in_call)
      : in_call_(in_call), mine_(!in_call.exchange(true)) {}
  OneCall(const OneCall&) = delete;
  OneCall& operator=(const OneCall&) = delete;
  ~OneCall() {
    if (mine_) in_call_.store(false);
  }
  bool is_mine() const { return mine_; }

 private:
  std::atomic<bool>& in_call_;
  const bool mine_;
};

/// Those of a run that there are handles on, by name. Any thread.
template <class End>
class SharedEnds {
 public:
  /// The one that is known, or what `open()` gives, where it can be used.
  template <class Open>
  Result<std::shared_ptr<SharedEnd<End>>> get(std::string_view name, Open open) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<SharedEnd<End>>& known = ends_[std::string(name)];
    std::shared_ptr<SharedEnd<End>> shared = known.lock();
    if (shared != nullptr) return shared;
    End opened = open();
    BRIGADE_TRY(opened.check());
    shared = std::make_shared<SharedEnd<End>>(std::move(opened));
    known = shared;
    return shared;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<SharedEnd<End>>> ends_;
};

}  // namespace brigade::c_api
