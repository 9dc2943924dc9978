#pragma once

// The whole life of a replica, in a separate process
// (worker.h) and as a thread (thread_pool.h):
//
//   open -> report Ready -> run -> close -> report numbers and Done
//
// or, at any point, report Failed. No exception of a stage or its
// libraries, especially in a constructor, passes this function: a process
// would end without a message, and a thread would end the program.

#include <functional>

#include "pipeline/worker/replica/replica.h"
#include "pipeline/worker/throttled_reporter.h"

namespace brigade {

/// Calls `work`; an error or an exception of any type is reported. True: `work` returned without.
bool replica_main(int number, ReportSink& sink, const std::function<Result<void>()>& work);

/// The end of one whose work is done.
Result<void> end_replica(Replica& replica, int number, ReportSink& sink,
                         ThrottledReporter& reporter);

/// One that has opened: reports Ready, runs, closes and reports Done. `number`: of the replica in
/// the graph.
Result<void> run_replica(Replica& replica, int number, ReportSink& sink,
                         ThrottledReporter& reporter);

}  // namespace brigade
