#include "transports/fault_points.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>

#include <brigade/random.h>

namespace brigade {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(FaultPoint::count_)> kNames = {
    "claim.start",         "claim.before_cas",      "claim.after_cas",      "work.start",
    "finish.start",        "finish.after_tally",    "finish.after_done",    "advance.loop",
    "advance.before_cas",  "advance.after_cas",     "wait.before_bit",      "wait.after_bit",
    "wait.before_sleep",   "wait.before_clear",     "wake.before_load",     "wake.before_doorbell",
    "wake.after_doorbell", "journal.before_commit", "journal.after_commit", "repair.settled",
    "repair.reopened",     "repair.advanced",       "repair.cleared",       "repair.counted"};

enum class Action : std::uint8_t { kill, stop, delay, nap };

struct Armed {
  FaultPoint point = FaultPoint::count_;
  std::uint64_t every = 0;
  bool again = false;
  Action action = Action::kill;
  std::uint64_t passages_left = 0;
};
Armed armed;

std::optional<Action> parse_action(std::string_view text) {
  if (text == "kill") return Action::kill;
  if (text == "stop") return Action::stop;
  if (text == "delay") return Action::delay;
  if (text == "nap") return Action::nap;
  return std::nullopt;
}

void sleep_at_most(std::uint64_t max_us) {
  static std::uint64_t count = 0;
  Philox length(static_cast<std::uint64_t>(getpid()), 0, 0, count++);
  usleep(static_cast<useconds_t>(length.below(max_us)));
}

}  // namespace

namespace detail {

bool fault_armed = false;

void fault_hit(FaultPoint point) {
  if (point != armed.point || --armed.passages_left != 0) return;
  armed.passages_left = armed.every;
  if (!armed.again) fault_armed = false;
  switch (armed.action) {
    case Action::kill:
      raise(SIGKILL);
      break;
    case Action::stop:
      raise(SIGSTOP);
      break;
    case Action::delay:
      sleep_at_most(kFaultDelayMaxUs);
      break;
    case Action::nap:
      sleep_at_most(kFaultNapMaxUs);
      break;
  }
}

}  // namespace detail

std::string_view fault_point_name(FaultPoint point) {
  return kNames[static_cast<std::size_t>(point)];
}

std::optional<FaultPoint> parse_fault_point(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<FaultPoint>(i);
  }
  return std::nullopt;
}

bool arm_fault(std::string_view text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first == text.npos ? first : first + 1);
  if (second == text.npos) return false;
  Armed wanted;
  const auto point = parse_fault_point(text.substr(0, first));
  std::string_view passages = text.substr(first + 1, second - first - 1);
  const auto action = parse_action(text.substr(second + 1));
  wanted.again = passages.ends_with('+');
  if (wanted.again) passages.remove_suffix(1);
  const auto parsed =
      std::from_chars(passages.data(), passages.data() + passages.size(), wanted.every);
  if (!point || !action || parsed.ec != std::errc() || wanted.every == 0) return false;
  if (parsed.ptr != passages.data() + passages.size()) return false;
  wanted.point = *point;
  wanted.action = *action;
  wanted.passages_left = wanted.every;
  armed = wanted;
  detail::fault_armed = true;
  return true;
}

void disarm_fault() { detail::fault_armed = false; }

}  // namespace brigade
