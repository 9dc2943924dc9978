// A worker: claims, checks every byte it reads, writes, finishes; dies when somebody kills it.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/stress/process_line.h"
#include "tests/stress/process_memory.h"
#include "transports/wait.h"

namespace brigade::stress {
namespace {

using support::expected_value;

class Worker {
 public:
  Worker(const LineSpec& spec, int stage, int replica)
      : shape_(support::line_shape(spec.stages)), stage_(stage), replica_(replica) {
    control_memory_ = map(kControlFd);
    ledger_memory_ = map(kLedgerFd);
    control_ = attach_control<SystemPolicy>(control_memory_.data(), control_memory_.bytes(), shape_)
                   .value();
    BRIGADE_CHECK(control_.wake_order == WakeOrder::by_finisher || SystemPolicy::join_barriers());
    for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
      const StageShape& shape = shape_.stages[static_cast<std::size_t>(s)];
      pool_memory_.push_back(shape.rows > 0 ? map(kFirstPoolFd + s) : MappedMemory());
      pools_.push_back(payload_pool(pool_memory_.back().data(), shape));
    }
  }

  int run() {
    const StageShape& shape = shape_.stages[static_cast<std::size_t>(stage_)];
    const int global = shape.first_replica + replica_;
    Channel<SystemPolicy> channel(control_, stage_, 0, replica_);
    control_.replicas[global].state.value.store(kRunning);
    for (;;) {
      const auto claim =
          claim_or_wait<SystemPolicy>(control_, global, 0, [&] { return channel.try_claim(); });
      if (claim.look == Look::ended) return kEndedWell;
      SystemPolicy::point(FaultPoint::work_start);
      RowCounts counts;
      for (std::uint64_t i = 0; i < channel.task_size(); ++i) {
        if (!row(claim.task * channel.task_size() + i, counts)) return kSawWrongRow;
      }
      channel.finish(claim.task, counts);
      ledger(ledger_memory_, shape_, stage_)[claim.task].fetch_add(1);
    }
  }

 private:
  static MappedMemory map(int fd) {
    return map_memory(fd, memory_bytes(fd).value(), MapMode::read_write).value();
  }

  bool row(std::uint64_t sample, RowCounts& counts) {
    const StageShape& shape = shape_.stages[static_cast<std::size_t>(stage_)];
    RowHeader out{sample, sample, sample, 0, RowState::full, {}};
    if (shape.source && is_hole(sample)) out.state = RowState::hole;
    for (int input : shape.lanes[0].inputs) {
      const RowPool& pool = pools_[static_cast<std::size_t>(input)];
      const RowHeader& header = *pool.headers(sample);
      if (header.number != sample) return false;
      if (!holds_payload(pool.row(0, sample), expected_value(shape_, input, sample))) return false;
      out.state = header.state;
    }
    if (out.state != RowState::full) ++counts.holes;
    if (shape.rows == 0) return true;
    const RowPool& pool = pools_[static_cast<std::size_t>(stage_)];
    *pool.headers(sample) = out;
    write_payload(pool.row(0, sample), expected_value(shape_, stage_, sample));
    return true;
  }

  const GraphShape shape_;
  const int stage_;
  const int replica_;
  MappedMemory control_memory_;
  MappedMemory ledger_memory_;
  std::vector<MappedMemory> pool_memory_;
  Control<SystemPolicy> control_;
  std::vector<RowPool> pools_;
};

}  // namespace

std::optional<int> worker_main(int argc, char** argv) {
  if (argc != 5 || std::strcmp(argv[1], kWorkerArgument) != 0) return std::nullopt;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const char* fault = std::getenv("BRIGADE_FAULT"); fault != nullptr && *fault != '\0') {
    BRIGADE_CHECK(arm_fault(fault), fault);
  }
  return Worker(line_named(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])).run();
}

}  // namespace brigade::stress
