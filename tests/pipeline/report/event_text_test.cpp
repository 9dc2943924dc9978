#include <brigade/event.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(EventText, NamesWhatTheEventIsAbout) {
  Event event{.kind = EventKind::printed, .stage = "sink", .replica = 1, .message = "hello"};
  EXPECT_EQ(event_text(event), "sink.1: hello");
  event.kind = EventKind::logged;
  EXPECT_EQ(event_text(event), "sink: hello");
  event.kind = EventKind::stalled;
  EXPECT_EQ(event_text(event), "stage \"sink\" replica 1 hello");
  event.replica = -1;
  EXPECT_EQ(event_text(event), "hello") << "the graph";
}

TEST(EventText, OfADeathIsWhatTheRunDoesNow) {
  Event event{.kind = EventKind::died, .stage = "sink", .replica = 0, .message = "ended"};
  event.deaths = 3;
  event.samples = 4;
  event.next = EventNext::carry_on;
  EXPECT_EQ(event_text(event),
            "stage \"sink\" replica 0 ended; its batch has killed 3 workers and is quarantined; "
            "the other replicas continue");
}

TEST(EventText, OfTheEndIsWhyItCame) {
  Event event{.kind = EventKind::ended, .exit_code = 1, .message = "bad"};
  EXPECT_EQ(event_text(event), "the run has failed: bad");
  event = {.kind = EventKind::ended, .exit_code = 0, .samples = 2, .duration_ns = 1'000'000'000};
  EXPECT_EQ(event_text(event), "the run is done after 2 samples and 1.0 s");
}

}  // namespace
}  // namespace brigade
