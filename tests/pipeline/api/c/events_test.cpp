// What a program in C learns of events before there are any, and where none come. What they say is
// asked of programs in Python (events_test.py), which read the same structs.

#include <brigade/c.h>
#include <gtest/gtest.h>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

TEST(CEvents, OfARunThatCannotStartEnd) {
  brigade_events* events = nullptr;
  ASSERT_EQ(brigade_events_open(&events), BRIGADE_OK) << last_error();
  brigade_event event{};
  event.size = sizeof event;
  EXPECT_EQ(brigade_events_next(events, 0, &event), BRIGADE_TIMEOUT);
  EXPECT_GE(brigade_events_descriptor(events), 0);
  brigade_graph* graph = nullptr;
  ASSERT_EQ(brigade_graph_from_text("stages: {}\n", "graph", &graph), BRIGADE_OK);
  brigade_run_options options{};
  options.size = sizeof options;
  options.events = events;
  brigade_run* run = nullptr;
  EXPECT_EQ(brigade_run_start(graph, this_program, &options, &run), BRIGADE_ERROR_GRAPH);
  EXPECT_EQ(brigade_events_next(events, BRIGADE_FOR_EVER, &event), BRIGADE_END);
  brigade_graph_close(graph);
  brigade_events_close(events);
}

}  // namespace
}  // namespace brigade
