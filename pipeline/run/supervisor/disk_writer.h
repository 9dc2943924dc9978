#pragma once

// A thread that writes a run's own files, so that a slow disk delays no other thread: the
// positions of consumers that save no state, at intervals, because a machine may go down
// at any time, and the list of samples in quarantine. It reads the watermarks right
// before it writes, so the newest position wins. A failed write is a warning. Only the
// end of a run waits for the disk, however long that takes: both files are complete then.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/result.h>
#include "pipeline/memory/shared_tensors.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/report/run_output.h"
#include "pipeline/worker/tasks/run_reporter.h"
#include "transports/layout.h"

namespace brigade {

/// Lists the samples that a run quarantined because they repeatedly ended its workers: one JSON
/// object per line, with the stage, the sample's number, epoch, index and id, and its name in its
/// source. Made when the first one is written, and only ever added to. One thread, the writer's.
class QuarantineFile {
 public:
  /// Empty: nothing is written.
  explicit QuarantineFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Writes a sample of a stage unless it has been written before. Errors name the file.
  Result<void> add(const std::string& stage, const QuarantinedSample& sample);

 private:
  std::string path_;
  std::set<std::pair<std::string, std::uint64_t>> written_;
};

/// NAME.quarantine.jsonl, in the working directory, for a graph of that name.
std::string quarantine_file_name(const std::string& graph);

/// Where the plan does not say how often.
inline constexpr std::chrono::nanoseconds kPositionsEvery = std::chrono::seconds(10);
/// How long the end of a run waits before it says for what.
inline constexpr std::chrono::milliseconds kDiskPatience{2000};
/// Samples that wait for the disk to be listed.
inline constexpr std::size_t kToListMax = 4096;

class DiskWriter {
 public:
  /// `list`: of samples in quarantine. `shared`: saved beside each position. Positions are written
  /// if the plan has checkpoints. Everything outlives the writer.
  static Result<std::unique_ptr<DiskWriter>> start(const Plan& plan, const ResumePoint& resume,
                                                   const Control<SystemPolicy>& control,
                                                   QuarantineFile list, RunOutput& lines,
                                                   const SharedTensors* shared = nullptr);
  /// Waits for what is being written, and for the list.
  ~DiskWriter();

  /// Lists a sample of a stage, once however often it is told. Any thread; waits for no disk.
  void quarantined(const std::string& stage, const QuarantinedSample& sample);

  /// The positions once more, and waits for them: after the last replica has ended and has been
  /// repaired.
  void finish();

 private:
  enum class Order { go_on, write_once_more, stop };

  DiskWriter(const Plan& plan, const ResumePoint& resume, const Control<SystemPolicy>& control,
             QuarantineFile list, RunOutput& lines, const SharedTensors* shared);
  void run();
  bool told() const { return order_ != Order::go_on || !to_list_.empty(); }
  // The lock is given up while they write.
  void write_positions(std::unique_lock<std::mutex>& lock);
  void write_list(std::unique_lock<std::mutex>& lock);
  void end(Order order);

  const Plan& plan_;
  const ResumePoint& resume_;
  const Control<SystemPolicy>& control_;
  RunOutput& lines_;
  const SharedTensors* const shared_;
  QuarantineFile list_;  // the thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  Order order_ = Order::go_on;
  bool over_ = false;
  std::string writing_;  // the file that was written last, or is being written
  std::vector<std::pair<std::string, QuarantinedSample>> to_list_;
  std::uint64_t unlisted_ = 0;  // for which there was no room
  std::thread thread_;
};

}  // namespace brigade
