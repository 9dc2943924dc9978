#include "pipeline/run/supervisor/disk_writer.h"

#include <pthread.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"
#include "base/thread.h"
#include "base/units.h"
#include "pipeline/state/begin_run.h"

namespace brigade {

Result<void> QuarantineFile::add(const std::string& stage, const QuarantinedSample& sample) {
  if (path_.empty() || !written_.emplace(stage, sample.number).second) return {};
  const nlohmann::ordered_json line{{"stage", stage},        {"number", sample.number},
                                    {"epoch", sample.epoch}, {"index", sample.index},
                                    {"id", sample.id},       {"source", sample.source}};
  const auto file = open_to_append(path_, Existing::file);
  if (!file) return file.error().within("the quarantine list");
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (write_all(file->get(), text + '\n')) return {};
  return error_of_errno(concat("cannot write the quarantine list ", path_));
}

std::string quarantine_file_name(const std::string& graph) {
  std::string name = graph.empty() ? "brigade" : graph;
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  return name + ".quarantine.jsonl";
}

DiskWriter::DiskWriter(const Plan& plan, const ResumePoint& resume,
                       const Control<SystemPolicy>& control, QuarantineFile list, RunOutput& lines,
                       const SharedTensors* shared)
    : plan_(plan),
      resume_(resume),
      control_(control),
      lines_(lines),
      shared_(shared),
      list_(std::move(list)),
      writing_(plan.checkpoint_file.empty() ? list_.path() : plan.checkpoint_file) {}

Result<std::unique_ptr<DiskWriter>> DiskWriter::start(const Plan& plan, const ResumePoint& resume,
                                                      const Control<SystemPolicy>& control,
                                                      QuarantineFile list, RunOutput& lines,
                                                      const SharedTensors* shared) {
  std::unique_ptr<DiskWriter> writer(
      new DiskWriter(plan, resume, control, std::move(list), lines, shared));
  if (writer->writing_.empty()) return writer;
  BRIGADE_ASSIGN(writer->thread_, start_thread([raw = writer.get()] { raw->run(); }));
  return writer;
}

DiskWriter::~DiskWriter() { end(Order::stop); }

void DiskWriter::finish() { end(Order::write_once_more); }

void DiskWriter::end(Order order) {
  if (!thread_.joinable()) return;
  std::string waits_for;
  {
    std::unique_lock lock(mutex_);
    order_ = order;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kDiskPatience, [&] { return over_; })) waits_for = writing_;
  }
  if (!waits_for.empty())
    lines_.warn(concat("the disk did not finish writing ", waits_for, " within ",
                       format_duration(kDiskPatience),
                       "; the run ends when the write finishes, or after `kill -9`"));
  thread_.join();
}

void DiskWriter::quarantined(const std::string& stage, const QuarantinedSample& sample) {
  const std::lock_guard lock(mutex_);
  const std::pair line(stage, sample);
  const bool waits = std::find(to_list_.begin(), to_list_.end(), line) != to_list_.end();
  if (!thread_.joinable() || waits) return;
  if (to_list_.size() == kToListMax) {
    ++unlisted_;
    return;
  }
  to_list_.push_back(line);
  changed_.notify_all();
}

void DiskWriter::run() {
  pthread_setname_np(pthread_self(), "disk");
  const std::chrono::nanoseconds asked(plan_.checkpoint_ns);
  const std::chrono::nanoseconds every = asked.count() > 0 ? asked : kPositionsEvery;
  auto next = std::chrono::steady_clock::now() + every;
  std::unique_lock lock(mutex_);
  while (order_ == Order::go_on) {
    if (changed_.wait_until(lock, next, [&] { return told(); })) {
      write_list(lock);
      continue;
    }
    write_positions(lock);
    next = std::chrono::steady_clock::now() + every;
  }
  write_list(lock);
  if (order_ == Order::write_once_more) write_positions(lock);
  over_ = true;
  changed_.notify_all();
}

void DiskWriter::write_positions(std::unique_lock<std::mutex>& lock) {
  if (plan_.checkpoint_file.empty()) return;
  writing_ = plan_.checkpoint_file;
  lock.unlock();
  // The tensors first: a run that is killed in between works on some samples again, and has lost
  // none from them.
  const auto saved = shared_ == nullptr ? Result<void>() : shared_->save();
  if (!saved) lines_.warn(saved.error().message);
  if (const auto written = brigade::write_positions(plan_, resume_, control_); !written)
    lines_.warn(written.error().message);
  lock.lock();
}

void DiskWriter::write_list(std::unique_lock<std::mutex>& lock) {
  if (to_list_.empty()) return;
  const auto samples = std::exchange(to_list_, {});
  const std::uint64_t unlisted = std::exchange(unlisted_, 0);
  writing_ = list_.path();
  lock.unlock();
  for (const auto& [stage, sample] : samples) {
    if (const auto added = list_.add(stage, sample); !added) lines_.warn(added.error().message);
  }
  if (unlisted > 0)
    lines_.warn(concat("the disk was too slow for ", format_samples(unlisted),
                       " in quarantine: ", list_.path(), " lacks them"));
  lock.lock();
}

}  // namespace brigade
