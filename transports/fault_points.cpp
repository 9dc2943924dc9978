#include "transports/fault_points.h"

#include <array>
#include <charconv>
#include <csignal>

namespace brigade {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(FaultPoint::count_)> kNames = {
    "claim.start",        "claim.before_cas",      "claim.after_cas",      "work.start",
    "finish.start",       "finish.after_tally",    "finish.after_done",    "advance.loop",
    "advance.before_cas", "advance.after_cas",     "wait.before_bit",      "wait.after_bit",
    "wait.before_sleep",  "wait.before_clear",     "wake.before_load",     "wake.before_bell",
    "wake.after_bell",    "journal.before_commit", "journal.after_commit", "repair.settled",
    "repair.reopened",    "repair.advanced",       "repair.cleared",       "repair.counted"};

FaultPoint armed_point = FaultPoint::count_;
std::uint64_t passages_left = 0;
int armed_signal = SIGKILL;

}  // namespace

namespace detail {

bool fault_armed = false;

void fault_hit(FaultPoint point) {
  if (point != armed_point || --passages_left != 0) return;
  fault_armed = false;
  raise(armed_signal);
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
  const auto point = parse_fault_point(text.substr(0, first));
  const std::string_view passages = text.substr(first + 1, second - first - 1);
  const std::string_view action = text.substr(second + 1);
  const auto parsed =
      std::from_chars(passages.data(), passages.data() + passages.size(), passages_left);
  if (!point || parsed.ec != std::errc() || passages_left == 0) return false;
  if (parsed.ptr != passages.data() + passages.size()) return false;
  if (action != "kill" && action != "stop") return false;
  armed_point = *point;
  armed_signal = action == "kill" ? SIGKILL : SIGSTOP;
  detail::fault_armed = true;
  return true;
}

}  // namespace brigade
