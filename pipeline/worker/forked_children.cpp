#include "pipeline/worker/forked_children.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace brigade {
namespace {

// Written by the thread that forks; the child has the copy.
struct Forking {
  pid_t process = 0;
  bool main_thread = false;
};
thread_local Forking forking;

void before_fork() { forking = {getpid(), gettid() == getpid()}; }

void in_child() {
  if (!forking.main_thread) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t parent = getppid();  // 0: the child is the first of a namespace
  if (parent != forking.process && parent != 0) kill(getpid(), SIGKILL);  // it ended before that
}

}  // namespace

void end_forked_children_with_this_process() { pthread_atfork(&before_fork, nullptr, &in_child); }

}  // namespace brigade
