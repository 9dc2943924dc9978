#pragma once

// A terminal whose buffer is full and that nobody reads until somebody is asked to: a write to it
// waits.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/owned_fd.h"

namespace brigade {

class UnreadTerminal {
 public:
  UnreadTerminal() {
    int ends[2];
    EXPECT_EQ(openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
    outer_.reset(ends[0]);
    inner_.reset(ends[1]);
    fcntl(fd(), F_SETFL, O_NONBLOCK);
    const std::string text(1000, '.');
    // The kernel passes on what was written a little later, and there is room again.
    for (pollfd room{fd(), POLLOUT, 0}; poll(&room, 1, 200) == 1;)
      if (write(fd(), text.data(), text.size()) < 0 && write(fd(), ".", 1) < 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fcntl(fd(), F_SETFL, 0);
  }
  ~UnreadTerminal() {
    over_ = true;
    if (reader_.joinable()) reader_.join();
  }

  int fd() const { return inner_.get(); }

  /// From now on somebody does.
  void read_from_now_on() {
    reader_ = std::thread([this] {
      while (!over_) {
        pollfd ready{outer_.get(), POLLIN, 0};
        char bytes[4096];
        if (poll(&ready, 1, 10) == 1 && read(outer_.get(), bytes, sizeof bytes) < 0) return;
      }
    });
  }

 private:
  OwnedFd outer_;
  OwnedFd inner_;
  std::atomic<bool> over_{false};
  std::thread reader_;
};

}  // namespace brigade
