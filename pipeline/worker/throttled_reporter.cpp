#include "pipeline/worker/throttled_reporter.h"

#include <poll.h>
#include <unistd.h>

#include <brigade/text.h>
#include "base/io.h"

namespace brigade {

void PipeSink::send(const Report& report) {
  const std::string text = print_report(report.what);
  // One write is one packet. An error means that nobody listens any more: the supervisor is gone,
  // and this process with it.
  retry([&] { return write(fd_, text.data(), text.size()); });
}

bool PipeSink::try_send(const Report& report) {
  pollfd ready{fd_, POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
  send(report);
  return true;
}

void ThrottledReporter::log_once(std::string_view subject, std::string_view line) {
  for (std::string_view piece : split(line, '\n')) {
    if (!trim(piece).empty())
      sink_.send({replica_, Logged{std::string(piece), std::string(subject)}});
  }
}

void ThrottledReporter::keep(std::string_view name, ReportedValue value) {
  const std::int64_t now = clock_.now_ns();
  const std::lock_guard lock(mutex_);
  auto found = numbers_.find(name);
  const bool is_new = found == numbers_.end();
  if (is_new) found = numbers_.emplace(std::string(name), Number{}).first;
  Number& number = found->second;
  number.value = value;
  number.sent = false;
  if (!is_new && now - number.sent_ns < kReportEveryNs) return;
  if (sink_.try_send({replica_, Reported{found->first, value}})) {
    number.sent = true;
    number.sent_ns = now;
  }
}

void ThrottledReporter::flush() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, number] : numbers_) {
    if (number.sent) continue;
    sink_.send({replica_, Reported{name, number.value}});
    number.sent = true;
  }
}

}  // namespace brigade
