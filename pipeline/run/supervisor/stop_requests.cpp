#include "pipeline/run/supervisor/stop_requests.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <brigade/check.h>
#include "base/io.h"

namespace brigade {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A handler reaches nothing but static objects.
std::atomic<int> handler_fd{-1};
std::atomic<int> handlers_running{0};  // on any thread; the descriptor stays open for them
std::atomic<bool> signalled{false};    // since that descriptor is there
struct sigaction previous[NSIG];

void write_signal(int fd, int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds thousands of requests: one more changes nothing.
  static_cast<void>(!write(fd, &byte, 1));
}

void on_signal(int signal) {
  const int error = errno;
  ++handlers_running;
  write_signal(handler_fd.load(), signal);
  --handlers_running;
  signalled = true;  // whoever sees that finds the signal
  errno = error;
}

void install(int signal) {
  sigaction(signal, nullptr, &previous[signal]);
  if (previous[signal].sa_handler == SIG_IGN) return;
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

Result<std::unique_ptr<StopRequests>> StopRequests::create(bool handle_signals) {
  std::unique_ptr<StopRequests> requests(new StopRequests());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return error_of_errno("cannot open a pipe");
  }
  requests->read_fd_.reset(ends[0]);
  requests->write_fd_.reset(ends[1]);
  if (!handle_signals) return requests;
  int nobody = -1;
  BRIGADE_CHECK(handler_fd.compare_exchange_strong(nobody, ends[1]), "two runs handle signals");
  requests->handles_signals_ = true;
  signalled = false;
  for (int signal : kSignals) install(signal);
  return requests;
}

StopRequests::~StopRequests() {
  if (handles_signals_) {
    for (int signal : kSignals) sigaction(signal, &previous[signal], nullptr);
    handler_fd = -1;
    // One that has read the descriptor may not write into what takes its number.
    while (handlers_running != 0) std::this_thread::yield();
  }
}

std::optional<int> StopRequests::take() {
  unsigned char byte = 0;
  if (read(fd(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

bool StopRequests::asked() const { return asked_ || (handles_signals_ && signalled); }

void StopRequests::ask(int signal) {
  write_signal(write_fd_.get(), signal);
  if (signal != kWakeUp) asked_ = true;
}

void open_standard_descriptors() {
  int fd = -1;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) close(fd);
}

}  // namespace brigade
