#pragma once

// Starts a thread, or returns the reason why the machine cannot. Signals
// to the process are for the program's own threads: the new thread
// receives none except those of its own faults and SIGPROF of profilers.

#include <csignal>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <brigade/result.h>
#include <brigade/text.h>

namespace brigade {

/// Blocks them in the calling thread; threads that it starts meanwhile have that mask for good.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
      sigdelset(&blocked, own);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

template <class Work>
Result<std::thread> start_thread(Work&& work) {
  const BlockedSignals blocked;
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& exception) {
    return Error{concat("cannot start a thread: ", exception.what(),
                        "; raise the limit on processes (`ulimit -u`) or on "
                        "address space (`ulimit -v`)")};
  } catch (const std::bad_alloc&) {
    return Error{"cannot start a thread: out of memory; raise the limit on data (`ulimit -d`)"};
  }
}

}  // namespace brigade
