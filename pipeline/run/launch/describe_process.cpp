#include "pipeline/run/launch/describe_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/json.h"
#include "base/owned_fd.h"
#include "pipeline/run/launch/spawner.h"
#include "pipeline/run/launch/wait_to_read.h"

extern char** environ;  // NOLINT: the C library's

namespace brigade {
namespace {

constexpr std::size_t kAnswerBytesMax = 1 << 20;
constexpr std::size_t kReadBytes = 4096;

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error_of_errno("cannot make a pipe");
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const auto& one) {
      return text.starts_with(one.first) && text.substr(one.first.size()).starts_with('=');
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(concat(name, "=", value));
  return all;
}

/// Waits until one of them is readable; false: the time is over.
bool wait_for(std::vector<int> fds, SteadyClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
  if (left.count() <= 0) return false;
  std::vector<pollfd> watched;
  for (const int fd : fds) watched.push_back({fd, POLLIN, 0});  // -1 is left out
  constexpr std::int64_t kOnceMs = 1000;
  static_cast<void>(poll(watched.data(), watched.size(),
                         static_cast<int>(std::min<std::int64_t>(left.count(), kOnceMs))));
  return true;
}

/// Reads what is there; of an end, or of too much, the descriptor is closed.
void drain(OwnedFd& fd, std::string& text) {
  char bytes[kReadBytes];
  while (fd.get() >= 0) {
    const ssize_t count = retry([&] { return read(fd.get(), bytes, sizeof bytes); });
    if (count < 0 && errno == EAGAIN) return;
    if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
    if (count <= 0 || text.size() > kAnswerBytesMax) fd.reset();
  }
}

/// A process that was asked. Whatever its owner does, it is gone afterwards.
class Asked {
 public:
  Asked(ProcessRunner& runner, RunningProcess process, OwnedFd answers, OwnedFd lines)
      : runner_(runner), process_(process), answers_(std::move(answers)), lines_(std::move(lines)) {
    for (const int fd : {answers_.get(), lines_.get()}) fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  ~Asked() {
    runner_.kill(process_);
    wait_to_read(process_.pidfd, -1);
    runner_.end(process_);  // and its group
    runner_.reap(process_);
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  /// False: it has not ended in time.
  bool wait(SteadyClock::time_point deadline) {
    while (!wait_to_read(process_.pidfd, 0)) {
      if (!wait_for({answers_.get(), lines_.get(), process_.pidfd}, deadline)) return false;
      drain(answers_, answer);
      drain(lines_, said);
    }
    drain(answers_, answer);
    drain(lines_, said);
    return true;
  }

  /// How it ended, and the last that it said.
  Error what_happened() const {
    std::string last;
    for (const std::string_view line : split(said, '\n'))
      if (!trim(line).empty()) last = trim(line);
    const std::string how = ending_text(runner_.end(process_));
    return Error{last.empty() ? how : concat(how, ": ", last)};
  }

  std::string answer;
  std::string said;

 private:
  ProcessRunner& runner_;
  RunningProcess process_;
  OwnedFd answers_;
  OwnedFd lines_;
};

Result<RunningProcess> start(ProcessRunner& runner, SpawnRequest request) {
  runner.start(std::move(request));
  for (;;) {
    if (auto started = runner.take_started()) return std::move(*started);
    wait_for({runner.started_fd()}, SteadyClock::time_point::max());
  }
}

}  // namespace

std::string DescribeProcess::python() {
  const char* const said = std::getenv("BRIGADE_PYTHON");
  return said == nullptr || *said == '\0' ? StageDescriber::python() : said;
}

std::string DescribeProcess::python_path() {
  const char* const said = std::getenv("PYTHONPATH");
  std::vector<std::string> folders;
  bool changed = false;
  for (const std::string_view folder : split(said == nullptr ? "" : said, ':')) {
    const bool relative = !folder.empty() && !folder.starts_with('/');
    changed |= relative;
    folders.push_back(relative ? std::filesystem::absolute(folder).string() : std::string(folder));
  }
  return changed ? join(folders, ":") : "";
}

Result<std::string> DescribeProcess::describe(const StageQuestion& question) {
  const auto deadline = SteadyClock::now() + question.timeout;
  BRIGADE_ASSIGN(Pipe answers, make_pipe());
  BRIGADE_ASSIGN(Pipe lines, make_pipe());
  BRIGADE_ASSIGN(const std::unique_ptr<Spawner> spawner, Spawner::create());
  SpawnRequest request;
  request.command = question.command;
  request.command.push_back(concat(answers.write.get()));
  request.command.push_back(question.text);
  request.folder = question.folder;
  request.environment = environment_with(question.env);
  request.keep = {answers.write.get()};
  request.output = lines.write.get();
  BRIGADE_ASSIGN(const RunningProcess process, start(*spawner, std::move(request)));
  answers.write.reset();
  lines.write.reset();
  Asked asked(*spawner, process, std::move(answers.read), std::move(lines.read));
  if (!asked.wait(deadline))
    return Error{concat("has not answered within ",
                        std::chrono::duration<double>(question.timeout).count(),
                        " s; write `params: {import_timeout: 5m}` to wait longer for its imports")};
  if (asked.said.find("No module named 'brigade'") != std::string::npos)
    return Error{
        "has no package `brigade`; `pip install` it there, add it to PYTHONPATH, or name another "
        "interpreter with `params: {python: PATH}`"};
  if (asked.answer.empty()) return asked.what_happened();
  return std::move(asked.answer);
}

namespace {

std::string key_of(const StageQuestion& question) {
  std::string key = concat(join(question.command, std::string(1, '\0')), '\0', question.folder);
  for (const auto& [name, value] : question.env) key += concat('\0', name, '=', value);
  return key + concat('\0', question.text);
}

bool has_mistakes(const std::string& answer) {
  const auto read = parse_json(answer);
  return !read || !read->is_object() || !read->contains("errors") || !(*read)["errors"].empty();
}

}  // namespace

Result<std::string> KeptAnswers::describe(const StageQuestion& question) {
  const std::string key = key_of(question);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = answers_.find(key); known != answers_.end()) return known->second;
  }
  auto answer = asked_->describe(question);
  if (!answer || has_mistakes(*answer)) return answer;
  const std::lock_guard lock(mutex_);
  return answers_.insert_or_assign(key, *answer).first->second;
}

}  // namespace brigade
