#pragma once

// A process that a stage forks (some Python workers, a decoder in a sandbox) goes with its
// worker, also when the supervisor is gone and cannot kill the worker's group: the kernel clears
// the death signal in a forked child, so it is set there again.
//
// That signal comes when the forking *thread* ends. So only the main thread's children get it, the
// thread that runs the stage: those of another thread may be meant to outlive that thread. And only
// fork() is seen: children by vfork, posix_spawn or clone go with the group alone.

namespace brigade {

/// Once, in a worker. For children of children, too.
void end_forked_children_with_this_process();

}  // namespace brigade
