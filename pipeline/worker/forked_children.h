#pragma once

// A process that a stage forks (some Python workers, a decoder in a sandbox) ends
// with its worker, even if the supervisor is gone and cannot kill the worker's group:
// the kernel clears the death signal in a forked child, so it is set there again.
//
// That signal comes when the forking *thread* ends. Therefore only children of the main thread
// get it, which runs the stage: children of another thread may be meant to outlive that thread.
// Only fork() is detected: children by vfork, posix_spawn or clone end only with the group.

namespace brigade {

/// Once, in a worker. For children of children, too.
void end_forked_children_with_this_process();

}  // namespace brigade
