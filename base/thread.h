#pragma once

// Starts a thread, or says why there is none: a machine may have no room for one more.

#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <brigade/result.h>
#include <brigade/text.h>

namespace brigade {

template <class Work>
Result<std::thread> start_thread(Work&& work) {
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
