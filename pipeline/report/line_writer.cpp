#include "pipeline/report/line_writer.h"

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/thread.h"

namespace brigade {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";
constexpr std::size_t kWriteBytes = 4096;  // a pipe that is writable takes as much at once
constexpr int kLookEveryMs = 100;          // whether it was left to itself

struct QueueTraits : moodycamel::ConcurrentQueueDefaultTraits {
  static constexpr int MAX_SEMA_SPINS = 0;  // the cores are the workers'
};

struct Entry {
  enum class What { line, progress, flush, end } what = What::line;
  std::string text;
  std::uint64_t dropped_before = 0;

  std::size_t bytes() const { return sizeof(Entry) + text.size(); }
};

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

// Producers are in order among themselves by a mutex that the thread never takes: the queue itself
// keeps the order of one producer only, and a line must not wait for who writes.
struct LineWriter::State {
  Target target;
  std::thread thread;

  std::mutex adding;
  moodycamel::BlockingConcurrentQueue<Entry, QueueTraits> entries;
  moodycamel::ProducerToken producer{entries};
  std::uint64_t dropped = 0;  // since the last that was added
  std::atomic<std::size_t> waiting_bytes{0};
  std::atomic<std::string*> newest_progress{nullptr};  // owned; its entry waits

  std::mutex telling;
  std::condition_variable told;
  std::uint64_t flushes_asked = 0;
  std::uint64_t flushes_done = 0;
  std::optional<std::uint64_t> stuck_at;  // writes, when a flush was given up
  std::atomic<std::uint64_t> writes{0};   // that came back
  std::atomic<int> failure{0};
  std::atomic<bool> abandoned{false};

  // The thread's own.
  std::string text;        // to be written next
  bool live = false;       // the cursor stands, or will, at the end of a progress line
  std::uint64_t lost = 0;  // lines that could not be written
  bool torn = false;       // the last one that was has no end
  bool failing = false;    // since the last write
  std::uint64_t flushes = 0;
  bool over = false;

  ~State() { delete newest_progress.load(); }
  void add(Entry entry, std::size_t share);
  void run();
  void take(Entry& entry);
  void append_line(std::string_view line);
  void take_progress();
  void write_out();
  std::size_t write_all(std::string_view bytes);
  void tell();
};

void LineWriter::State::add(Entry entry, std::size_t share) {
  const std::lock_guard lock(adding);
  const std::size_t bytes = entry.bytes();
  if (waiting_bytes.load() + bytes > share) {
    ++dropped;
    return;
  }
  waiting_bytes += bytes;
  entry.dropped_before = std::exchange(dropped, 0);
  entries.enqueue(producer, std::move(entry));
}

void LineWriter::State::run() {
  // A pipe that nobody reads any more is an error of write(): start_thread() blocks SIGPIPE.
  pthread_setname_np(pthread_self(), "lines");
  while (!over && !abandoned) {
    Entry entry;
    entries.wait_dequeue(entry);
    do {
      take(entry);
    } while (!over && text.size() < kWriteBytes && entries.try_dequeue(entry));
    write_out();
    tell();
  }
}

void LineWriter::State::take(Entry& entry) {
  waiting_bytes -= entry.bytes();
  if (entry.dropped_before > 0) append_line(target.lost(entry.dropped_before));
  switch (entry.what) {
    case Entry::What::line:
      return append_line(entry.text);
    case Entry::What::progress:
      return take_progress();
    case Entry::What::end:
      over = true;
      [[fallthrough]];
    case Entry::What::flush:
      ++flushes;
      if (std::exchange(live, false)) text += '\n';
  }
}

void LineWriter::State::append_line(std::string_view line) {
  if (std::exchange(live, false)) text += kClearLine;
  text += line;
}

void LineWriter::State::take_progress() {
  const std::unique_ptr<std::string> newest(newest_progress.exchange(nullptr));
  if (!target.live) return append_line(concat(*newest, '\n'));
  text += concat(kClearLine, *newest);
  live = true;
}

void LineWriter::State::write_out() {
  if (text.empty()) return;
  std::string before = torn ? "\n" : "";
  if (lost > 0) before += target.lost(lost);
  const std::size_t written = write_all(before + text);
  if (written == before.size() + text.size()) {
    lost = 0;
    torn = false;
  } else if (written < before.size()) {
    lost += lines_in(text);
  } else {
    const std::string_view rest = std::string_view(text).substr(written - before.size());
    lost = lines_in(rest);
    torn = rest.size() < text.size() && text[text.size() - rest.size() - 1] != '\n';
  }
  text.clear();
}

/// How many were.
std::size_t LineWriter::State::write_all(std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size() && !abandoned) {
    const ssize_t count = retry([&] {
      return write(target.fd.get(), bytes.data() + written,
                   std::min(bytes.size() - written, kWriteBytes));
    });
    if (count >= 0) {
      ++writes;
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {  // somebody has made it non-blocking
      pollfd ready{target.fd.get(), POLLOUT, 0};
      poll(&ready, 1, kLookEveryMs);
    } else {
      if (!std::exchange(failing, true)) failure = errno;
      return written;
    }
  }
  if (written == bytes.size()) failing = false;
  return written;
}

void LineWriter::State::tell() {
  if (flushes == 0) return;
  {
    const std::lock_guard lock(telling);
    flushes_done += std::exchange(flushes, 0);
  }
  told.notify_all();
}

LineWriter::LineWriter(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<LineWriter>> LineWriter::start(Target target) {
  auto state = std::make_shared<State>();
  state->target = std::move(target);
  BRIGADE_ASSIGN(state->thread, start_thread([state] { state->run(); }));
  return std::unique_ptr<LineWriter>(new LineWriter(std::move(state)));
}

LineWriter::~LineWriter() {
  const bool all = flush();
  state_->abandoned = !all;
  state_->add({Entry::What::end, {}, 0}, SIZE_MAX);
  if (all) {
    state_->thread.join();
  } else {
    state_->thread.detach();
  }
}

void LineWriter::line(Rank rank, std::string text) {
  state_->add({Entry::What::line, std::move(text), 0}, share_of(rank, kLinesWaitingBytesMax));
}

void LineWriter::progress(std::string text) {
  auto newest = std::make_unique<std::string>(std::move(text));
  const std::unique_ptr<std::string> older(state_->newest_progress.exchange(newest.release()));
  if (!older) state_->add({Entry::What::progress, {}, 0}, SIZE_MAX);
}

bool LineWriter::flush() {
  State& state = *state_;
  std::unique_lock lock(state.telling);
  const std::uint64_t mine = ++state.flushes_asked;
  state.add({Entry::What::flush, {}, 0}, SIZE_MAX);
  for (std::uint64_t before = state.writes;; before = state.writes) {
    const auto patience = state.stuck_at == before ? kFlushPatience * 0 : kFlushPatience;
    if (state.told.wait_for(lock, patience, [&] { return state.flushes_done >= mine; }))
      return true;
    if (state.writes != before) continue;
    state.stuck_at = before;
    return false;
  }
}

int LineWriter::take_failure() { return state_->failure.exchange(0); }

}  // namespace brigade
