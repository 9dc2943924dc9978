#pragma once

// Another user of the machine, for tests that run as root: a child that has become `nobody`.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/support/temporary_folder.h"

namespace brigade::testing_support {

inline constexpr unsigned kOtherUser = 65534;

inline bool may_become_another_user() { return geteuid() == 0; }

/// Does something as another user; the test fails where it says false.
inline void as_other_user(const std::function<bool()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = setgid(kOtherUser) == 0 && setuid(kOtherUser) == 0;
    _exit(changed && act() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the other user failed";
}

/// A folder like /tmp: everybody may make files in it, and nobody remove another's.
struct SharedFolder : TemporaryFolder {
  SharedFolder() { chmod(path().c_str(), 01777); }
};

}  // namespace brigade::testing_support
