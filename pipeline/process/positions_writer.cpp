#include "pipeline/process/positions_writer.h"

#include <pthread.h>

#include <system_error>

#include "base/text.h"
#include "pipeline/process/resume_point.h"

namespace brigade {

PositionsWriter::PositionsWriter(const Plan& plan, const Control<SystemPolicy>& control,
                                 RunLines& lines)
    : plan_(plan), control_(control), lines_(lines) {}

Result<std::unique_ptr<PositionsWriter>> PositionsWriter::start(
    const Plan& plan, const Control<SystemPolicy>& control, RunLines& lines) {
  std::unique_ptr<PositionsWriter> writer(new PositionsWriter(plan, control, lines));
  if (plan.checkpoint_file.empty()) return writer;
  try {
    writer->thread_ = std::thread([raw = writer.get()] { raw->run(); });
  } catch (const std::system_error& exception) {
    return Error{concat("cannot start a thread: ", exception.what(),
                        "; raise the limit on processes (`ulimit -u`) or on "
                        "address space (`ulimit -v`)")};
  }
  return writer;
}

PositionsWriter::~PositionsWriter() { end(Order::stop); }

void PositionsWriter::finish() { end(Order::write_once_more); }

void PositionsWriter::end(Order order) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    order_ = order;
  }
  told_.notify_all();
  thread_.join();
}

void PositionsWriter::run() {
  pthread_setname_np(pthread_self(), "positions");
  const std::chrono::nanoseconds asked(plan_.checkpoint_ns);
  const std::chrono::nanoseconds every = asked.count() > 0 ? asked : kPositionsEvery;
  std::unique_lock lock(mutex_);
  while (!told_.wait_for(lock, every, [&] { return order_ != Order::go_on; })) {
    lock.unlock();
    write();
    lock.lock();
  }
  if (order_ == Order::write_once_more) write();
}

void PositionsWriter::write() {
  if (const auto written = write_positions(plan_, control_); !written)
    lines_.line(LineKind::warning, written.error().message);
}

}  // namespace brigade
