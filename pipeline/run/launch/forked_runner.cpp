#include "pipeline/run/launch/forked_runner.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include <brigade/text.h>
#include "base/fd_packet.h"
#include "base/io.h"
#include "pipeline/run/launch/wait_to_read.h"

namespace brigade {
namespace {

constexpr const char* kGone = "the process that forks workers has ended";

Result<void> watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return error_of_errno("cannot watch a descriptor (epoll)");
}

Result<OwnedFd> write_request(const SpawnRequest& request) {
  std::string text;
  const auto add = [&text](std::string_view part) { (text += part) += '\0'; };
  add(request.title);
  add(request.folder);
  add(join(request.cpus, ","));
  add(join(request.keep, ","));
  for (const std::string& entry : request.environment) add(entry);
  OwnedFd file(memfd_create("brigade-request", MFD_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), text))
    return error_of_errno("cannot write the start request of a worker");
  return file;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<std::unique_ptr<ForkedRunner>> ForkedRunner::create(int socket, ProcessRunner& others) {
  std::unique_ptr<ForkedRunner> runner(new ForkedRunner(others));
  runner->socket_.reset(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  runner->failed_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  runner->ready_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (runner->socket_.get() < 0 || runner->failed_.get() < 0 || runner->ready_.get() < 0)
    return error_of_errno("cannot open a descriptor");
  for (const int fd : {runner->socket_.get(), runner->failed_.get(), others.started_fd()})
    BRIGADE_TRY(watch(runner->ready_.get(), fd));
  return runner;
}

void ForkedRunner::start(SpawnRequest request) {
  if (request.command.empty()) return others_.start(std::move(request));
  ++number_;
  asked_ = std::move(request);
  if (const auto sent = ask(); !sent) fail(sent.error());
}

Result<void> ForkedRunner::ask() {
  if (over_) return Error{kGone};
  BRIGADE_ASSIGN(const OwnedFd written, write_request(*asked_));
  std::vector<int> fds{written.get(), asked_->output};
  fds.insert(fds.end(), asked_->keep.begin(), asked_->keep.end());
  return send_fds(socket_.get(), concat(number_), fds);
}

void ForkedRunner::fail(const Error& error) {
  asked_.reset();
  answer_ = error;
  eventfd_write(failed_.get(), 1);
}

std::optional<Result<RunningProcess>> ForkedRunner::take_started() {
  while (!over_ && !answer_ && wait_to_read(socket_.get(), 0)) {
    auto packet = receive_fd(socket_.get());
    if (packet && *packet) {
      hear(std::move(**packet));
      continue;
    }
    over_ = true;  // and readable for ever
    epoll_ctl(ready_.get(), EPOLL_CTL_DEL, socket_.get(), nullptr);
    if (asked_) fail(Error{kGone});
  }
  eventfd_t count = 0;
  eventfd_read(failed_.get(), &count);
  if (answer_) return std::exchange(answer_, std::nullopt);
  return others_.take_started();
}

void ForkedRunner::hear(FdPacket packet) {
  const std::vector<std::string_view> words = split(packet.text, ' ');
  if (words[0] == "hello") {
    if (!asked_) return;
    if (const auto sent = ask(); !sent) fail(sent.error());
  } else if (words.size() < 3 || !asked_ || number_in(words[1]) != number_) {
    return;  // of what was asked twice: closing its socket ends it
  } else if (words[0] == "started") {
    asked_.reset();
    const auto pid = static_cast<pid_t>(number_in(words[2]));
    answer_ = RunningProcess{pid, fcntl(packet.fd.get(), F_DUPFD_CLOEXEC, 0)};
    send(packet.second.get(), "g", 1, MSG_NOSIGNAL);
  } else if (words[0] == "failed") {
    asked_.reset();
    answer_ = Error{packet.text.substr(words[0].size() + words[1].size() + 2)};
  }
}

}  // namespace brigade
