#include "pipeline/worker/replica_main.h"

#include "pipeline/worker/tasks/guarded_call.h"

namespace brigade {

bool replica_main(int number, ReportSink& sink, const std::function<Result<void>()>& work) {
  const Result<void> worked = guarded(work);
  if (!worked) sink.send({number, Failed{worked.error().message}});
  return worked.ok();
}

Result<void> run_replica(Replica& replica, int number, ReportSink& sink,
                         ThrottledReporter& reporter) {
  sink.send({number, Ready{replica.source_size(), replica.skipped()}});
  BRIGADE_TRY(replica.run());
  return end_replica(replica, number, sink, reporter);
}

Result<void> end_replica(Replica& replica, int number, ReportSink& sink,
                         ThrottledReporter& reporter) {
  BRIGADE_TRY(replica.close());
  reporter.flush();
  sink.send({number, Done{}});
  return {};
}

}  // namespace brigade
